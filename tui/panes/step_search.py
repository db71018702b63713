"""The search of a viewer: begun when everything is read, gone through in pieces, kept up as steps come."""

from collections.abc import Callable, Collection

from ...sessions.transcript.search import Search
from ...sessions.transcript.snapshot import View
from ...widgets.steps.filter_line import Found
from ..services.background import Requests

PIECE_SECONDS = 0.1
"""Searched in one go: what was found so far is shown then."""


class Finder:
    """One search at a time.

    Args:
        requests: runs what may block.
        go: puts the cursor on a step.
        changed: tells that more was found, or searched.
    """

    def __init__(self, requests: Requests, go: Callable[[int], None], changed: Callable[[], None]) -> None:
        self._requests = requests
        self._go = go
        self._changed = changed
        self._search: Search | None = None
        self.waiting = ""
        """What is to be searched for as soon as everything is read."""

    def forget(self) -> bool:
        """End the search; whether there was one."""
        there = self._search is not None or bool(self.waiting)
        self._search, self.waiting = None, ""
        return there

    async def run(self, view: View, needle: str, item: int) -> None:
        """Search all that a view shows, and go to the first hit from an item on as soon as it is found."""
        if not view.complete:
            self.waiting = needle
            self._requests.tell("The search begins when everything is read.")
            return
        self.waiting = ""
        search = self._search = Search(view, needle, item)
        went = False
        while not search.finished:
            if not await self._requests.done(search.advance, PIECE_SECONDS) or search is not self._search:
                return
            first = search.first()
            if not went and first is not None:
                went = True
                self._go(first)
            self._changed()
        if not search.hits:
            self._requests.tell(f'"{needle}" is nowhere in this session.')

    async def grown(self, view: View, changed: Collection[int]) -> None:
        """Look at the steps that came since."""
        search = self._search
        if search is not None and view.extends(search.view):
            new = [*changed, *range(len(search.view), len(view))]
            await self._requests.ask(search.look_at, view, new)

    def next(self, item: int, direction: int) -> None:
        """Go to the next hit, or the one before."""
        if self._search is None:
            self._requests.tell("Nothing was searched for yet.")
            return
        found = self._search.next(item, direction)
        if found is not None:
            self._go(found)
        else:
            self._requests.tell("Nothing found." if self._search.finished else "Nothing found yet.")

    def found(self, item: int) -> Found | None:
        """How the search gets on; None where there is none."""
        search = self._search
        if search is None:
            return None
        return Found(search.needle, len(search.hits), search.number_of(item), search.done / max(1, search.total))
