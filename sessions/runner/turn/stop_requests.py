"""The requests to stop a turn: those of front ends, those of the system, and the loss of the session's folder.

The runner of a lead itself requests the end of its linked workers if a limit ends the lead."""

import contextlib
from collections.abc import Sequence

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import AgentdashError, StoreError
from agentdash.sessions.model.session import Status, StoppedBy, short_id
from agentdash.sessions.model.stops import given_reason
from agentdash.sessions.rules.status import stop_reason
from agentdash.sessions.runner.runner_process import poke
from agentdash.sessions.runner.stop_signals import StopSignals
from agentdash.sessions.storage.paths import Layout, SessionFolder
from agentdash.sessions.storage.store import Store


class StopRequests:
    """Knows whether to stop a turn, and in whose name."""

    def __init__(self, store: Store, folder: SessionFolder, session_id: str, turn: int, signals: StopSignals) -> None:
        self._store = store
        self._folder = folder
        self._session = session_id
        self._turn = turn
        self._signals = signals

    def requester(self) -> str:
        """Return who requested a stop, with the reason; a request that cannot be read is the user's."""
        with contextlib.suppress(StoreError):
            return self._store.requester(self._session, self._turn) or StoppedBy.YOU
        return StoppedBy.YOU

    def waited_s(self) -> float:
        """Return for how many seconds the oldest open request has waited; 0 if that cannot be read."""
        with contextlib.suppress(StoreError):
            at = self._store.requested_at(self._session, self._turn)
            return max(0.0, (now_ms() - at) / 1000) if at is not None else 0.0
        return 0.0

    def by(self, kinds: Sequence[str]) -> str | None:
        """Return in whose name to stop, if requests of these kinds are open; None if there is no reason to stop."""
        if kinds or self._signals.requested:
            return self.requester()
        if self._signals.shutdown:
            return StoppedBy.SYSTEM
        if not self._folder.path.is_dir():
            return StoppedBy.AGENTDASH.because("its folder was removed")  # no front end could see or stop it
        return None


def end_workers(layout: Layout, store: Store, session_id: str, by: str) -> None:
    """Request the stop of all linked and ephemeral workers below a session, and cancel those that have not started.

    Their own runners end them.  A runner that was killed leaves its request to the next command that reconciles.
    ``by`` is the recorded text of the session's own stop: what its workers record names the session and its limit.
    """
    cause = StoppedBy.LEADS_LIMIT.because(f"{short_id(session_id)} {given_reason(by) or 'crossed it'}")
    for worker in store.families.linked(session_id):
        if worker.status.ended and worker.warm_since is None:
            continue
        with contextlib.suppress(AgentdashError):  # one worker that cannot be reached must not spare the others
            turn = store.newest_turn(worker.id)
            cancelled = turn.status is Status.QUEUED and store.cancel_queued(
                worker.id, turn.n, Status.STOPPED, stop_reason(cause), "stop requested before it started", by=cause
            )
            if not cancelled:
                store.request(worker.id, turn.n, "stop", cause)
                poke(layout.session(worker.id).poke)
