"""The screen of usage: columns over time, the groups below them, and the way to their sessions."""

from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from typing import ClassVar, TypeVar

from msgspec import Struct, structs
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen

from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.rules.costs.cost import UNKNOWN, marks_explained
from agentdash.sessions.rules.costs.usage_table import UsageRow, day_of
from agentdash.sessions.service.reader import SessionReader
from agentdash.tui.keys.action import Place
from agentdash.tui.keys.actions import REGISTRY, USAGE_ACTIONS, bindings
from agentdash.tui.keys.footer import USAGE, USAGE_NARROW, key_line, labelled, whole
from agentdash.tui.keys.keymap import DEFAULT, Keymap
from agentdash.tui.messages import SessionsChanged
from agentdash.tui.screens import usage_figures
from agentdash.tui.screens.usage_figures import GROUPS, Figures, UsageView
from agentdash.tui.services.background import Requests
from agentdash.tui.texts import usage_texts
from agentdash.widgets.drawing.spans import Row
from agentdash.widgets.drawing.text_lines import Line
from agentdash.widgets.lists.row_list import Draw, line
from agentdash.widgets.usage.plot import UsagePlot, UsageRows, key

LEAST_SECONDS = 3.0
"""Minimum time between two readings after changes."""

_LIST_CELLS = 2
"""Cells of the sign of a series before a name."""
_WIDE = 80
"""Cells from which the keys have whole words, without the margin."""
_GAP = 2
"""Cells between two keys."""

T = TypeVar("T")


class ChosenUsage(Struct, frozen=True):
    """The sessions to show, and the view to come back to."""

    named: str
    sessions: tuple[str, ...]
    view: UsageView


