"""Finding a text in all steps of a session, a piece at a time, nearest first."""

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from threading import Lock

import msgspec

from ..clock import monotonic
from ..model import Step
from ..text.sanitize import clean
from .snapshot import Section, View


def texts(step: Step) -> Iterator[str]:
    """Everything of a step that a person can read, but for times and numbers."""
    yield from filter(None, (step.text, step.command, step.output, step.server, step.tool, step.model, step.event))
    if step.arguments is not None:
        yield step.arguments if isinstance(step.arguments, str) else msgspec.json.encode(step.arguments).decode()
    for change in step.changes:
        yield from filter(None, (change.path, change.diff))
    for item in step.items:
        yield item.text


def holds(step: Step, needle: str) -> bool:
    """Whether a step has the text as it is shown; one without capitals is found in any case."""
    found = (clean(text) if "\x1b" in text else text for text in texts(step))
    if needle.islower():
        return any(needle in text.lower() for text in found)
    return any(needle in text for text in found)


class Search:
    """One search through what a view shows.

    Args:
        view: what is searched; what comes later is given to :meth:`look_at`.
        needle: the text; not empty.
        item: where to begin: what lies behind it is searched first.
    """

    def __init__(self, view: View, needle: str, item: int = 0) -> None:
        self.view = view
        self.needle = needle
        self.begin = item
        self.hits = array("I")
        """The items found so far, rising."""
        self.done = 0
        """Pieces that were searched."""
        self._lock = Lock()
        pieces = list(_pieces(view))
        begin = next((n for n, piece in enumerate(pieces) if _holds_item(view, piece, item)), 0)
        self._pieces = pieces[begin:] + pieces[:begin]

    @property
    def total(self) -> int:
        """Pieces in all."""
        return len(self._pieces)

    @property
    def finished(self) -> bool:
        """Whether everything was searched."""
        return self.done >= len(self._pieces)

    def advance(self, seconds: float) -> None:
        """Search on, for about so long.

        Raises:
            OSError: a file cannot be read any more.
        """
        deadline = monotonic() + seconds
        while not self.finished:
            index, number = self._pieces[self.done]
            for place, step in index.block(number).items():
                if holds(step, self.needle):
                    self._found(self.view.item(index, place))
            self.done += 1
            if monotonic() >= deadline:
                break

    def look_at(self, view: View, items: Iterable[int]) -> None:
        """Take a newer view that extends the one that was searched, and look at what is new in it.

        Raises:
            OSError: a file cannot be read any more.
        """
        self.view = view
        for item in items:
            if holds(view.whole(item), self.needle):
                self._found(item)

    def first(self) -> int | None:
        """The hit to begin with: the first one from the beginning on, from the top only when all was searched."""
        place = bisect_left(self.hits, self.begin)
        if place < len(self.hits):
            return self.hits[place]
        return self.hits[0] if self.finished and self.hits else None

    def _found(self, item: int | None) -> None:
        """Put a hit into its place; it may have been found by who reads and by who searches."""
        with self._lock:
            if item is not None and self.number_of(item) is None:
                insort(self.hits, item)

    def number_of(self, item: int) -> int | None:
        """Which of the hits an item is, from 1; None where it is none."""
        place = bisect_left(self.hits, item)
        return place + 1 if place < len(self.hits) and self.hits[place] == item else None

    def next(self, item: int, direction: int) -> int | None:
        """The hit after (1) or before (-1) an item; from the other end where there is none."""
        if not self.hits:
            return None
        place = bisect_right(self.hits, item) if direction > 0 else bisect_left(self.hits, item) - 1
        return self.hits[place % len(self.hits)]


def _pieces(view: View) -> Iterator[tuple[Section, int]]:
    for section in view.sections:
        for number in range(section.block_count):
            yield section, number


def _holds_item(view: View, piece: tuple[Section, int], item: int) -> bool:
    section, place = view.find(item) if item < len(view) else (None, 0)
    return section is piece[0] and piece[0].block_of(place) == piece[1]
