"""A limited agent is refused where it could change agentdash's own files, and so lift its limits."""

import os
from pathlib import Path

import pytest

from agentdash.sessions.doctor.model import Subject
from agentdash.sessions.doctor.state.state_folder import sandboxes
from agentdash.sessions.errors import UsageError
from agentdash.sessions.launch import Start
from agentdash.sessions.lifecycle.starts.launch_plan import build_launch
from agentdash.sessions.settings.config import Config
from agentdash.sessions.storage.paths import Layout


@pytest.fixture
def user(tmp_path, monkeypatch):
    """A home folder with the state and the settings at their usual places."""
    home = tmp_path / "ann"
    (home / ".local/state/agentdash").mkdir(parents=True)
    (home / "project").mkdir()
    monkeypatch.setenv("AGENTDASH_CONFIG", str(home / ".config/agentdash/config.toml"))
    return home


def started(user, agent="codex", cwd=None, **options):
    start = Start("go", agent=agent, cwd=str(cwd or user), session_id="0" * 16, options=options)
    return build_launch(Config(), start, home=user / ".local/state/agentdash")


@pytest.mark.parametrize(
    ("agent", "options", "way"),
    [
        ("codex", {"sandbox": "workspace-write"}, "or the mode read-only"),
        ("claude", {"permission_mode": "acceptEdits"}, "or the mode plan"),
        ("claude", {"permission_mode": "default"}, "or the mode plan"),
    ],
)
def test_a_limited_agent_does_not_work_above_the_state_or_the_settings(user, agent, options, way):
    for folder in (user, user / ".local", user / ".config", user / ".local/state/agentdash"):
        folder.mkdir(parents=True, exist_ok=True)
        with pytest.raises(UsageError, match=f"(state|settings) .*{way}"):
            started(user, agent, folder, **options)
    assert started(user, agent, user / "project", **options).argv


def test_what_only_reads_and_what_has_no_limits_works_there(user):
    assert started(user, sandbox="read-only").argv
    assert started(user, sandbox="danger-full-access").argv
    assert started(user, full_danger=True).argv
    assert started(user, "claude", permission_mode="plan").argv


def test_a_link_does_not_hide_it(user):
    (user / "project" / "up").symlink_to(user)
    with pytest.raises(UsageError, match=r"settings|state"):
        started(user, cwd=user / "project" / "up")


@pytest.mark.parametrize(
    ("agent", "options"),
    [
        ("codex", {"config": {"sandbox_workspace_write": {"writable_roots": ["/"]}}}),
        ("codex", {"live": False, "args": ["--add-dir", ".."]}),
        ("claude", {"args": ["--add-dir", "/srv", "/"]}),
        ("claude", {"args": ["--add-dir=/"]}),
    ],
)
def test_added_folders_count_too(user, agent, options):
    with pytest.raises(UsageError, match="lift its own limits"):
        started(user, agent, user / "project", **options)


def test_the_doctor_names_a_folder_that_agents_may_write(user, monkeypatch):
    state = user / ".local/state/agentdash"

    def found(temporary, cwd):
        monkeypatch.setattr("tempfile.gettempdir", lambda: str(temporary))
        monkeypatch.chdir(cwd)
        subject = Subject(layout=Layout(state), config_path=Path(os.environ["AGENTDASH_CONFIG"]), env={}, user="ann")
        (finding,) = sandboxes(subject)
        return finding

    assert "because it is temporary" in found(user, user / "project").found
    if not state.is_relative_to("/tmp"):
        assert "limited agents are refused here" in found("/nowhere", user).found
        assert found("/nowhere", user / "project").state == "ok"
