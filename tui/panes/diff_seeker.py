"""The diffs that steps on the screen lack: sought in a thread, and again when the screen changes."""

from collections.abc import Callable

from ...sessions.transcript.snapshot import View
from ...widgets.steps.trajectory import Trajectory
from ..services.background import Requests


class DiffSeeker:
    """One search at a time, for what the list has drawn without diffs.

    Args:
        requests: runs what may block.
        steps: the list; steps whose diffs are found are drawn again.
        view: what the list shows now.
    """

    def __init__(self, requests: Requests, steps: Trajectory, view: Callable[[], View]) -> None:
        self._requests = requests
        self._steps = steps
        self._view = view
        self._seeking = False

    @property
    def wanted(self) -> bool:
        """True if something on the screen is lacking and no search is under way."""
        return not self._seeking and bool(self._steps.lacking())

    async def run(self) -> set[int]:
        """Seek each step on the screen that lacks its diffs once; the items whose diffs were found."""
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
                    return set()  # the numbers are of other steps now, which ask for theirs when they are drawn
                asked |= items
                found.update(filled)
                self._steps.renew(filled)
        finally:
            self._seeking = False
        return found
