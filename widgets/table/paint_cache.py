"""What was last drawn of each row of the table, so that only what differs is drawn again: no screen."""

import sys
from itertools import zip_longest

from ...sessions.model import Session
from ...sessions.text import units
from ...sessions.text.sanitize import cell_width, cut, one_line, pad
from ..drawing.glyphs import UNICODE
from .columns import USUAL, Cell, Moment, cells, second_line, steady_until
from .ordering import Heading, Row

Painted = tuple[tuple[Cell, ...], Cell | None]
"""The cells of a row, and its second line."""


_FOREVER = sys.maxsize


class RowPainting:
    """Cells of rows for one width, one choice of columns and one moment; another of these forgets what was drawn."""

    def __init__(self) -> None:
        self.moment = Moment(0, UNICODE)
        self.choice = USUAL
        self._width = 0
        self._painted: dict[str, Painted] = {}
        self._steady: dict[str, tuple[int, int]] = {}
        """When a row was drawn, and until when it reads the same."""

    def fits(self, width: int) -> bool:
        """Whether what was drawn was drawn for this width."""
        return self._width == width

    def clear(self) -> None:
        """Nobody knows any more what stands on the screen."""
        self._steady.clear()
        self._painted.clear()

    def keep(self, keys: set[str]) -> None:
        """Forget all but these rows."""
        self._steady = {key: steady for key, steady in self._steady.items() if key in keys}
        self._painted = {key: painted for key, painted in self._painted.items() if key in keys}

    def is_due(self, key: str) -> bool:
        """Whether a row may read otherwise by now, though nothing happened."""
        drawn, until = self._steady.get(key, (0, 0))
        return not drawn <= self.moment.now < until  # a clock may go back

    def take(self, key: str, width: int) -> Painted | None:
        """What was last drawn of a row, which is then to be drawn again."""
        return self._painted.pop(key, None) if self.fits(width) else None

    def paint(self, row: Row, session: Session | None, width: int, *, marked: bool) -> Painted:
        """The row and its second line as they were last drawn; a tick or a change replaces them."""
        if not self.fits(width):
            self.clear()
            self._width = width
        found = self._painted.get(row.key)
        if found is None:
            found = self._painted[row.key] = self._new(row, session, width, marked=marked)
        return found

    def _new(self, row: Row, session: Session | None, width: int, *, marked: bool) -> Painted:
        now = self.moment.now
        self._steady[row.key] = now, _FOREVER if session is None else steady_until(session, now)
        if session is None:
            return (heading_cell(row.heading, width),) if row.heading else (), None
        own = cells(session, self.moment, width, self.choice, marked=marked, lead=row.lead)
        return own, second_line(session, now, width, self.moment.signs)


def heading_cell(heading: Heading, width: int) -> Cell:
    """The line above a group: its name, how many it has, and how many of them need somebody."""
    counted = [units.count(len(heading.sessions), "session")]
    counted += [units.count(heading.attention, "needs you", "need you")] if heading.attention else []
    tail = f"  {' · '.join(counted)}"
    mark = "▸" if heading.folded else "▾"
    return pad(cut(f"{mark} {one_line(heading.name)}{tail}", width), width), "strong"


def difference(old: tuple[Cell, ...], new: tuple[Cell, ...]) -> tuple[int, int]:
    """The cells of the screen, from and to, between which two rows of one width differ."""
    start = end = x = 0
    for before, after in zip_longest(old, new, fillvalue=("", "")):
        width = max(cell_width(before[0]), cell_width(after[0])) + 1
        if before != after:
            start = start if end else x
            end = x + width
        x += width
    return start, end
