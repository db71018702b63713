"""Reads the open trajectory in a thread: its new steps, and the diffs that steps on the screen lack."""

import asyncio
from collections.abc import Callable

from agentdash.sessions.service.reading.steps import StepsReader
from agentdash.sessions.transcript.session_steps import Growth, SessionSteps
from agentdash.sessions.transcript.snapshot import View
from agentdash.tui.services.background import Requests
from agentdash.widgets.steps.trajectory import Trajectory


class TrajectoryReader:
    """Reads the steps of one session; a close during a read takes effect after it."""

    def __init__(self, source: StepsReader, session_id: str) -> None:
        self.session_id = session_id
        self._source = source
        self._opened: SessionSteps | None = None
        self._closed = False
        self._one_at_a_time = asyncio.Lock()

    async def refresh(self) -> Growth | None:
        """Return what is new; None once it is closed.

        Raises:
            AgentdashError: the session no longer exists.
        """
        async with self._one_at_a_time:
            if self._closed:
                return None
            return await asyncio.to_thread(self._read)

    async def close(self) -> None:
        """Close the files."""
        self._closed = True
        async with self._one_at_a_time:
            if self._opened is not None:
                await asyncio.to_thread(self._opened.close)
                self._opened = None

    def grew(self, turn_files: frozenset[str]) -> bool:
        """Return True if one of these files in the live folder belongs to the session."""
        return any(name.startswith(self.session_id + ".") for name in turn_files)

    def _read(self) -> Growth:
        if self._opened is None:
            self._opened = self._source.open_trajectory(self.session_id)
        return self._opened.refresh()


class DiffSeeker:
    """Runs one search at a time, for steps that the list drew without diffs.

    Args:
        steps: the list; steps whose diffs are found are drawn again.
    """

    def __init__(self, requests: Requests, steps: Trajectory, view: Callable[[], View]) -> None:
        self._requests = requests
        self._steps = steps
        self._view = view
        self._seeking = False

    @property
    def wanted(self) -> bool:
        """True if a step on the screen lacks its diffs and no search is running."""
        return not self._seeking and bool(self._steps.lacking())

    async def run(self) -> set[int]:
        """Search once for the diffs of each step on the screen that lacks them; return the items that got theirs."""
        if self._seeking:
            return set()
        self._seeking = True
        asked: set[int] = set()
        found: set[int] = set()
        try:
            while items := self._steps.lacking() - asked:
                view = self._view()
                filled = await self._requests.ask(view.fill, sorted(items)) or []
                if not self._view().extends(view):
                    return set()  # the numbers belong to other steps now, which ask for their diffs when drawn
                asked |= items
                found.update(filled)
                self._steps.renew(filled)
        finally:
            self._seeking = False
        return found
