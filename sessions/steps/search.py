"""Finding a text in all steps of a session, a piece at a time, nearest first."""

import re
from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator

import msgspec

from ..clock import monotonic
from ..model import Step
from .view import Section, View

_PLAIN = re.compile(r"[\w .,:;=()@#%*!?|~^$\[\]{}+-]+", re.ASCII)
"""Characters that every JSON encoder writes as they are: bytes without them cannot hold the text."""


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
    """Whether a step has the text; one without capitals is found in any case."""
    if needle.islower():
        return any(needle in text.lower() for text in texts(step))
    return any(needle in text for text in texts(step))


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
        self.hits = array("I")
        """The items found so far, rising."""
        self.done = 0
        """Pieces that were searched."""
        self._wanted = _in_bytes(needle) if _PLAIN.fullmatch(needle) else None
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
            if self._wanted is None or index.may_hold(number, self._wanted):
                for place, step in index.block(number).items():
                    item = self.view.item(index, place)
                    if item is not None and holds(step, self.needle):
                        insort(self.hits, item)
            self.done += 1
            if monotonic() >= deadline:
                break

    def look_at(self, view: View, items: Iterable[int]) -> None:
        """Take a newer view that extends the one that was searched, and look at what is new in it."""
        self.view = view
        for item in items:
            if self.number_of(item) is None and holds(view.step(item), self.needle):
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


def _in_bytes(needle: str) -> Callable[[bytes], bool]:
    """Whether bytes of a file have the text."""
    wanted = needle.encode()
    if needle.islower():
        # Eight times faster than a pattern that ignores case.
        return lambda raw: wanted in raw.lower()
    return lambda raw: wanted in raw


def _pieces(view: View) -> Iterator[tuple[Section, int]]:
    for section in view.sections:
        for number in range(section.block_count):
            yield section, number


def _holds_item(view: View, piece: tuple[Section, int], item: int) -> bool:
    section, place = view.find(item) if item < len(view) else (None, 0)
    return section is piece[0] and piece[0].block_of(place) == piece[1]
