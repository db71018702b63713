"""The folder of an agent and agentdash's own files: which modes are refused where."""

from pathlib import Path

import pytest

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.turn_mode import TurnMode
from agentdash.sessions.service.lifecycle.starts.own_folders import check_reach, within_reach


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = tmp_path.resolve()
    for name in ("home/state/sessions", "home/config", "project", "elsewhere"):
        (top / name).mkdir(parents=True)
    (top / "link").symlink_to(top / "home")
    return top


@pytest.mark.parametrize(
    ("folder", "reached"),
    [
        (".", "state folder"),
        ("home", "state folder"),
        ("link", "state folder"),
        ("home/state", "state folder"),
        ("home/state/sessions", "state folder"),
        ("home/config", "settings"),
        ("link/config", "settings"),
        ("project", None),
        ("elsewhere", None),
    ],
)
def test_a_folder_reaches_what_is_in_it_and_the_state_folder_from_inside(
    top: Path, folder: str, reached: str | None
) -> None:
    found = within_reach(str(top / folder), top / "link/state", top / "home/config/config.toml")
    assert (reached in found) if found is not None and reached else found is reached


def test_settings_that_are_a_link_are_reached_at_both_ends(top: Path) -> None:
    (top / "elsewhere/real.toml").touch()
    (top / "project/config.toml").symlink_to(top / "elsewhere/real.toml")
    for folder in ("project", "elsewhere"):
        assert within_reach(str(top / folder), top / "home/state", top / "project/config.toml") is not None


def test_a_link_in_the_folder_on_the_way_to_them_is_reached(top: Path) -> None:
    """An agent that can replace a link chooses where it leads."""
    (top / "home/config/config.toml").touch()
    (top / "project/state").symlink_to(top / "home/state")
    (top / "project/config").symlink_to(top / "home/config")
    (top / "elsewhere/first").symlink_to("../project/state")
    project, state, settings = str(top / "project"), top / "home/state", top / "home/config/config.toml"
    for home in ("project/state", "elsewhere/first", "elsewhere/../project/state"):
        assert "state folder" in str(within_reach(project, top / home, settings)), home
    assert "settings" in str(within_reach(project, state, top / "project/config/config.toml"))
    assert within_reach(project, state, settings) is None
    assert "state folder" in str(within_reach(str(top / "elsewhere"), top / "elsewhere/first", settings))


def test_a_circle_of_links_ends(top: Path) -> None:
    (top / "elsewhere/a").symlink_to("b")
    (top / "elsewhere/b").symlink_to("a")
    assert within_reach(str(top / "project"), top / "elsewhere/a/state", top / "config.toml") is None


def test_a_project_beside_the_settings_file_does_not_reach_it(top: Path) -> None:
    assert within_reach(str(top / "project"), top / "home/state", top / "config.toml") is None


@pytest.mark.parametrize(
    ("agent", "permissions", "dangerous", "refused"),
    [
        ("codex", "workspace-write", False, True),
        ("codex", "read-only", False, False),
        ("codex", "danger-full-access", True, False),
        ("claude", "acceptEdits", False, True),
        ("claude", "auto", False, True),
        ("claude", "default", False, False),
        ("claude", "plan", False, False),
        ("claude", "bypassPermissions", True, False),
    ],
)
def test_only_modes_that_write_in_the_folder_are_refused(
    top: Path, agent: str, permissions: str, dangerous: bool, refused: bool
) -> None:
    mode = TurnMode(setting="mode", permissions=permissions, dangerous=dangerous)
    where = (str(top), top / "home/state", top / "home/config/config.toml")
    check_reach(agent_named(agent), mode, *where, states_settings=True)  # the tests accept it
    if refused:
        with pytest.raises(UsageError, match="AGENTDASH_HOME"):
            check_reach(agent_named(agent), mode, *where, states_settings=False)
    else:
        check_reach(agent_named(agent), mode, *where, states_settings=False)
