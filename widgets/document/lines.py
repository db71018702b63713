"""A text by its lines, each cleaned when it is asked for: an output of 5 MB costs an index of where they begin."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from operator import sub

from ...sessions.text.sanitize import clean

PIECE = 2_000
"""Characters of a line that are one item: a minified file of one line is many items, and nothing of it is cut off."""

TAB = 4

_RARE_BREAKS = "\r\u2028\u2029"
_BREAKS = re.compile("\r\n|[\n\r\u2028\u2029]")
_NEWLINE = re.compile("\n")
_OPEN_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*|[ -/]*)\Z")
"""An escape sequence that has not ended at the end of a piece."""


class Lines:
    """The lines of a foreign text.

    A lone carriage return ends a line, as it does for ``clean``: what a progress bar overwrote is a line of its own.
    With ``newlines_only`` it does not: in a diff, what comes after it has no sign of its own.  Line ends at the end
    of the text are none.
    """

    def __init__(self, text: str, *, newlines_only: bool = False) -> None:
        self._text = text
        end = len(text.rstrip("\n\r\u2028\u2029"))
        # Nearly no text has the rare ones, and the plain search is six times faster.
        rare = not newlines_only and any(char in text for char in _RARE_BREAKS)
        breaks = _BREAKS if rare else _NEWLINE
        begins = array("Q", [0, *(found.end() for found in breaks.finditer(text, 0, end)), end])
        if end == 0:
            begins.pop()
        self._lines = self._begins = begins
        if max(map(sub, begins[1:], begins), default=0) > PIECE:
            self._begins = array("Q", [*self._pieces(begins), end])

    def __len__(self) -> int:
        """How many items: the lines, and the pieces of those that are very long."""
        return len(self._begins) - 1

    def __getitem__(self, item: int) -> str:
        """A line, or a piece of one, without control characters and tabs."""
        if not 0 <= item < len(self):
            raise IndexError(item)
        return clean(self.raw(item)).expandtabs(TAB).replace("\n", " ")

    def raw(self, item: int) -> str:
        """An item as it came, without its line end."""
        return self._text[self._begins[item] : self._begins[item + 1]].rstrip("\n\r\u2028\u2029")

    def following(self, item: int, most: int) -> list[str]:
        """The beginnings of the lines after the line of an item, at most ``most`` of them."""
        begins = self._lines[self.number(item) : self.count][:most]
        return [self._text[begin : begin + PIECE] for begin in begins]

    @property
    def count(self) -> int:
        """Lines as a person counts them."""
        return len(self._lines) - 1

    def number(self, item: int) -> int:
        """The line that an item is of, from 1."""
        return bisect_right(self._lines, self._begins[item], hi=self.count)

    def joins(self, item: int) -> bool:
        """Whether the item goes on with the line of the item before."""
        return self._begins is not self._lines and self._begins[item] != self._lines[self.number(item) - 1]

    def _pieces(self, begins: "array[int]") -> Iterator[int]:
        for start, end in pairwise(begins):
            begin = start
            yield begin
            while end - begin > PIECE:
                # A sequence that is cut in two would not be known as one, and its rest be shown.
                cut_short = _OPEN_SEQUENCE.search(self._text, begin + 1, begin + PIECE)
                begin = cut_short.start() if cut_short else begin + PIECE
                yield begin
