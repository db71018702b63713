"""Search for a text in all steps of a session, a piece at a time, nearest first."""

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from threading import Lock

from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.session import Step
from agentdash.sessions.text.json_text import json_text
from agentdash.sessions.text.sanitize import clean
from agentdash.sessions.transcript.snapshot import View


def texts(step: Step) -> Iterator[str]:
    """Yield all readable texts of a step as they are shown, except times and numbers."""
    sent = f"{step.sender}: {step.text}" if step.sender else step.text
    tool = f"{step.server}.{step.tool}" if step.server and step.tool else step.tool or step.server
    yield from filter(None, (sent, step.command, step.output, tool, step.model, step.agent_session, step.event))
    if step.arguments is not None:
        yield json_text(step.arguments)
    for change in step.changes:
        yield from filter(None, (change.path, change.moved_to, change.diff))
    for item in step.items:
        yield item.text


def holds(step: Step, needle: str) -> bool:
    """Return whether a step contains the text as it is shown; a lower-case text matches any case."""
    searched = (clean(text) if "\x1b" in text else text for text in texts(step))
    if needle.islower():
        return any(needle in text.lower() for text in searched)
    return any(needle in text for text in searched)


class Search:
    """One search through the steps of a view.

    Args:
        view: the steps to search; later steps are given to :meth:`extend`.
        needle: the text to find; not empty.
        item: the item to begin with: those after it are searched first.
    """

    def __init__(self, view: View, needle: str, item: int = 0) -> None:
        self.view = view
        self.needle = needle
        self.begin = item
        self.hits = array("I")
        """The items found so far, in ascending order."""
        self.done = 0
        """The number of searched pieces."""
        self._lock = Lock()
        pieces = [(section, number) for section in view.sections for number in range(section.block_count)]
        there, place = view.find(item) if item < len(view) else (None, 0)
        holders = (n for n, (one, block) in enumerate(pieces) if one is there and one.block_of(place) == block)
        begin = next(holders, 0)
        self._pieces = pieces[begin:] + pieces[:begin]

    @property
    def total(self) -> int:
        """The number of all pieces."""
        return len(self._pieces)

    @property
    def finished(self) -> bool:
        """True if all pieces were searched."""
        return self.done >= len(self._pieces)

    def advance(self, seconds: float) -> None:
        """Search on, for about ``seconds``.

        Raises:
            OSError: a file can no longer be read.
        """
        deadline = monotonic() + seconds
        while not self.finished:
            # One piece at least, however short the time is: so each search comes to its end.
            index, number = self._pieces[self.done]
            for place, step in index.block(number).items():
                if holds(step, self.needle):
                    self._found(self.view.item(index, place))
            self.done += 1
            if monotonic() >= deadline:
                break

    def extend(self, view: View, items: Iterable[int]) -> None:
        """Take a newer view of the same session, and search its new or changed items.

        Raises:
            OSError: a file can no longer be read.
        """
        with self._lock:
            # Items have other numbers if earlier turns were read since: the hits move with them.
            if not view.extends(self.view):
                self.hits = array("I", sorted({view.moved(self.view, item) for item in self.hits}))
            self.view = view
        for item in items:
            if holds(view.whole(item), self.needle):
                self._found(item)

    def first(self) -> int | None:
        """Return the hit to begin with: the first from ``begin`` on, else, after a full search, the first of all."""
        place = bisect_left(self.hits, self.begin)
        if place < len(self.hits):
            return self.hits[place]
        return self.hits[0] if self.finished and self.hits else None

    def _found(self, item: int | None) -> None:
        """Insert a hit in order, once: the thread that reads and the one that searches can both find it."""
        with self._lock:
            if item is not None and self.number_of(item) is None:
                insort(self.hits, item)

    def number_of(self, item: int) -> int | None:
        """Return the rank of an item among the hits, from 1; None if it is not a hit."""
        place = bisect_left(self.hits, item)
        return place + 1 if place < len(self.hits) and self.hits[place] == item else None

    def next(self, item: int, direction: int) -> int | None:
        """Return the hit after (1) or before (-1) an item, wrapping around; None if there are no hits."""
        if not self.hits:
            return None
        place = bisect_right(self.hits, item) if direction > 0 else bisect_left(self.hits, item) - 1
        return self.hits[place % len(self.hits)]
