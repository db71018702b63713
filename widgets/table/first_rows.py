"""The table as it is when it first appears, from the same parts as the table that lives: pure."""

from collections.abc import Iterable, Iterator

from msgspec import Struct, structs

from agentdash.sessions.model.session import Session
from agentdash.widgets.drawing.short_forms import place_of
from agentdash.widgets.table.columns import USUAL, Cell, Choice, Moment, empty_columns, headings
from agentdash.widgets.table.ordering import Arrangement
from agentdash.widgets.table.row_cells import IN_HEADING, Form, heading_cells, name_cells, row_cells, spaced
from agentdash.widgets.table.row_model import Density, RowModel, level_for


class Table(Struct, frozen=True):
    """The user's choice of what the table shows, and its place."""

    width: int
    """Cells, with the scrollbar."""
    height: int
    choice: Choice = USUAL
    density: Density = Density.MIXED
    arrangement: Arrangement = Arrangement()


class Line(Struct, frozen=True):
    """A line of the table."""

    cells: list[Cell]
    over: str = ""
    """The role that all of the line has; empty if each cell has its own."""


class FirstRows:
    """The rows of the first screen, with the cursor on the first of them."""

    def __init__(self, sessions: Iterable[Session], now: int, table: Table) -> None:
        self._table, self._moment = table, Moment(now)
        self._rows = rows = RowModel()
        rows.choose(None, now, table.arrangement)
        rows.update(sessions, (), now)
        room = max(1, table.height - 1)
        rows.set_level(level_for(table.density, rows, room))
        self.scrolls = rows.height > room
        """True if it has a scrollbar, which takes a cell of the width."""
        last = rows.find(min(rows.height, room) - 1)
        self._shown = range(last[0] + 1 if last is not None else 0)
        self._form = self._chosen_form()

    @property
    def selected(self) -> Session | None:
        """The session under the cursor."""
        at = self._cursor
        return self._rows.at(at) if at is not None else None

    @property
    def place(self) -> str:
        """The place of the cursor: ``1/26``."""
        number, count = self._rows.place(self._cursor or 0)
        return place_of(number if self.selected is not None else None, count)

    @property
    def width(self) -> int:
        """Cells of a row."""
        return self._form.width

    @property
    def lines_in_all(self) -> int:
        """The number of lines of all rows, also of those below the screen."""
        return self._rows.height

    def lines(self) -> Iterator[Line]:
        """Yield the lines from the top, as many as there are; the rest of the table is empty."""
        arrangement = self._table.arrangement
        arrow = "▴" if arrangement.reverse else "▾"
        columns = (*self._form.left, *self._form.right)
        yield Line([(headings(columns, self.width, arrangement.sort, arrow), "focused")])
        room, cursor = self._table.height - 1, self._cursor
        for position in self._shown:
            for cells in filter(None, self._painted(position)):
                if room <= 0:
                    return
                room -= 1
                yield Line(spaced(cells), "cursor" if position == cursor else "")

    @property
    def _cursor(self) -> int | None:
        return next((at for at in range(len(self._rows)) if not self._rows.is_passed(at)), None)

    def _painted(self, position: int) -> tuple[tuple[Cell, ...], tuple[Cell, ...]]:
        row, session, family = self._rows.row(position), self._rows.at(position), self._rows.sum(position)
        if session is None:
            return heading_cells(row.heading, self.width, family) if row.heading else (), ()
        lines = self._rows.lines(position)
        return row_cells(session, self._moment, self._form, lines=lines, lead=row.lead, family=family)

    def _chosen_form(self) -> Form:
        """The form with the columns that have something to show for these rows."""
        table = self._table
        shown = [one for one in map(self._rows.at, self._shown) if one is not None]
        empty = empty_columns(table.choice, shown, self._moment) if shown else frozenset[str]()
        choice = structs.replace(table.choice, widths=(*name_cells(shown), *table.choice.widths))
        empty |= IN_HEADING.get(table.arrangement.grouped, frozenset())
        return Form(table.width - self.scrolls, choice, empty)
