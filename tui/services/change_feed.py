"""Detect changes: batch the feed's events, at most ten times a second, and watch the settings file."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.plan_windows import PlanWindow
from agentdash.sessions.model.session import Changes, Session
from agentdash.sessions.service.reader import SessionReader

LEAST_SECONDS = 0.1
"""Minimum interval between two messages to the screen."""


class ChangeFeed:
    """Merges changes until a screen takes them; only the newest of a session's changes is kept."""

    def __init__(
        self,
        source: SessionReader,
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
        self._warm: set[str] = set()
        """Those of the unsettled sessions whose agent only waits for prompts."""
        self.plans: tuple[PlanWindow, ...] = ()
        """The newest reports of the windows of the plans of agents."""
        self._plans_changed = False
        self._told_at = 0.0
        self._due = False

    @property
    def unsettled(self) -> bool:
        """True if any session has processes or should have some, so that a runner's death affects it."""
        return bool(self._unsettled)

    @property
    def only_warm(self) -> bool:
        """True if all these processes only wait for prompts, so that the death of their runner is less urgent."""
        return self._unsettled == self._warm

    def prime(self, first: Sequence[Session] | None = None) -> None:
        """Load the sessions of the first screen (``first``), or all of them, before there is a screen.

        After ``first``, :meth:`pull` loads all sessions.

        Raises:
            StoreError: the state folder cannot be read.
        """
        if first is None:
            self._merge(self._source.changes(self._seq))
        else:
            self._merge(Changes(seq=self._seq, updated=tuple(first)))

    async def pull(self) -> None:
        """Read the changes in a thread, and notify the screen of them."""
        self._merge(await asyncio.to_thread(self._source.changes, self._seq))
        if (self._updated or self._removed or self._plans_changed) and not self._due:
            self._due = True
            wait = self._told_at + LEAST_SECONDS - monotonic()
            if wait > 0:
                self._later(wait)
            else:
                self.announce()

    def _merge(self, changes: Changes) -> None:
        self._seq = changes.seq
        if changes.fresh:
            self._updated.clear()
            self._removed |= self._known
            self._known.clear()
            self._unsettled.clear()
            self._warm.clear()
        self._known |= {session.id for session in changes.updated}
        self._known -= set(changes.removed)
        changed = {*changes.removed, *(session.id for session in changes.updated)}
        unsettled = [session for session in changes.updated if session.has_process or session.taken_by]
        self._unsettled = self._unsettled - changed | {session.id for session in unsettled}
        self._warm = self._warm - changed | {one.id for one in unsettled if one.status.ended and not one.left}
        for session in changes.updated:
            self._updated[session.id] = session
            self._removed.discard(session.id)
        for session_id in changes.removed:
            self._updated.pop(session_id, None)
            self._removed.add(session_id)
        if changes.plans is not None and changes.plans != self.plans:
            self.plans, self._plans_changed = changes.plans, True
        self._hear(changes)

    def announce(self) -> None:
        """Announce that there are changes to take."""
        self._told_at = monotonic()
        self._announce()

    def take(self) -> Changes:
        """Return all changes since the last call."""
        taken = Changes(seq=self._seq, updated=tuple(self._updated.values()), removed=tuple(self._removed))
        self._updated, self._removed, self._due = {}, set(), False
        self._plans_changed = False
        return taken


class SettingsWatch:
    """Remembers the file's state; an editor may replace it, and it may appear and disappear."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._before = self._facts()

    def changed(self) -> bool:
        """Return whether the file changed since the last call."""
        before, self._before = self._before, self._facts()
        return before != self._before

    def _facts(self) -> tuple[int, int, int] | None:
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_size, stat.st_mtime_ns
