"""A Markdown table as rows: columns at full width, narrowed if they must be, or a list if they cannot fit."""

from collections.abc import Sequence
from itertools import zip_longest

from msgspec import Struct

from ..drawing.spans import Row, Span
from .flow import flow, row_width
from .inline import inline_spans

LEAST = 6
"""Fewest cells of a column; if there are fewer, each row becomes a list."""

_BETWEEN: Span = (" │ ", "line")
_CROSSING = "─┼─"

Cell = list[Span]


class Table(Struct, frozen=True):
    """The cells of a table as they were written, and the alignment of its columns."""

    head: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]
    right: tuple[bool, ...]
    """True for each column that is aligned to the right."""

    def rows(self, width: int) -> list[Row]:
        """The rows of the table, none wider than ``width`` cells."""
        head = [inline_spans(cell, "strong") for cell in self.head]
        body = [[inline_spans(cell) for cell in row] for row in self.body]
        widths = _widths([head, *body], width - len(_BETWEEN[0]) * (len(head) - 1))
        if widths is None:
            return _records(self.head, body, width)
        line: Row = ((_CROSSING.join("─" * width for width in widths), "line"),)
        drawn = [self._drawn(row, widths) for row in body]
        rows = [*self._drawn(head, widths), line]
        apart = any(len(lines) > 1 for lines in drawn)
        for number, lines in enumerate(drawn):
            rows += [line, *lines] if apart and number else lines
        return rows

    def _drawn(self, cells: Sequence[Cell], widths: Sequence[int]) -> list[Row]:
        """One row of the table: as many screen rows as its highest cell needs."""
        columns = [flow(cell, width) for cell, width in zip(cells, widths, strict=True)]
        return [self._joined(lines, widths) for lines in zip_longest(*columns, fillvalue=())]

    def _joined(self, lines: Sequence[Row], widths: Sequence[int]) -> Row:
        row: list[Span] = []
        for line, width, right in zip(lines, widths, self.right, strict=True):
            blank: Span = (" " * (width - row_width(line)), "")
            row += [*([_BETWEEN] if row else []), *([blank, *line] if right else [*line, blank])]
        return tuple(row)


def _widths(rows: Sequence[Sequence[Cell]], room: int) -> list[int] | None:
    """The cells of each column: its widest text, or one smaller width for the widest; None if that is too narrow."""
    wanted = [max(1, *map(row_width, column)) for column in zip(*rows, strict=True)]
    most = room
    for number, width in enumerate(sorted(wanted)):
        most = room // (len(wanted) - number)
        if width > most:
            break
        room -= width
        most = width
    return [min(width, most) for width in wanted] if most >= min(LEAST, max(wanted)) else None


def _records(head: Sequence[str], body: Sequence[Sequence[Cell]], width: int) -> list[Row]:
    """Each row as a list of names and values, for a narrow pane."""
    names = ["".join(text for text, _ in inline_spans(name)) for name in head]
    rows: list[Row] = []
    for cells in body:
        rows += [()] if rows else []
        for name, cell in zip(names, cells, strict=True):
            rows += flow([(f"{name}: ", "dim"), *cell], width, (), (("  ", ""),))
    return rows or flow([(", ".join(names), "strong")], width)
