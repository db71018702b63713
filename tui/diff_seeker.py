"""The diffs that steps on the screen lack: sought in a thread, and again while they can still come."""

from collections.abc import Callable

from ..sessions.steps.view import View
from ..widgets.trajectory import Trajectory
from .requests import Requests


class DiffSeeker:
    """One search at a time, for what the list has drawn without diffs.

    Args:
        requests: runs what may block.
        steps: the list; the steps whose diffs are found are drawn again.
        view: what the list shows now.
    """

    def __init__(self, requests: Requests, steps: Trajectory, view: Callable[[], View]) -> None:
        self._requests = requests
        self._steps = steps
        self._view = view
        self._seeking = False

    @property
    def wanted(self) -> bool:
        """Whether something is lacking that no search is under way for."""
        return bool(self._steps.lacking) and not self._seeking

    async def run(self) -> set[int]:
        """Seek each step that lacks its diffs once; the items whose diffs were found."""
        if not self.wanted:
            return set()
        self._seeking = True
        asked: set[int] = set()
        found: set[int] = set()
        try:
            while items := self._steps.lacking - asked:
                view = self._view()
                filled = await self._requests.ask(view.fill, sorted(items)) or []
                if not self._view().extends(view):
                    return set()  # the numbers are of other steps now, which are drawn and asked for anew
                asked |= items
                found.update(filled)
                self._steps.renew(filled)
        finally:
            self._seeking = False
        return found
