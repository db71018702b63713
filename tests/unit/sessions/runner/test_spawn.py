"""A start that fails: its reason, and whether the command is to be installed."""

from pathlib import Path

import pytest

from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.runner.spawn import StartError, start_agent
from agentdash.sessions.storage.paths import Layout

SESSION = "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("command", "folder", "reason", "missing"),
    [
        ("no-such-command-here", ".", "no-such-command-here: command not found", True),
        ("true", "x: command not found", "x: command not found does not exist", False),
        ("a/" * 3_000, ".", "could not be started: File name too long", False),
        ("./notes: command not found", ".", "permission denied", False),
        ("true\0: command not found", ".", "the command cannot be started: embedded null byte", False),
    ],
)
def test_only_a_command_that_is_not_there_is_to_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, folder: str, reason: str, missing: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes: command not found").write_text("not a program")
    layout = Layout(tmp_path / "state")
    layout.session(SESSION).create()
    layout.live.mkdir(parents=True, exist_ok=True)
    with pytest.raises(StartError) as error:
        start_agent(
            layout, SESSION, 1, launch=Launch(argv=(command,)), run_id="r", cwd=str(tmp_path.resolve() / folder)
        )
    assert reason in str(error.value)
    assert error.value.command_missing is missing


def started(tmp_path: Path, folder: Path, *command: str) -> str:
    """What a command prints that is started in a folder."""
    layout = Layout(tmp_path / "state")
    layout.session(SESSION).create()
    layout.live.mkdir(parents=True, exist_ok=True)
    start_agent(layout, SESSION, 1, launch=Launch(argv=command), run_id="r", cwd=str(folder)).wait()
    return layout.session(SESSION).output(1).read_text()


def test_the_process_sees_the_recorded_folder_as_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path.resolve() / "a b"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.setenv("PWD", str(tmp_path / "link"))
    assert started(tmp_path, folder, "sh", "-c", "echo $PWD; pwd; pwd -P").splitlines() == [str(folder)] * 3


def test_a_folder_that_became_a_link_starts_nothing(tmp_path: Path) -> None:
    elsewhere = tmp_path.resolve() / "elsewhere"
    elsewhere.mkdir()
    (tmp_path.resolve() / "sub").symlink_to(elsewhere)
    with pytest.raises(StartError, match="sub is a symbolic link now"):
        started(tmp_path, tmp_path.resolve() / "sub", "touch", "made")
    assert list(elsewhere.iterdir()) == []
