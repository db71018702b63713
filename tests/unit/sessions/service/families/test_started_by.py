"""Who started a session: what is recorded as its source, and whose newest session ``@last`` is."""

import pytest
from recorded_sessions import lines, record, said

from agentdash.sessions.model.errors import UnknownSessionError
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.service.manager import SessionManager

CLAUDE = "claude:5dc1b0aa-77"
SAID = lines(said("an answer"))


@pytest.fixture
def lead(isolated):
    """A session of the user that ended."""
    with SessionManager() as manager:
        yield record(manager, [("lead them", SAID)], last=Status.FAILED, cwd="/usr")


def started(lead, caller, text):
    """A session that the caller starts; it waits for the lead."""
    with SessionManager(caller=caller) as manager:
        return manager.spawn(Start(text, agent="codex", cwd="/usr", after=lead.id, options={"sandbox": "read-only"}))


CALLERS = {
    "the user": (lambda lead: Caller(), "user"),
    "a session": (lambda lead: Caller(session=lead.id), "orchestrator:{lead}"),
    "an agent of the user": (lambda lead: Caller(lead=CLAUDE, evidence="lead key"), "orchestrator:5dc1b0aa"),
    "a client": (lambda lead: Caller(lead="mcp:0123456789", evidence="client"), "orchestrator:01234567"),
    "a nameless client": (lambda lead: Caller(evidence="client"), "orchestrator:outside"),
    "a session elsewhere": (
        lambda lead: Caller(lead="agentdash:0123456789ab", evidence="elsewhere"), "orchestrator:01234567",
    ),
}  # fmt: skip


@pytest.mark.parametrize("who", CALLERS)
def test_the_source_of_a_session_names_the_agent_that_starts_it(lead, who, monkeypatch):
    monkeypatch.chdir("/usr")
    caller, source = CALLERS[who]
    one = started(lead, caller(lead), "go on")
    assert one.source == source.format(lead=lead.short_id)


def test_last_is_the_newest_session_that_the_caller_started(lead, monkeypatch):
    monkeypatch.chdir("/usr")
    own = started(lead, Caller(), "of the user")
    worker = started(lead, Caller(session=lead.id), "of the lead")
    outside = started(lead, Caller(lead=CLAUDE, evidence="lead key"), "of the user's claude")
    last = {
        "the user": (Caller(), own),
        "the lead": (Caller(session=lead.id), worker),
        "the user's claude": (Caller(lead=CLAUDE, evidence="lead key"), outside),
        "an agent of the user that started none": (Caller(lead="claude:other", evidence="lead key"), own),
    }
    for caller, wanted in last.values():
        with SessionManager(caller=caller) as manager:
            assert manager.reader.get(" @LAST ").task == wanted.task
    none = pytest.raises(UnknownSessionError, match="No sessions yet that you started")
    with SessionManager(caller=Caller(session=worker.id)) as manager, none:
        manager.reader.get("@last")
