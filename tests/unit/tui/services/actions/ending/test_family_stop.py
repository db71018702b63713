"""One receipt for a lead and the sessions below it."""

import factories

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.model.session import Ended, Receipt, Status
from agentdash.tui.services.actions.ending.stop_actions import one_receipt

LEAD, WORKER = factories.session("lead"), factories.session("detached")


def receipt(session, *pids, **fields):
    ended = tuple(Ended(pid=pid, command="sh", signal="SIGINT") for pid in pids)
    return Receipt(session=session, status=Status.STOPPED, ended=ended, **fields)


def test_it_names_the_linked_workers_and_those_that_were_stopped_beside_them():
    own = receipt("lead", 1, 2, workers=("linked-1", "linked-2"), duration_ms=100)
    other = receipt("detached", 3, workers=("linked-2", "linked-3"), duration_ms=300)
    whole = one_receipt(LEAD, [(LEAD, own), (WORKER, other)])
    assert set(whole.workers) == {"linked-1", "linked-2", "detached", "linked-3"}
    assert len(whole.workers) == len(set(whole.workers))
    assert {process.pid for process in whole.ended} == {1, 2, 3}
    assert whole.duration_ms == 300
    assert whole.note == "Stopped 5 sessions: 3 processes ended, 0 left"


def test_it_has_the_failure_of_the_lead_and_the_processes_of_the_others():
    whole = one_receipt(LEAD, [(LEAD, AgentdashError("It does not end.")), (WORKER, receipt("detached", 3))])
    assert (whole.session, whole.workers) == ("lead", ("detached",))
    assert whole.note == "Stopped 1 session: 1 process ended, 0 left. It does not end."
