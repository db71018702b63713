"""From the change feed to the screens: what changed is gathered, and told at most ten times a second."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from ...sessions.clock import monotonic
from ...sessions.model import Changes, Session

LEAST_SECONDS = 0.1
"""Between two messages to the screen."""


class Source(Protocol):
    """Source of changes: the reader of sessions."""

    def changes(self, since: int) -> Changes:
        """What changed after ``since``."""


class Feed:
    """Merges changes until a screen takes them: of many changes of one session, only the newest is left."""

    def __init__(
        self,
        source: Source,
        announce: Callable[[], object],
        later: Callable[[float], object],
        hear: Callable[[Changes], object] = lambda _: None,
    ) -> None:
        self._source = source
        self._hear = hear
        self._announce = announce
        self._later = later
        self._seq = 0
        self._updated: dict[str, Session] = {}
        self._removed: set[str] = set()
        self._known: set[str] = set()
        self._unsettled: set[str] = set()
        self._told_at = 0.0
        self._due = False

    @property
    def unsettled(self) -> bool:
        """Whether any session has processes, or should have: what a runner's death concerns."""
        return bool(self._unsettled)

    def prime(self, first: Sequence[Session] | None = None) -> None:
        """Begin with what fills the first screen, or with everything, before there is a screen.

        After the former, :meth:`pull` brings all there is.

        Raises:
            StoreError: the state folder cannot be read.
        """
        if first is None:
            self._merge(self._source.changes(self._seq))
        else:
            self._merge(Changes(seq=self._seq, updated=tuple(first)))

    async def pull(self) -> None:
        """Ask for what changed, in a thread, and see to it that the screen learns of it."""
        self._merge(await asyncio.to_thread(self._source.changes, self._seq))
        if (self._updated or self._removed) and not self._due:
            self._due = True
            wait = self._told_at + LEAST_SECONDS - monotonic()
            if wait > 0:
                self._later(wait)
            else:
                self.tell()

    def _merge(self, found: Changes) -> None:
        self._seq = found.seq
        if found.fresh:
            self._updated.clear()
            self._removed |= self._known
            self._known.clear()
            self._unsettled.clear()
        self._known |= {session.id for session in found.updated}
        self._known -= set(found.removed)
        self._unsettled -= {*found.removed, *(session.id for session in found.updated)}
        self._unsettled |= {session.id for session in found.updated if session.left or not session.status.ended}
        for session in found.updated:
            self._updated[session.id] = session
            self._removed.discard(session.id)
        for session_id in found.removed:
            self._updated.pop(session_id, None)
            self._removed.add(session_id)
        self._hear(found)

    def tell(self) -> None:
        """Announce that there is something to take."""
        self._told_at = monotonic()
        self._announce()

    def take(self) -> Changes:
        """Everything since the last call."""
        taken = Changes(seq=self._seq, updated=tuple(self._updated.values()), removed=tuple(self._removed))
        self._updated, self._removed, self._due = {}, set(), False
        return taken
