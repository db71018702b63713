"""A state folder for each project, if the user's own settings ask for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentdash.sessions.service.projects import state_folder
from agentdash.sessions.storage.paths import usual_home


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The root of a repository, and no state folder that the user names."""
    root = tmp_path / "my project"
    (root / "src").mkdir(parents=True)
    (root / ".git").mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path))  # no project contains the home folder
    monkeypatch.delenv("AGENTDASH_HOME")
    monkeypatch.chdir(root / "src")
    return root


def asked(settings: str) -> str | None:
    Path(os.environ["AGENTDASH_CONFIG"]).write_text(settings)
    state_folder.choose()
    return os.environ.get("AGENTDASH_HOME")


def test_a_project_has_a_folder_below_the_usual_one(project: Path) -> None:
    chosen = asked("[projects]\nstate = true\n")
    assert chosen == str(usual_home() / "projects" / state_folder.name_of(project))
    assert Path(chosen).name.startswith("my-project-")


@pytest.mark.parametrize("settings", ["", "[projects]\nstate = false\n", "[projects]\nread = true\n", "state = [", "="])
@pytest.mark.usefixtures("project")
def test_without_the_setting_the_usual_folder_stays(settings: str) -> None:
    assert asked(settings) is None


@pytest.mark.usefixtures("project")
def test_a_folder_that_the_user_names_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTDASH_HOME", "/elsewhere")
    assert asked("[projects]\nstate = true\n") == "/elsewhere"


def test_outside_of_a_project_the_usual_folder_stays(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert project.is_dir()
    assert asked("[projects]\nstate = true\n") is None


def test_the_nearest_settings_file_is_the_root_and_two_roots_of_one_name_differ(project: Path) -> None:
    inner = project / "src" / "my project"
    inner.mkdir()
    (inner / ".agentdash.toml").touch()
    assert state_folder.root_of(inner) == inner
    assert state_folder.root_of(project / "src") == project
    assert state_folder.name_of(inner) != state_folder.name_of(project)


def test_each_project_lists_its_own_sessions(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    Path(os.environ["AGENTDASH_CONFIG"]).write_text("[projects]\nstate = true\n")

    def run(folder: Path, *words: str) -> str:
        line = [sys.executable, "-m", "agentdash", *words]
        return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=True).stdout

    run(project / "src", "run", "--wait", "--", "echo", "here")
    assert "echo here" in run(project, "ls")
    assert "echo here" not in run(other, "ls")
    assert "echo here" not in run(tmp_path, "ls")
