"""The guard of a dashboard that only looks."""

import inspect

import pytest

from agentdash.sessions.errors import UsageError
from agentdash.sessions.manager import SessionManager
from agentdash.sessions.reader import SessionReader
from agentdash.tui.services.read_only import LookingManager

CHANGING = sorted(
    name
    for name, _ in inspect.getmembers(SessionManager)
    if not name.startswith("_") and not hasattr(SessionReader, name)
)


@pytest.fixture
def looking(tmp_path):
    with SessionManager(tmp_path / "state", tmp_path / "config.toml") as manager:
        yield LookingManager(manager)


def test_what_can_be_changed_is_known():
    assert {"spawn", "inject", "retry", "stop", "delete", "archive", "restore", "mark_seen", "settle"} <= set(CHANGING)


@pytest.mark.parametrize("name", CHANGING)
def test_everything_that_the_manager_adds_to_the_reader_is_refused(looking, name):
    with pytest.raises(UsageError, match="This dashboard is read-only: no "):
        getattr(looking, name)("x")


def test_what_is_not_known_yet_is_refused(looking):
    with pytest.raises(UsageError, match="no set on fire from here"):
        looking.set_on_fire("x")


def test_looking_is_allowed(looking, tmp_path):
    assert looking.home == tmp_path / "state"
    assert looking.sessions() == []
    assert looking.changes(0).updated == ()
