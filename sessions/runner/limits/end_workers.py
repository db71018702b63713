"""The end of a lead's linked workers, requested by the lead's runner when a limit ends the lead."""

from contextlib import suppress

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.model.session import Status, StoppedBy, short_id
from agentdash.sessions.model.stops import given_reason
from agentdash.sessions.rules.status import stop_reason
from agentdash.sessions.runner.runner_process import poke
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store


def end_workers(layout: Layout, store: Store, session_id: str, by: str) -> None:
    """Request the stop of all linked and ephemeral workers below a session, and cancel those that have not started.

    Their own runners end them.  A runner that was killed leaves its request to the next command that reconciles.
    ``by`` is the recorded text of the session's own stop: what its workers record names the session and its limit.
    """
    cause = StoppedBy.LEADS_LIMIT.because(f"{short_id(session_id)} {given_reason(by) or 'crossed it'}")
    for worker in store.families.linked(session_id):
        if worker.status.ended and worker.warm_since is None:
            continue
        with suppress(AgentdashError):  # one worker that cannot be reached must not spare the others
            turn = store.newest_turn(worker.id)
            cancelled = turn.status is Status.QUEUED and store.cancel_queued(
                worker.id, turn.n, Status.STOPPED, stop_reason(cause), "stop requested before it started", by=cause
            )
            if not cancelled:
                store.request(worker.id, turn.n, "stop", cause)
                poke(layout.session(worker.id).poke)
