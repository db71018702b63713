"""Finds steps: by a text, by the number that the user types, and the one to read first."""

import re
from collections.abc import Callable, Collection, Sequence

from agentdash.sessions.model.session import Status, Step, StepKind, Turn
from agentdash.sessions.rules.conversation.shown import Shown
from agentdash.sessions.transcript.index.kind_codes import NESTED, table
from agentdash.sessions.transcript.search import Search
from agentdash.sessions.transcript.snapshot import View
from agentdash.tui.services.background import Requests
from agentdash.widgets.steps.filter_line import Found
from agentdash.widgets.steps.filtered_steps import FAILURES

_MESSAGES = table([StepKind.MESSAGE], lacking=NESTED)
_ERRORS = table([StepKind.ERROR], lacking=NESTED)


def answer(view: View, turns: Sequence[Turn], known: Shown | None = None) -> int | None:
    """Return the last message of the newest turn, or the error of a failed turn.

    None if the turn has neither, and if its end was cut: the line of the step back is then the last one.
    """
    if not turns or not len(view):
        return None
    newest = turns[-1]
    failed = newest.status in (Status.FAILED, Status.LOST)
    wanted = (_ERRORS, FAILURES, _MESSAGES) if failed else (_MESSAGES, _ERRORS)
    last = (view.next_marked(marked, len(view), -1) for marked in wanted)
    found = next((item for item in last if item is not None and view.turn(item) == newest.n), None)
    return None if found is None or (known is not None and known.cuts(newest.n, view.step(found).index)) else found


_NUMBER = re.compile(r"(?:\d{1,9}\.)?\d{1,9}", re.ASCII)
"""A step of this turn, or a turn and its step."""


def numbered(text: str, view: View, current: Step | None) -> tuple[int | None, str]:
    """Return the item of a step by its number and ""; or None and the reason why there is none."""
    turn, _, index = text.strip().rpartition(".")
    if not _NUMBER.fullmatch(text.strip()) or current is None:
        return None, f"{text.strip()!r} is not a step number. Examples: 12, or 3.12 for step 12 of turn 3."
    item = view.number(int(turn or current.turn), int(index))
    missing = f"No turn {turn or current.turn}." if view.complete else "Still loading."
    return item, "" if item is not None else missing


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
