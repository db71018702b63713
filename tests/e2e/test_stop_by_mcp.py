"""A lead outside agentdash stops a worker that leads ten others: one call, one result, no process left."""

import os

import pytest
from leading import Leading, lead_of

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.service.manager import SessionManager

WORKERS = 10
SCRIPTS = ("tree", "long")


@pytest.fixture
def outside(scripted_agent, manager):
    """The tools in the name of a client outside agentdash."""
    with open(os.environ["AGENTDASH_CONFIG"], "a") as settings:
        settings.write('[queue]\nmax_running = 40\n[orchestration]\nmode = "full"\nmax_open = 20\n')
    with SessionManager(caller=lead_of()) as own:
        yield Leading(own, wait_seconds=60.0)


def test_one_call_ends_a_worker_and_all_that_it_leads(outside, manager, at, leftovers):
    lead = manager.reader.get(outside.call("delegate", task="[[script:long]] lead", agent="scripted")["session"])
    with SessionManager(caller=Caller(session=lead.id, evidence="environment")) as inside:
        parts = [f"[[script:{SCRIPTS[number % 2]}]] part {number}" for number in range(WORKERS)]
        workers = [inside.spawn(Start(part, agent="scripted", lifecycle="linked")) for part in parts]
    for session in (lead, *workers):
        at(session, 1, Status.RUNNING)
    assert all(leftovers(one.id) for one in (lead, *workers))
    result = outside.call("stop_sessions", sessions=[lead.short_id], reason="enough")
    [stopped] = result["stopped"]
    assert (stopped["status"], stopped.get("left", 0)) == ("stopped", 0)
    assert stopped["ended"] >= WORKERS + 1
    assert f"with {WORKERS} workers" in stopped["receipt"]
    assert {manager.reader.get(one.id).status for one in (lead, *workers)} == {Status.STOPPED}
    assert [leftovers(one.id) for one in (lead, *workers)] == [[]] * (WORKERS + 1)
