"""Searches for the diffs that steps on the screen lack: in a thread, and again when the screen changes."""

from collections.abc import Callable

from agentdash.sessions.transcript.snapshot import View
from agentdash.tui.services.background import Requests
from agentdash.widgets.steps.trajectory import Trajectory


class DiffSeeker:
    """Runs one search at a time, for steps that the list drew without diffs.

    Args:
        requests: runs blocking calls.
        steps: the list; steps whose diffs are found are drawn again.
        view: returns the steps that the list shows now.
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