class UsageScreen(Screen[ChosenUsage | None]):
    """Tokens and money of sessions; returns the sessions that the user chose to see, or None.

    It reads again after changes of sessions, at most once in :data:`LEAST_SECONDS`; without changes it draws nothing.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,dollar_sign", "dismiss(None)", "back", show=False),
        *bindings([*USAGE_ACTIONS, REGISTRY["help"]]),
    ]

    def __init__(
        self,
        reader: SessionReader,
        requests: Requests,
        view: UsageView,
        *,
        clock: Callable[[], int],
        keymap: Keymap = DEFAULT,
    ) -> None:
        super().__init__()
        self._reader = reader
        self._requests = requests
        self._clock = clock
        self._keymap = keymap
        self.view = view
        """The choices of the user."""
        self.figures: Figures | None = None
        """The newest figures; None before the first are read."""
        self._read_at = 0.0
        self._due = False
        self._title = Line(id="usage-title")
        self.plot = UsagePlot(id="plot")
        self._sums = Line(id="usage-sums")
        self._heading = Line(id="usage-heading")
        self.list = UsageRows(id="usage-rows")
        self._marks = Line(id="usage-marks")
        self._keys = Line(id="keys")

    def compose(self) -> ComposeResult:
        """Yield the title, the plot, the sums, the groups, the meaning of the marks, and the keys."""
        yield self._title
        yield self.plot
        yield self._sums
        yield self._heading
        yield self.list
        yield self._marks
        yield self._keys

    def on_mount(self) -> None:
        """Start to read."""
        self.list.note = "reading…"
        self._read()

    def on_resize(self) -> None:
        """Show as many columns, sums and keys as fit."""
        self._keys.show_text(self.keys_in(self.size.width))
        self.call_after_refresh(self._show)

    def keys_in(self, width: int) -> Content:
        """Return the keys that fit into ``width`` cells."""
        labels = USAGE if width >= _WIDE else USAGE_NARROW
        return key_line(whole(labelled(self._keymap, labels), width, _GAP), _GAP)

    @on(SessionsChanged)
    def _changed(self) -> None:
        """Read again, unless a reading is due already."""
        wait = self._read_at + LEAST_SECONDS - monotonic()
        if wait <= 0:
            self._read()
        elif not self._due:
            self._due = True
            self.set_timer(wait, self._read)

    @work(exclusive=True, group="usage")
    async def _read(self) -> None:
        """Read the figures of the view in a thread, and show them."""
        self._due, self._read_at = False, monotonic()
        figures = await self._requests.ask(self._figures, self.view)
        if figures is not None:
            self.figures = figures
            self._show()

    def _figures(self, view: UsageView) -> Figures:
        today = day_of(self._clock())
        table = self._reader.usage(usage_figures.query(view, today))
        return Figures(table, self._reader.usage(usage_figures.days_query(today)), today)

    @property
    def _starts(self) -> list[date]:
        return usage_figures.starts(self.view.step, self.figures.today) if self.figures is not None else []

    @property
    def _column(self) -> date | None:
        starts = self._starts
        return self.view.column if self.view.column in starts else starts[-1] if starts else None

    @property
    def _rows(self) -> Sequence[UsageRow]:
        return self.figures.table.rows if self.figures is not None else ()

    @property
    def _cursor(self) -> int:
        """The number of the row under the cursor."""
        return next((n for n, row in enumerate(self._rows) if row.group == self.view.group), 0)

    def _show(self) -> None:
        """Show the figures in the present size; lines that do not change are not drawn."""
        figures, view, column = self.figures, self.view, self._column
        if figures is None or column is None:
            return
        _, span = usage_texts.SPANS[view.step]
        width = self.size.width
        head = [f"Usage   {span}, by {view.by}", *usage_figures.recent(figures, view.unit)]
        title, sums = (usage_texts.fitting(parts, width) for parts in (head, usage_texts.sums(figures.table)))
        picture = usage_figures.picture(figures, view)
        self._title.show_text(title)
        self.plot.show(picture, self._starts.index(column), active=view.in_plot)
        self._sums.show_text(sums if self._rows else "")
        figures_shown = [title, *self._show_rows(figures, column, width)]
        if self._rows:
            figures_shown += [sums, *(value for *_, value in picture.legend)]
            figures_shown += [UNKNOWN for one in picture.columns if one.unknown]
        self._marks.show_text(marks_explained(figures_shown, width))

    def _show_rows(self, figures: Figures, column: date, width: int) -> list[str]:
        """Show the groups, and return their lines."""
        view, wide = self.view, usage_texts.name_cells(width)
        named = usage_texts.column_name(column, view.step, figures.today)
        there = usage_figures.column_rows(figures, column)
        room = width - wide - _LIST_CELLS - 1
        cells = usage_texts.cells(figures.table, view.unit, named, there.get, room=room)
        wide = usage_texts.widened(wide, room - sum(cell.width for cell in cells), self._rows, view.by)
        self._heading.show_text(" " * _LIST_CELLS + usage_texts.heading(view.by, cells, wide) if self._rows else "")
        signs = usage_figures.series_of(figures, view)

        figures_of = {row.group: usage_texts.line(row, cells) for row in self._rows}

        def drawn(row: UsageRow, _: int) -> list[Row]:
            text = usage_texts.name(row, view.by, wide) + figures_of[row.group]
            return [(key(signs[row.group]), (text, "text"))]

        _, span = usage_texts.SPANS[view.step]
        self.list.note = usage_texts.EMPTY.format(span=span)
        self.list.active = not view.in_plot
        items: list[Draw] = [partial(drawn, row) for row in self._rows]
        if figures.table.more:
            more = " " * _LIST_CELLS + usage_texts.MORE.format(count=figures.table.more)
            items.append(line((more, "dim")))
        self.list.show(items, self._cursor)
        if self._cursor == len(self._rows) - 1:
            self.list.reveal(len(items) - 1)
        return list(figures_of.values())

    def _choose(self, *, reads: bool = False, **changes: object) -> None:
        """Change the view; ``reads`` is True if that needs other figures."""
        self.view = structs.replace(self.view, **changes)
        if reads:
            self._read()
        else:
            self._show()

    def action_help(self) -> None:
        """Show all keys."""
        from agentdash.tui.dialogs.help import HelpScreen

        self.app.push_screen(HelpScreen(self._keymap, Place.USAGE))

    def action_step(self, step: str) -> None:
        """Show columns of a day, a week or a month."""
        self._choose(step=step, column=None, reads=True)

    def action_group(self) -> None:
        """Change to the next grouping."""
        self._choose(by=_after(GROUPS, self.view.by), group=None, reads=True)

    def action_unit(self) -> None:
        """Show tokens in place of dollars, or dollars again."""
        self._choose(unit=_after(usage_texts.UNITS, self.view.unit))

    def action_column(self, by: int) -> None:
        """Give the keys to the columns, and move to the next or the previous one."""
        starts, column = self._starts, self._column
        if column is not None:
            number = starts.index(column) + by
            self._choose(column=starts[max(0, min(number, len(starts) - 1))], in_plot=True)

    def action_row(self, by: int) -> None:
        """Give the keys to the rows, and move by some rows."""
        rows = self._rows
        if rows:
            number = max(0, min(self._cursor + by, len(rows) - 1))
            self._choose(group=rows[number].group, in_plot=False)

    def action_edge(self, last: bool) -> None:
        """Go to the first or the last row."""
        self.action_row(len(self._rows) if last else -len(self._rows))

    def action_page(self, pages: int) -> None:
        """Move by the rows of a screen."""
        self.action_row(pages * self.list.page_lines)

    @work(exclusive=True, group="open")
    async def action_open(self) -> None:
        """Show the sessions of the column, or of the row over the whole time."""
        figures, view, column = self.figures, self.view, self._column
        if figures is None or column is None:
            return
        row = self._rows[self._cursor] if self._rows and not view.in_plot else None
        group = row.group if row is not None else None
        found = await self._requests.ask(
            self._reader.sessions_of_usage, figures.table.query, group, column if view.in_plot else None
        )
        if not found:
            self._requests.show_refusal(usage_texts.NO_SESSIONS)
            return
        _, span = usage_texts.SPANS[view.step]
        when = usage_texts.column_name(column, view.step, figures.today) if view.in_plot else span
        self.dismiss(ChosenUsage(usage_texts.chosen(when, view.by, row), tuple(found), view))


def _after(choices: Sequence[T], one: T) -> T:
    """Return the choice behind one, the first behind the last."""
    return choices[(choices.index(one) + 1) % len(choices)]
