"""A unified diff as rows: what came and went, with the numbers of its lines and the words that differ."""

import re
from functools import cached_property
from itertools import takewhile
from operator import eq

from ..drawing.spans import Row, Span
from .diff_scan import Scan
from .flow import NUMBERED, filled, flow
from .lines import Lines
from .model import Block

COMPARED = 500
"""Characters of a line that is compared word by word."""

ALIKE = 0.4
"""The part of a line that must have stayed, so that what differs is worth a mark."""

_EDIT = re.compile(r"(?<!-)(-{1,100})(\+{1,100})(?!\+)")
"""Lines that were replaced; longer runs are other text and no edits."""

_WORD = re.compile(r"\w+|\W")
_ROLES = {"+": "added", "-": "removed", "@": "hunk", "#": "dim", "\\": "dim", " ": "text"}


class Diff(Block):
    """The changes of one file."""

    def __init__(self, text: str, caption: Row = ()) -> None:
        self._lines = Lines(text, newlines_only=True)
        self.caption = caption

    def __len__(self) -> int:
        """Its lines, and the pieces of very long ones."""
        return len(self._lines)

    def rows(self, item: int, width: int) -> list[Row]:
        """One line, wrapped below its text, on the ground of what came or went."""
        kind, text = self._scan.kinds[item], self._lines[item]
        role = _ROLES[kind]
        if kind in "@#\\":
            return flow([(text, role)], width)
        sign, words = self._changed(item, text, role)
        margin = (*self._gutter(item, width), (f"{sign} ", role))
        below = ((" " * len(margin[0][0]), "dim"), ("  ", role)) if len(margin) > 1 else (("  ", role),)
        rows = flow(words, width, margin, below)
        return rows if kind == " " else [filled(row, width, role) for row in rows]

    @cached_property
    def _scan(self) -> Scan:
        return Scan(self._lines)

    @cached_property
    def _digits(self) -> int:
        """Of the highest number; 0 where none is known."""
        highest = max(map(max, (self._scan.old, self._scan.new)))
        return len(str(highest)) if highest else 0

    def _gutter(self, item: int, width: int) -> Row:
        """The numbers of a line in the old file and the new one."""
        if not self._digits or width < NUMBERED:
            return ()
        numbers = (str(side[item] or "").rjust(self._digits) for side in (self._scan.old, self._scan.new))
        return ((" ".join(numbers) + " ", "dim"),)

    def _changed(self, item: int, text: str, role: str) -> tuple[str, list[Span]]:
        """The sign of a line and its text, with a mark on what differs from the line that it replaces."""
        if self._lines.joins(item) or text[:1] not in ("+", "-", " "):
            return " ", [(text, role)]
        sign, text = text[0], text[1:]
        other = self._pairs.get(item)
        if other is None or max(len(text), len(self._lines[other])) > COMPARED:
            return sign, [(text, role)]
        begin, end = differing(text, self._lines[other][1:])
        spans = [(text[:begin], role), (text[begin:end], f"{role}-word"), (text[end:], role)]
        return sign, [span for span in spans if span[0]]

    @cached_property
    def _pairs(self) -> dict[int, int]:
        """Lines that stand against each other: the first that came against the first that went, and so on."""
        pairs: dict[int, int] = {}
        for edit in _EDIT.finditer(self._scan.kinds):
            for old, new in zip(range(*edit.span(1)), range(*edit.span(2)), strict=False):
                pairs[old], pairs[new] = new, old
        return pairs


def differing(text: str, other: str) -> tuple[int, int]:
    """Where in a text the words begin and end that another one has not; nowhere if most of it is other."""
    words, others = _WORD.findall(text), _WORD.findall(other)
    head = _shared(words, others)
    tail = _shared(words[head:][::-1], others[head:][::-1])
    begin, end = len("".join(words[:head])), len("".join(words[: len(words) - tail]))
    stayed = len((text[:begin] + text[end:]).replace(" ", ""))
    alike = stayed >= ALIKE * max(len(line.replace(" ", "")) for line in (text, other))
    return (begin, end) if alike else (0, 0)


def _shared(words: list[str], others: list[str]) -> int:
    """With how many equal words both begin."""
    return sum(takewhile(bool, map(eq, words, others)))
