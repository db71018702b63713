"""The ends that an answer names: they count as read by the lead when the answer was written to the client.

Until then this server holds a lock in the worker's folder, so that no other server names the same end.  The kernel
releases it with the process: an end whose server was killed before it wrote the answer is named again.
"""

from collections.abc import Callable, Sequence

from ..model import Session
from ..processes import runner_lock
from ..processes.runner_lock import HeldLock
from ..storage.families.workers import Workers
from ..storage.paths import Layout


class Reading:
    """The ends that the answer of one call names.

    Args:
        layout: the state folder.
        workers: the store.
    """

    def __init__(self, layout: Layout, workers: Workers) -> None:
        self._layout, self._workers = layout, workers
        self._ends: list[Session] = []
        self._refused: list[Session] = []
        self._locks: list[HeldLock] = []

    def claim(self, ends: Sequence[Session], most: int, own: Callable[[Session], bool]) -> tuple[list[Session], int]:
        """Take ends for this answer; return them, and how many were not tried because it names enough.

        An end that another answer names at this moment, or has named, is passed over.

        Args:
            ends: ends that no answer has named, the first ones first.
            most: the most ends to take.
            own: whether the caller itself started a worker; only such an end is recorded as read.
        """
        taken: list[Session] = []
        for tried, end in enumerate(ends):
            if len(taken) >= most:
                return taken, len(ends) - tried
            if not own(end) or self._take(end):
                taken.append(end)
        return taken, 0

    def _take(self, end: Session) -> bool:
        try:
            lock = runner_lock.hold(self._layout.session(end.id).reading)
        except OSError:  # its folder is gone, or cannot be written: two servers may name it
            return self._add(end)
        if lock is None:
            return False
        self._locks.append(lock)
        return self._add(end)

    def _add(self, end: Session) -> bool:
        unread = self._workers.is_unread(end)
        if unread:
            self._ends.append(end)
        return unread

    def turns(self) -> dict[str, int]:
        """Return the turns by worker whose ends this answer names."""
        return {end.id: end.turn for end in self._ends}

    def name(self, end: Session) -> None:
        """Add an end that the call itself brought about."""
        self._ends.append(end)

    def name_in_refusal(self, end: Session) -> None:
        """Take an end that the text of a refusal names."""
        self._refused.append(end)

    def written(self, *, refused: bool = False) -> None:
        """Record that the lead has read the ends, because it has the answer.

        Args:
            refused: the answer is the text of a refusal or of a failure, so it does not name the claimed ends.

        Raises:
            StoreError: it cannot be recorded; the ends are named again.
        """
        ends = self._refused if refused else self._ends
        try:
            if ends:
                self._workers.report(ends)
        finally:
            self.drop()

    def drop(self) -> None:
        """Give the ends back: another answer can name them."""
        self._ends, self._refused = [], []
        while self._locks:
            self._locks.pop().release()
