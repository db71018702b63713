"""The search in a viewer's steps: starts when all are read, runs in pieces, and covers steps that arrive later."""

from collections.abc import Callable, Collection

from agentdash.sessions.transcript.search import Search
from agentdash.sessions.transcript.snapshot import View
from agentdash.tui.services.background import Requests
from agentdash.widgets.steps.filter_line import Found

PIECE_SECONDS = 0.1
"""Length of one piece of the search, after which the hits so far are shown."""


class StepSearch:
    """Runs one search at a time.

    Args:
        changed: called when there are more hits, or more steps were searched.
    """

    def __init__(self, requests: Requests, go: Callable[[int], None], changed: Callable[[], None]) -> None:
        self._requests = requests
        self._go = go
        self._changed = changed
        self._search: Search | None = None
        self.waiting = ""
        """The text to search for once all steps are read."""

    @property
    def is_on(self) -> bool:
        """True from the user's search until it is forgotten."""
        return self._search is not None or bool(self.waiting)

    def forget(self) -> bool:
        """End the search; return True if there was one."""
        there = self.is_on
        self._search, self.waiting = None, ""
        return there

    async def run(self, view: View, needle: str, item: int) -> None:
        """Search all steps of a view, and go to the first hit at or after ``item`` as soon as it is found."""
        if not view.complete:
            self.waiting = needle
            self._requests.show_message("Indexing… search starts when done.")
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
            self._requests.show_message(f'"{needle}" not found.')

    async def grown(self, view: View, changed: Collection[int]) -> None:
        """Search the steps that are new or changed since."""
        search = self._search
        if search is None or (search.view.extends(view) and not view.extends(search.view)):
            return  # a later call was faster
        new = [*changed, *range(view.after(search.view), len(view))]
        await self._requests.ask(search.extend, view, new)

    def next(self, item: int, direction: int) -> None:
        """Go to the next hit, or to the previous one; does nothing without a search."""
        if self._search is None:
            return
        hit = self._search.next(item, direction)
        if hit is not None:
            self._go(hit)
        else:
            self._requests.show_message("No matches." if self._search.finished else "No matches so far.")

    def found(self, item: int) -> Found | None:
        """Return the progress of the search; None without a search."""
        search = self._search
        if search is None:
            return None
        return Found(search.needle, len(search.hits), search.number_of(item), search.done / max(1, search.total))
