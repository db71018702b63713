"""The folder of a demo: its own programs, settings and files, and nothing of the user's."""

import os
import shutil
import stat
import subprocess

import pytest

from agentdash.sessions.agents.base import LiveSettings
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.settings.config import load_config
from agentdash.tui.demo.files import make_repository, write_own
from agentdash.tui.demo.folder import enter_demo, make_demo


def test_no_demo_begins_in_a_folder_that_holds_something(tmp_path):
    (tmp_path / "mine" / "projects" / "api").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"mine contains other files\. Name a new or an empty folder\."):
        make_demo(tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["projects"]
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="file contains other files"):
        make_demo(tmp_path / "file")


def test_an_earlier_demo_goes_on_and_keeps_its_settings(tmp_path):
    make_demo(tmp_path / "new")
    (tmp_path / "new" / "config.toml").write_text('default_agent = "claude"\n')
    (tmp_path / "new" / "bin" / "codex").write_text("broken")
    make_demo(tmp_path / "new")
    assert load_config(tmp_path / "new" / "config.toml").default_agent == "claude"
    assert "agentdash.tui.demo.codex" in (tmp_path / "new" / "bin" / "codex").read_text()
    assert stat.S_IMODE((tmp_path / "new" / "bin" / "codex").stat().st_mode) == 0o700


def test_its_programs_come_before_those_of_the_user(demo, tmp_path):
    for name in ("codex", "claude", "agentdash"):
        assert shutil.which(name) == str(demo / "bin" / name)
    own = [os.environ[name] for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "AGENTDASH_HOME", "AGENTDASH_CONFIG")]
    assert own == [str(demo / name) for name in ("codex", "claude", "state", "config.toml")]
    assert "demo" in subprocess.run(["agentdash", "--help"], capture_output=True, text=True, check=True).stdout


def test_variables_of_the_user_that_name_models_servers_or_profiles_are_not_passed_on(demo, monkeypatch):
    for name in ("AGENTDASH_PROFILE", "ANTHROPIC_MODEL", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "mine")
    enter_demo(demo)
    assert "mine" not in os.environ.values()


def test_its_settings_ask_and_name_models_with_prices(demo):
    from agentdash.sessions.rules.costs.pricing import price_of

    config = load_config()
    assert config.default_agent == "codex"
    for agent in ("codex", "claude"):
        settings = config.settings_for(agent, {})
        assert isinstance(settings, LiveSettings)
        assert (settings.approvals, settings.live) == ("ask", True)
        assert price_of(settings.model, {}) is not None


def test_a_file_that_is_not_the_demos_is_left_alone(demo, one_turn):
    clock = demo / "projects" / "api" / "src" / "clock.py"
    clock.parent.mkdir()
    clock.write_text("# my own clock\n")
    for agent in ("codex", "claude"):
        played = one_turn(agent, "[[demo:done]]").played
        [refused, _] = [step for step in played.steps if step.kind == "file_change"]
        assert (str(refused.status), played.facts.end) == ("failed", "completed")
    assert clock.read_text() == "# my own clock\n"
    assert refused.output == "clock.py exists and is not the demo's: not overwritten"


def test_its_own_file_is_replaced_unless_the_user_changed_it(demo):
    path = demo / "projects" / "api" / "new.py"
    assert write_own(demo, path, "one") == ""
    assert write_own(demo, path, "two") == "one"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="not overwritten"):
        write_own(demo, path, "three")
    assert path.read_text() == "mine"


def test_a_link_out_of_the_projects_is_not_followed(demo, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (demo / "projects" / "src").symlink_to(outside)
    with pytest.raises(PermissionError, match="outside the demo folder"):
        write_own(demo, demo / "projects" / "src" / "clock.py", "x")
    (demo / "projects" / "to").symlink_to(outside / "new.txt")
    with pytest.raises(OSError, match="to"):
        write_own(demo, demo / "projects" / "to", "x")
    assert list(outside.iterdir()) == []


def test_its_projects_are_repositories_with_a_commit_and_without_settings_of_the_user(tmp_path, monkeypatch):
    (tmp_path / "gitconfig").write_text("[commit]\n\tgpgsign = true\n[core]\n\thooksPath = /nonexistent\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "of-the-user"))
    folder = make_repository(tmp_path / "projects" / "api")
    assert make_repository(folder) == folder
    monkeypatch.delenv("GIT_DIR")
    told = subprocess.run(["git", "log", "--format=%an %s"], cwd=folder, capture_output=True, text=True, check=True)
    assert told.stdout == "demo Begin\n"
    assert not (tmp_path / "of-the-user").exists()
