"""Sessions as lines on the screen, by the line API: the cost depends on visible changes, not on the number of sessions.

Line 0 has the headings; the rows scroll below it.  :mod:`.session_table` chooses the rows and handles the keys."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from msgspec import structs
from textual.cache import LRUCache
from textual.geometry import Region
from textual.strip import Strip

from agentdash.sessions.model.session import Load, Session
from agentdash.sessions.rules.costs.family_sums import FamilySum
from agentdash.sessions.text.sanitize import cell_width, cut
from agentdash.widgets.drawing.painted_view import PaintedView, Painter
from agentdash.widgets.table.columns import USUAL, Cell, Choice, Column, Moment, empty_columns, headings
from agentdash.widgets.table.ordering import Arrangement, Row
from agentdash.widgets.table.row_cells import IN_HEADING, Form, Painted, heading_cells, name_cells, row_cells, spaced
from agentdash.widgets.table.row_detail import steady_until
from agentdash.widgets.table.row_model import Density, RowModel, level_for

_FOREVER = sys.maxsize


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
        lines: int = 1,
        family: Callable[[], FamilySum | None] = lambda: None,
    ) -> Painted:
        """The row and its second line as last drawn; drawn now if a tick or a change dropped them."""
        if form != self._form:
            self.clear()
            self._form = form
        painted = self._painted.get(row.key)
        if painted is None:
            painted = self._new(row, session, form, family(), marked=marked, lines=lines)
            self._painted[row.key] = painted
        return painted

    def _new(
        self, row: Row, session: Session | None, form: Form, family: FamilySum | None, *, marked: bool, lines: int
    ) -> Painted:
        now = self.moment.now
        self._steady[row.key] = now, _FOREVER if session is None else steady_until(session, now)
        if session is None:
            return heading_cells(row.heading, form.width, family) if row.heading else (), ()
        return row_cells(session, self.moment, form, marked=marked, lines=lines, lead=row.lead, family=family)


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


class Selection:
    """Session ids in the order they were marked; one end of an open range follows the cursor."""

    def __init__(self) -> None:
        self._chosen: dict[str, None] = {}
        self._anchor: str | None = None
        self._before: dict[str, None] = {}
        """The marks from before the range began."""

    def __contains__(self, session_id: object) -> bool:
        return session_id in self._chosen

    def __iter__(self) -> Iterator[str]:
        return iter(self._chosen)

    def __len__(self) -> int:
        return len(self._chosen)

    @property
    def ranging(self) -> bool:
        """Return whether a range is open."""
        return self._anchor is not None

    def toggle(self, session_id: str) -> None:
        """Mark a session, or remove its mark."""
        if self._chosen.pop(session_id, self) is self:
            self._chosen[session_id] = None

    def toggle_all(self, session_ids: Sequence[str]) -> None:
        """Mark the sessions; if all are marked, remove their marks."""
        missing = [session_id for session_id in session_ids if session_id not in self._chosen]
        for session_id in missing or session_ids:
            self.toggle(session_id)

    def mark(self, session_ids: Iterable[str]) -> None:
        """Mark these sessions as well."""
        self._chosen |= dict.fromkeys(session_ids)

    def begin(self, session_id: str) -> None:
        """Open a range at a session."""
        self._anchor, self._before = session_id, dict(self._chosen)
        self._chosen[session_id] = None

    def reach(self, order: Sequence[str], session_id: str) -> None:
        """Move the end of the open range to a session; ``order`` is the order of the rows."""
        if self._anchor in order and session_id in order:
            ends = sorted((order.index(self._anchor), order.index(session_id)))
            self._chosen = self._before | dict.fromkeys(order[ends[0] : ends[1] + 1])

    def close(self) -> None:
        """End the range; its marks stay."""
        self._anchor = None

    def clear(self) -> None:
        """Remove all marks, and end the range."""
        self._chosen.clear()
        self._anchor = None

    def forget(self, session_ids: Iterable[str]) -> None:
        """Remove the marks of deleted sessions; a range that began at one of them ends, and its other marks stay."""
        for session_id in session_ids:
            self._chosen.pop(session_id, None)
            self._before.pop(session_id, None)
            if session_id == self._anchor:
                self.close()


CACHED_STRIPS = 512


class RowCanvas(PaintedView, can_focus=True):
    """Draws rows with a cursor and marks, and redraws only differences.

    Args:
        clock: returns the time in UTC ms, from which ages are counted.
    """

    def __init__(self, clock: Callable[[], int], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._clock = clock
        self._now = clock()
        self._rows = RowModel()
        self._marks = Selection()
        self._cursor: str | None = None
        """The key of a row; it stays the same when other rows come and go."""
        self._painting = PaintCache()
        self._painting.moment = Moment(self._now)
        self._choice = USUAL
        self._empty_columns: frozenset[str] = frozenset()
        """The chosen columns that had nothing to show for any row on the screen, since other rows were chosen."""
        self._name_cells = name_cells(())
        """The widths of the columns of names."""
        self._had_no_rows = True
        """True if no row was on the screen when the columns were last chosen."""
        self.density = Density.MIXED
        """The user's choice of lines for each session; see :meth:`show_density`."""
        self._strips: LRUCache[object, Strip] = LRUCache(CACHED_STRIPS)
        self._empty: list[str] = []
        self._problem = ""

    @property
    def on_screen(self) -> list[Session]:
        """The sessions that are on the screen, at least in part."""
        return [session for session in map(self._rows.at, self._positions_shown()) if session is not None]

    @property
    def shows_first(self) -> bool:
        """True if it shows all sessions as a start does: from the first row, with the cursor on it, and no marks."""
        rows = self._rows
        first = next((at for at in range(len(rows)) if not rows.is_passed(at)), None)
        plain = not (self.scroll_offset.y or len(self._marks) or rows.folded or self._problem or rows.filters)
        return plain and first is not None and rows.position(self._cursor) == first

    @property
    def choices(self) -> tuple[Choice, Density, Arrangement]:
        """The user's choice of columns, lines and order."""
        return self._choice, self.density, self._rows.arrangement

    @property
    def lines_in_all(self) -> int:
        """The number of lines of all rows, also of those that are not on the screen."""
        return self._rows.height

    @property
    def painter(self) -> Painter:
        """Knows the colours of the roles."""
        return self._painter

    @property
    def columns(self) -> Sequence[Column]:
        """The columns that fit now, whether or not they have something to show."""
        return structs.replace(self._form, empty=frozenset()).columns if self.size.width else ()

    def show_columns(self, choice: Choice) -> None:
        """Show other columns."""
        self._choice = choice
        self._learn_columns(forget=True)
        self._painting.clear()
        self.refresh()

    def show_density(self, density: Density) -> None:
        """Give each session one line or two, or as many as there is room for."""
        self.density = density
        self._painting.clear()
        self._fit()
        self._reveal()
        self.refresh()

    def show_problem(self, problem: str) -> None:
        """Show an error of the filter in place of the headings, so that no row moves; "" shows the headings again."""
        if problem != self._problem:
            self._problem = problem
            self._redraw_headings()

    def show_when_empty(self, lines: Iterable[str]) -> None:
        """Set the lines to show while there are no sessions."""
        self._empty = list(lines)
        if not len(self._rows):
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the screen: the headings, a row, its second line, or nothing."""
        width = self._width
        if y == 0 and self._problem:
            return self._painter.strip([(cut(self._problem, width), "failure")], width)
        if not len(self._rows):
            text = self._empty[y - 1] if 1 <= y <= len(self._empty) else ""
            return self._painter.strip([(text, "dim")], width)
        if y == 0:
            role = "focused" if self.has_focus else "heading"
            return self._painter.strip([(self._headings(width), role)], width)
        place = self._rows.find(y - 1 + self.scroll_offset.y)
        if place is None:
            return self._painter.strip([], width)
        key = self._rows.row(place[0]).key
        return self._strip(self._paint(place[0])[place[1]], width, key == self._cursor)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Show the columns that the rows now on the screen need."""
        super().watch_scroll_y(old_value, new_value)
        self._learn_columns()

    def forget_strips(self) -> None:
        """Drop all drawn lines."""
        self._strips.clear()

    @property
    def row_lines(self) -> int:
        """The number of lines of the selected row."""
        position = self._rows.position(self._cursor)
        return 1 if position is None else self._rows.lines(position)

    @property
    def _width(self) -> int:
        """Cells of a row, without the scrollbar."""
        return self.scrollable_content_region.width

    @property
    def _form(self) -> Form:
        """The form of all rows."""
        empty = self._empty_columns | IN_HEADING.get(self._rows.arrangement.grouped, frozenset())
        choice = structs.replace(self._choice, widths=(*self._name_cells, *self._choice.widths))
        return Form(self._width, choice, empty)

    @property
    def _room(self) -> int:
        """The number of lines below the headings."""
        return max(1, self.size.height - 1)

    def _strip(self, spans: tuple[Cell, ...], width: int, cursor: bool) -> Strip:
        over = "" if not cursor else "cursor" if self.has_focus else "cursor-blurred"
        key = (spans, width, over)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = self._painter.strip(spaced(spans), width, over=over)
        return strip

    def _headings(self, width: int) -> str:
        arrangement = self._rows.arrangement
        arrow = "▴" if arrangement.reverse else "▾"
        form = self._form
        return headings((*form.left, *form.right), width, arrangement.sort, arrow)

    def _paint(self, position: int) -> Painted:
        row = self._rows.row(position)
        return self._painting.paint(
            row,
            self._rows.at(position),
            self._form,
            marked=row.key in self._marks,
            lines=self._rows.lines(position),
            family=lambda: self._rows.sum(position),
        )

    def _learn_columns(self, *, forget: bool = False) -> None:
        """Show the columns that have something to show for a row on the screen; ``forget`` hides the others.

        Without ``forget`` no column goes, so that rows do not move to and fro while the user scrolls.
        """
        before, shown = self._empty_columns, self.on_screen
        empty = empty_columns(self._choice, shown, self._painting.moment) if shown else frozenset()
        self._empty_columns = empty if forget or self._had_no_rows else before & empty
        self._had_no_rows = not shown
        former = self._name_cells
        self._name_cells = name_cells(shown, () if forget else former)
        if self._empty_columns != before or self._name_cells != former:
            self._painting.clear()
            self.refresh()

    def _see(self, loads: Mapping[str, Load] | None = None) -> None:
        """Set the current time, and the process loads if they are given."""
        self._now = self._clock()
        known = self._painting.moment.loads if loads is None else loads
        self._painting.moment = Moment(self._now, known)

    def _redraw_all(self, only: Callable[[str], bool] = lambda _: True) -> None:
        """Redraw the differences in the visible rows."""
        keys = [self._rows.row(position).key for position in self._positions_shown()]
        self._painting.keep(set(keys))
        for key in filter(only, keys):
            self._redraw(key)

    def _redraw(self, key: str) -> None:
        """Redraw the differences in a row, if it is visible."""
        width = self._width
        painted = self._painting.take(key, self._form)
        position = self._rows.position(key)
        if position is None:
            return
        line = self._rows.top(position) - self.scroll_offset.y + 1
        if not -1 <= line < self.size.height:
            return
        for number, cells in enumerate(self._paint(position)):
            # If the contents of the screen are unknown, all of the line may differ.
            start, end = difference(painted[number], cells) if painted else (0, width)
            if start < end and 1 <= line + number < self.size.height:
                self.refresh(Region(start, line + number, end - start, 1))

    def _redraw_headings(self) -> None:
        self.refresh(Region(0, 0, self._width, 1))

    def _redraw_cursor(self) -> None:
        position = self._rows.position(self._cursor)
        if position is not None:
            lines = self._rows.lines(position)
            self.refresh(Region(0, self._rows.top(position) - self.scroll_offset.y + 1, self._width, lines))

    def _positions_shown(self) -> range:
        """The rows whose first line or second line is on the screen."""
        first = self._rows.find(self.scroll_offset.y)
        if first is None:
            return range(0)
        last = self._rows.find(min(self._rows.height, self.scroll_offset.y + self._room) - 1) or first
        return range(first[0], last[0] + 1)

    def _fit(self) -> None:
        if self.size.height:
            self._rows.set_level(level_for(self.density, self._rows, self._room))
        # The widget's width without a scrollbar would bring up the horizontal one.  The spare line lets the last page
        # begin with a whole row.
        spare = int(self._rows.height > self._room)
        self.set_height(self._rows.height + 1 + spare)
        if self.scroll_offset.y > self.max_scroll_y:
            self.scroll_to(y=self.max_scroll_y, animate=False)

    def _scroll_to_line(self, line: int) -> None:
        """Put this line at the top, or the line after it if this one is the second line of a row."""
        place = self._rows.find(line)
        self.scroll_to(y=line + 1 if place and place[1] else line, animate=False)

    def _reveal(self) -> None:
        """Scroll as little as needed to show the whole selected row."""
        position = self._rows.position(self._cursor)
        if position is None:
            return
        # The heading above the first row of a section or a group comes with it.
        headed = position > 0 and self._rows.at(position - 1) is None
        top = self._rows.top(position - 1 if headed else position)
        bottom = self._rows.top(position + 1) if position + 1 < len(self._rows) else self._rows.height
        if top < self.scroll_offset.y:
            self.scroll_to(y=top, animate=False)
        elif bottom > self.scroll_offset.y + self._room:
            self._scroll_to_line(bottom - self._room)
