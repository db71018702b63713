"""The lines of a text, each cleaned on demand: an output of 5 MB costs only an index of line beginnings."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from operator import sub

from agentdash.sessions.text.sanitize import clean

PIECE = 2_000
"""Most characters of a line in one item: a minified file of one line becomes many items, and none of it is lost."""

TAB = 4

_RARE_BREAKS = "\r\u2028\u2029"
_BREAKS = re.compile("\r\n|[\n\r\u2028\u2029]")
_NEWLINE = re.compile("\n")
_OPEN_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*|[ -/]*)\Z")
"""An escape sequence that is still open at the end of a piece."""


class Lines:
    """The lines of an untrusted text.

    A lone carriage return ends a line, as it does for ``clean``: text that a progress bar overwrote is a separate line.
    With ``newlines_only`` it does not: in a diff, the text after it has no sign of its own.  Line ends at the end of
    the text are ignored.
    """

    def __init__(self, text: str, *, newlines_only: bool = False) -> None:
        self._text = text
        end = len(text.rstrip("\n\r\u2028\u2029"))
        # The rare breaks are in almost no text, and the plain search is six times faster.
        rare = not newlines_only and any(char in text for char in _RARE_BREAKS)
        breaks = _BREAKS if rare else _NEWLINE
        begins = array("Q", [0, *(ending.end() for ending in breaks.finditer(text, 0, end)), end])
        if end == 0:
            begins.pop()
        self._lines = self._begins = begins
        if max(map(sub, begins[1:], begins), default=0) > PIECE:
            self._begins = array("Q", [*self._pieces(begins), end])

    def __len__(self) -> int:
        """The number of items: lines, and pieces of very long lines."""
        return len(self._begins) - 1

    def __getitem__(self, item: int) -> str:
        """A line or a piece of one, without control characters and tabs."""
        if not 0 <= item < len(self):
            raise IndexError(item)
        return clean(self.raw(item)).expandtabs(TAB).replace("\n", " ")

    def raw(self, item: int) -> str:
        """An item unchanged, without its line end."""
        return self._text[self._begins[item] : self._begins[item + 1]].rstrip("\n\r\u2028\u2029")

    def following(self, item: int, most: int) -> list[str]:
        """The beginnings of at most ``most`` lines after the line of an item."""
        begins = self._lines[self.number(item) : self.count][:most]
        return [self._text[begin : begin + PIECE] for begin in begins]

    @property
    def count(self) -> int:
        """The number of lines; the pieces of a long line count once."""
        return len(self._lines) - 1

    def number(self, item: int) -> int:
        """The number of the item's line, from 1."""
        return bisect_right(self._lines, self._begins[item], hi=self.count)

    def joins(self, item: int) -> bool:
        """Return whether the item continues the line of the item before it."""
        return self._begins is not self._lines and self._begins[item] != self._lines[self.number(item) - 1]

    def _pieces(self, begins: "array[int]") -> Iterator[int]:
        for start, end in pairwise(begins):
            begin = start
            yield begin
            while end - begin > PIECE:
                # A sequence that was cut in two would not be recognised, and its rest would be shown.
                cut_short = _OPEN_SEQUENCE.search(self._text, begin + 1, begin + PIECE)
                begin = cut_short.start() if cut_short else begin + PIECE
                yield begin
