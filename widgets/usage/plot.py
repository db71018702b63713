"""The plot of usage: stacked columns with an axis, a legend, a cursor below one of the columns, and rows below them."""

from collections.abc import Callable, Sequence

from msgspec import Struct
from textual.geometry import Size
from textual.strip import Strip

from agentdash.sessions.text.sanitize import cell_width, cut, cut_left, one_line, pad
from agentdash.widgets.drawing.painted_view import PaintedView
from agentdash.widgets.drawing.spans import Span
from agentdash.widgets.lists.row_list import Draw, RowList
from agentdash.widgets.usage import bars
from agentdash.widgets.usage.bars import Axis, axis

_LEGEND_FROM = 98
"""Cells of a plot that has a legend; a narrower one has its signs in the table below."""
_LEGEND_CELLS = 34
_LEGEND_NAME = 20
_BELOW = 2
"""Lines below the columns."""


class Picture(Struct, frozen=True):
    """The contents of a plot."""

    columns: tuple[bars.Bar, ...] = ()
    labels: tuple[str, ...] = ()
    """The names of the columns."""
    legend: tuple[tuple[int, str, str], ...] = ()
    """Series, name and value as text, from the bottom up."""
    words: Callable[[float], str] = str
    """Writes a value of the axis."""
    ends: bool = False
    """True if names differ at their ends, as paths do: these are kept if a name is cut."""


class UsagePlot(PaintedView, can_focus=False):
    """Draws a picture into any size, and moves a cursor through its columns."""

    DEFAULT_CSS = "UsagePlot { overflow: hidden; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._picture = Picture()
        self.cursor = 0
        """The number of the column under the cursor."""
        self.active = False
        """True if the keys act on the columns."""
        self._lines: list[list[Span]] | None = None

    def show(self, picture: Picture, cursor: int, *, active: bool) -> None:
        """Show a picture; draws only if something differs."""
        cursor = max(0, min(cursor, len(picture.columns) - 1))
        if (picture, cursor, active) != (self._picture, self.cursor, self.active):
            self._picture, self.cursor, self.active = picture, cursor, active
            self.forget_strips()
            self.refresh()

    def on_resize(self) -> None:
        """Draw into the new size."""
        self.forget_strips()

    def forget_strips(self) -> None:
        """Drop all drawn lines."""
        self._lines = None

    def show_focus(self) -> None:
        """Nothing differs: the screen has the keys."""

    def render_line(self, y: int) -> Strip:
        """One line of the plot."""
        if self._lines is None:
            self._lines = drawn(self._picture, self.size.width, self.size.height, self.cursor, active=self.active)
        spans = self._lines[y] if y < len(self._lines) else []
        return self._painter.strip(spans, self.size.width)


def drawn(picture: Picture, width: int, height: int, cursor: int, *, active: bool = False) -> list[list[Span]]:
    """Return the lines of a plot, at most ``height``, none wider than ``width``."""
    rows = height - _BELOW
    if rows < 1 or not any(sum(one.parts) or one.unknown for one in picture.columns):
        return []
    scale = axis(max(sum(one.parts) for one in picture.columns), rows, picture.words)
    legend = _legend(picture) if width >= _LEGEND_FROM else []
    room = width - scale.width - 2 - (_LEGEND_CELLS if legend else 0)
    if room < 1:
        return []
    place = bars.layout(len(picture.columns), room, cursor)
    lines = _columns(picture, scale, rows, place, cursor if active else -1)
    for (number, line), entry in zip(enumerate(lines), legend, strict=False):
        lines[number] = [*line, (" " * (room - place.width + 2), ""), *entry]
    return [*lines, *_feet(picture, place, scale.width, cursor, active=active)]


def _columns(picture: Picture, scale: Axis, rows: int, place: bars.Layout, chosen: int) -> list[list[Span]]:
    shown = range(place.first, place.first + place.shown)
    cells = [bars.column(picture.columns[n], scale.maximum, rows) for n in shown]
    labels = dict(scale.labels)
    lines = []
    for row in reversed(range(rows)):
        line: list[Span] = [(f"{labels.get(row, ''):>{scale.width}} │", "dim")]
        for number, column in zip(shown, cells, strict=True):
            char, series = column[row]
            over = "cursor-blurred" if number == chosen else ""
            line.append((char * place.bar, role(series) or over))
            line.append((" " * place.gap, ""))
        lines.append(line[:-1] if place.gap else line)
    return lines


def _feet(picture: Picture, place: bars.Layout, left: int, cursor: int, *, active: bool) -> list[list[Span]]:
    """Return the base line with the cursor, and the names of the columns."""
    start, end = place.left(cursor), place.left(cursor) + place.bar
    base: list[Span] = [
        (" " * (left + 1) + "└" + "─" * start, "dim"),
        ("▴" * place.bar, "match" if active else "strong"),
        ("─" * (place.width - end), "dim"),
    ]
    return [base, [(" " * (left + 2) + bars.captions(picture.labels, place), "dim")]]


def _legend(picture: Picture) -> list[list[Span]]:
    """Return the legend's lines, the highest series first, as in the columns."""
    wide = max((cell_width(value) for *_, value in picture.legend), default=0)
    room = max(4, min(_LEGEND_NAME, _LEGEND_CELLS - 6 - wide))
    kept = cut_left if picture.ends else cut
    return [
        [key(series), (f"{pad(kept(one_line(name), room), room)} {value:>{wide}}", "text")]
        for series, name, value in reversed(picture.legend)
    ]


def key(series: int) -> Span:
    """Return the sign of a series, as the columns have it."""
    return f"{bars.fill(series)} ", role(series)


def role(series: int) -> str:
    """Return the role of the colour of a series, or of a mark."""
    return f"series-{series}" if series >= 0 else "attention" if series == bars.MARK else ""


class UsageRows(RowList):
    """A list whose cursor is pale while the keys act on the columns of the plot."""

    active = True
    """True if the keys act on the rows."""

    def show(self, items: Sequence[Draw], cursor: int = 0) -> None:
        """Show other items; the plot above gets the lines that a shorter list leaves."""
        other = len(items) != self.count()
        super().show(items, cursor)
        if other:
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - as Textual declares it
        """The lines of all items; one for the note."""
        return max(1, self.count())

    @property
    def is_pale(self) -> bool:
        """True if the keys act on the columns."""
        return not self.active
