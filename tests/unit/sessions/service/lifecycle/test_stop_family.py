"""A lead and its linked workers are stopped in one moment."""

import threading

import pytest

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.model.membership import Membership
from agentdash.sessions.model.session import Ended, Receipt, Status
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.service.lifecycle.stop_family import stop_with_workers
from agentdash.sessions.service.manager import SessionManager

LEAD, WORKER, SECOND = "1111-lead", "2222-worker", "3333-worker"


@pytest.fixture
def store():
    with SessionManager() as manager:
        for name, parent in ((LEAD, None), (WORKER, LEAD), (SECOND, LEAD)):
            manager.layout.session(name).create()
            start = Start("work", agent="claude", cwd="/tmp", title=name, session_id=name)
            place = Membership(parent=parent, depth=0 if parent is None else 1, lifecycle="linked")
            manager.store.create(start, Launch(argv=("x",)), f"run-{name}", host="mars", membership=place)
        yield manager.store


def cancelled(store, session):
    """Cancel a session that waits for its start; return its receipt."""
    assert store.cancel_queued(session.id, 1, Status.STOPPED, "stopped", "a stop was requested", by="you")
    ended = Ended(pid=int(session.id[:4]), command=session.title, signal=None, observed=True)
    return Receipt(session=session.id, status=Status.STOPPED, ended=(ended,))


def test_no_worker_ends_before_the_stop_of_its_lead_began(store):
    asked = threading.Event()

    def stop(session):
        if session.id == LEAD:
            asked.set()
        assert asked.wait(10), "the stop of the lead waits for the ends of its workers"
        return cancelled(store, session)

    receipt = stop_with_workers(store, store.session(LEAD), stop)
    assert (receipt.session, set(receipt.workers)) == (LEAD, {WORKER, SECOND})
    assert {ended.pid for ended in receipt.ended} == {1111, 2222, 3333}


def test_a_lead_that_cannot_be_stopped_is_the_error_and_its_workers_are_stopped(store):
    def stop(session):
        if session.id == LEAD:
            raise AgentdashError("it runs on venus")
        return cancelled(store, session)

    with pytest.raises(AgentdashError, match=r"^it runs on venus$"):
        stop_with_workers(store, store.session(LEAD), stop)
    assert [store.session(name).status for name in (WORKER, SECOND)] == [Status.STOPPED] * 2


def test_a_worker_that_cannot_be_stopped_is_named_and_the_others_are_stopped(store):
    def stop(session):
        if session.id == WORKER:
            raise AgentdashError("it runs on venus")
        return cancelled(store, session)

    with pytest.raises(AgentdashError, match=r"^1 worker of session .* could not be stopped\. .*it runs on venus$"):
        stop_with_workers(store, store.session(LEAD), stop)
    assert [store.session(name).status for name in (LEAD, SECOND)] == [Status.STOPPED] * 2
