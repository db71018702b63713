"""The requests to stop a turn: those of front ends, those of the system, and the loss of the session's folder."""

import contextlib
from collections.abc import Sequence

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.model.session import StoppedBy
from agentdash.sessions.runner.stop_signals import StopSignals
from agentdash.sessions.storage.paths import SessionFolder
from agentdash.sessions.storage.store import Store


class StopRequests:
    """Knows whether to stop a turn, and in whose name.

    Args:
        store: the recorded requests.
        folder: the session's folder.
        session_id: the session.
        turn: the number of the turn.
        signals: the signals of this process.
    """

    def __init__(self, store: Store, folder: SessionFolder, session_id: str, turn: int, signals: StopSignals) -> None:
        self._store = store
        self._folder = folder
        self._session = session_id
        self._turn = turn
        self._signals = signals

    def kinds(self) -> list[str]:
        """Return the kinds of the open requests.

        Raises:
            StoreError: they cannot be read.
        """
        return self._store.open_requests(self._session, self._turn)

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
        """Return in whose name to stop, if these requests are open; None if there is no reason to stop."""
        if kinds or self._signals.requested:
            return self.requester()
        if self._signals.shutdown:
            return StoppedBy.SYSTEM
        if not self._folder.path.is_dir():
            return StoppedBy.AGENTDASH.because("its folder was removed")  # no front end could see or stop it
        return None
