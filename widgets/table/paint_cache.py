"""A cache of the last drawn cells of each table row, so that only differences are redrawn.  Needs no screen."""

import sys
from collections.abc import Callable, Mapping
from itertools import zip_longest

from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.costs.family_sums import FamilySum
from agentdash.sessions.rules.family_facts import outside_name
from agentdash.sessions.text import units
from agentdash.sessions.text.sanitize import cell_width, cut, one_line, pad
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.table.columns import Cell, Moment
from agentdash.widgets.table.ordering import Heading, Row, Section
from agentdash.widgets.table.row_cells import Form, Painted, cells_taken, family_cells, row_cells
from agentdash.widgets.table.row_detail import steady_until

_FOREVER = sys.maxsize

_SECTION_ROLES: Mapping[str, str] = {Section.NEEDS_YOU: "attention", Section.RUNNING: "running", Section.UNREAD: "good"}
"""The roles of headings; the other ones are grey."""


class PaintCache:
    """Cells of rows in one form and moment; another form clears them."""

    def __init__(self) -> None:
        self.moment = Moment(0)
        self._form = Form(0)
        self._painted: dict[str, Painted] = {}
        self._steady: dict[str, tuple[int, int]] = {}
        """The time when a row was drawn, and the time until which it stays the same."""

    def clear(self) -> None:
        """Forget all rows: the contents of the screen are unknown."""
        self._steady.clear()
        self._painted.clear()

    def keep(self, keys: set[str]) -> None:
        """Forget all but these rows."""
        self._steady = {key: steady for key, steady in self._steady.items() if key in keys}
        self._painted = {key: painted for key, painted in self._painted.items() if key in keys}

    def is_due(self, key: str) -> bool:
        """Return whether the row may have changed with time alone."""
        drawn, until = self._steady.get(key, (0, 0))
        return not drawn <= self.moment.now < until  # the clock may go back

    def take(self, key: str, form: Form) -> Painted | None:
        """Remove and return the last drawn cells of a row, so that it is redrawn; None if there are none."""
        return self._painted.pop(key, None) if form == self._form else None

    def paint(
        self,
        row: Row,
        session: Session | None,
        form: Form,
        *,
        marked: bool,
        family: Callable[[], FamilySum | None] = lambda: None,
    ) -> Painted:
        """The row and its second line as last drawn; drawn now if a tick or a change dropped them."""
        if form != self._form:
            self.clear()
            self._form = form
        painted = self._painted.get(row.key)
        if painted is None:
            painted = self._painted[row.key] = self._new(row, session, form, marked=marked, family=family())
        return painted

    def _new(self, row: Row, session: Session | None, form: Form, *, marked: bool, family: FamilySum | None) -> Painted:
        now = self.moment.now
        self._steady[row.key] = now, _FOREVER if session is None else steady_until(session, now)
        if session is None:
            return heading_cells(row.heading, form.width, family) if row.heading else (), ()
        return row_cells(session, self.moment, form, marked=marked, lead=row.lead, family=family)


def heading_cells(heading: Heading, width: int, family: FamilySum | None = None) -> tuple[Cell, ...]:
    """The heading of a section or a group: its name, its number of sessions, and how many of them need the user.

    That of an outside lead has the sum of its workers.
    """
    if family is not None:
        return _lead_cells(heading, width, family)
    mark = "▸" if heading.folded else "▾"
    if heading.section:
        name = cut(f"{heading.name.upper()} {len(heading.sessions):,}{f' {mark}' if heading.folded else ''}", width)
        return (name, _SECTION_ROLES.get(heading.name, "heading")), (
            glyphs.RULE * (width - cell_width(name) - 1),
            "line",
        )
    counted = [units.count(len(heading.sessions), "session")]
    counted += [units.count(heading.attention, "needs you", "need you")] if heading.attention else []
    tail = f"  {' · '.join(counted)}"
    return ((pad(cut(f"{mark} {one_line(heading.name)}{tail}", width), width), "strong"),)


def _lead_cells(heading: Heading, width: int, family: FamilySum) -> tuple[Cell, ...]:
    """The heading of an outside lead: ``▾ claude 0b1c2d3e (outside)`` and the sum of its workers."""
    title = f"{'▸' if heading.folded else '▾'} {outside_name(heading.lead)} (outside)"
    cells = family_cells(family, width - cell_width(title))
    title = cut(title, max(1, width - cells_taken(cells)))
    used = cell_width(title) + cells_taken(cells)
    *first, (text, role) = cells
    return (title, "strong"), *first, (text + " " * max(0, width - used), role)


def difference(old: tuple[Cell, ...], new: tuple[Cell, ...]) -> tuple[int, int]:
    """First and last screen cell of the difference between two rows of one width."""
    start = end = x = 0
    for before, after in zip_longest(old, new, fillvalue=("", "")):
        width = max(cell_width(before[0]), cell_width(after[0])) + 1
        if before != after:
            start = start if end else x
            end = x + width
        x += width
    return start, end
