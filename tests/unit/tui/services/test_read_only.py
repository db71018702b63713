"""A dashboard that only looks has no way to change a session: it gets a reader and no manager."""

import inspect

import pytest

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.service.managing.housekeeping import Housekeeping
from agentdash.sessions.service.prompts.prompter import Prompter
from agentdash.sessions.service.prompts.queue import SessionQueue
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.service.reading.settings_in_force import SettingsReader
from agentdash.sessions.service.reading.steps import OutputReader, StepsReader
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.queries import Queries
from agentdash.sessions.storage.store import Store
from agentdash.tui.services.write_access import WriteAccess

READING = {"prompts", "plan", "sent", "allowance", "named"}
"""What the queue and the prompter have for the verbs that change something."""

LAUNCH = Launch(argv=("agentdash", "demo"))


def verbs(kind):
    return {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}


CHANGING = {verb for kind in (SessionManager, Housekeeping, Prompter, SessionQueue) for verb in verbs(kind) - READING}


def test_what_can_be_changed_is_known():
    assert {"spawn", "stop", "delete", "archive", "restore", "mark_seen", "settle"} <= CHANGING
    assert {"inject", "retry", "interrupt", "edit", "move", "cancel", "hold", "release", "resend"} <= CHANGING


def test_the_reader_shares_no_verb_with_what_changes_sessions():
    for kind in (SessionReader, SettingsReader, StepsReader, OutputReader):
        assert verbs(kind) & CHANGING == set()


def test_the_reader_needs_nothing_but_queries(tmp_path):
    layout = Layout(tmp_path / "state")
    layout.create()
    store = Store(layout.database)
    store.create(Start("hello", agent="demo", title="t", cwd="/", session_id="session-1"), LAUNCH, "run-1", host="h")
    reader = SessionReader(layout, Queries(layout.database))
    assert [session.title for session in reader.sessions()] == ["t"]
    assert [prompt.text for prompt in reader.prompts("session-1")] == ["hello"]
    assert reader.changes(0).updated == tuple(reader.sessions())


@pytest.mark.parametrize("verb", ["stop", "spawn copies", "mark seen"])
def test_a_read_only_dashboard_refuses_each_change_by_its_verb(verb):
    access = WriteAccess(None)
    assert access.read_only
    with pytest.raises(UsageError, match=f"The dashboard is read-only: no {verb}."):
        access.manager(verb)


def test_a_dashboard_that_may_change_sessions_gets_the_manager(tmp_path):
    with SessionManager(tmp_path / "state") as manager:
        access = WriteAccess(manager)
        assert not access.read_only
        assert access.manager("stop") is manager
