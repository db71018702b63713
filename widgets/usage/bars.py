"""Stacked columns of block characters in any width and height, with the series and the axis of a plot.  Pure.

The largest groups are series with their own names, the others are one.  An axis has a maximum and labels with round
steps.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

EIGHTHS = 8
"""Parts of a cell that a column can end at."""

_PARTS = "▁▂▃▄▅▆▇"

FILLS = "█▓▒░▚≡"
"""A series has a character of its own, so that the plot can be read without colours; the last is for the others."""

UNKNOWN = "?"
"""Above a column whose value is not known, or known in part."""

_WIDEST = 3


class Bar(Struct, frozen=True):
    """One column."""

    parts: tuple[float, ...]
    """The values of the series, from the bottom up, none below 0."""
    unknown: bool = False
    """True if a part of the value is not known."""


Cell = tuple[str, int]
"""A character and the number of its series; -1 for the mark of an unknown value, -2 for an empty cell."""

MARK = -1
EMPTY = -2
_NOTHING: Cell = (" ", EMPTY)


def heights(bar: Bar, maximum: float, rows: int) -> tuple[int, ...]:
    """Return the heights of the parts in eighths of a row: together the rounded height of the column.

    A value above 0 has at least one eighth, so that it is never drawn as nothing.
    """
    whole = sum(_safe(part) for part in bar.parts)
    if not 0 < whole < math.inf or not 0 < maximum < math.inf:
        return (0,) * len(bar.parts)
    height = max(1, round(min(1.0, whole / maximum) * rows * EIGHTHS))
    edges, below = [0], 0.0
    for part in bar.parts:
        below += _safe(part)
        edges.append(min(height, round(below / whole * height)))
    return tuple(upper - lower for lower, upper in pairwise(edges))


def fill(series: int) -> str:
    """Return the character of a series."""
    return FILLS[min(series, len(FILLS) - 1)]


def column(bar: Bar, maximum: float, rows: int) -> list[Cell]:
    """Return the cells of a column, from the bottom up: ``rows`` of them.

    A cell has the character of the series that fills most of it; only the highest cell of a column is a part of one.
    """
    parts = heights(bar, maximum, rows)
    height = sum(parts)
    cells: list[Cell] = []
    for row in range(rows):
        filled = min(EIGHTHS, height - row * EIGHTHS)
        if filled <= 0:
            break
        series = _most(parts, row * EIGHTHS)
        cells.append((fill(series) if filled == EIGHTHS else _PARTS[filled - 1], series))
    if bar.unknown and rows:
        cells = [*cells[: rows - 1], (UNKNOWN, MARK)]
    return [*cells, *[_NOTHING] * (rows - len(cells))]


def _most(parts: Sequence[int], start: int) -> int:
    """Return the series that fills most of the cell that begins at ``start`` eighths."""
    best, most, below = 0, 0, 0
    for number, part in enumerate(parts):
        inside = min(below + part, start + EIGHTHS) - max(below, start)
        if inside > most:
            best, most = number, inside
        below += part
    return best


def _safe(value: float) -> float:
    return value if math.isfinite(value) and value > 0 else 0.0


class Layout(Struct, frozen=True):
    """The place of the columns in a width."""

    first: int
    """The number of the first column that is shown."""
    shown: int
    bar: int
    """Cells of a column."""
    gap: int
    """Cells between two columns."""

    @property
    def width(self) -> int:
        """The cells that all shown columns take."""
        return max(0, self.shown * (self.bar + self.gap) - self.gap)

    def left(self, number: int) -> int:
        """Return the first cell of a shown column."""
        return (number - self.first) * (self.bar + self.gap)


def layout(count: int, width: int, cursor: int) -> Layout:
    """Return the widest columns of which all fit into ``width``; else the narrowest, as many as fit.

    If some do not fit, the newest are shown, or those up to the cursor if that is earlier.
    """
    for bar, gap in ((_WIDEST, 1), (2, 1), (1, 1), (1, 0)):
        fits = (width + gap) // (bar + gap)
        if count <= fits:
            return Layout(0, count, bar, gap)
    fits = max(0, width)
    first = count - fits
    return Layout(max(0, min(first, cursor)), min(count, fits), 1, 0)


def captions(labels: Sequence[str], place: Layout) -> str:
    """Return the line below the columns: as many of their labels as fit, the newest first."""
    line = [" "] * place.width
    free = place.width
    for number in range(place.first + place.shown - 1, place.first - 1, -1):
        text = labels[number]
        # A label ends with its column, so that the newest one does not leave the plot.
        end = place.left(number) + place.bar
        start = end - len(text)
        if start >= 0 and end <= free:
            line[start:end] = text
            free = start - 2
    return "".join(line).rstrip()


_ROUND = (1.0, 2.0, 2.5, 5.0)
_MOST_APART = 4
_FAR_APART = 6
_FAR_FROM = 20
"""Rows from which labels can be further apart: with more steps to choose from, a high plot leaves less of it free."""
_USUALLY_APART = 2
_LEAST = 1e-9
"""The least top of an axis: below it, floats lose their precision."""
_ONE_BY_ONE = 6
"""Rows up to which each row may have a label."""


class Axis(Struct, frozen=True):
    """The scale of a plot."""

    maximum: float
    """The value at the upper edge of the highest row."""
    labels: tuple[tuple[int, str], ...]
    """Rows, counted from 0 at the bottom, and the value at their upper edge as text."""

    @property
    def width(self) -> int:
        """The cells of the widest label."""
        return max((len(text) for _, text in self.labels), default=0)


def axis(top: float, rows: int, words: Callable[[float], str]) -> Axis:
    """Return the smallest axis with round steps that reaches ``top``.

    Args:
        top: the highest value, at least 0.
        rows: the lines of the plot, at least 1.
    """
    top = max(top, _LEAST) if math.isfinite(top) and top > 0 else 1.0
    rows = max(1, rows)
    most = _FAR_APART if rows >= _FAR_FROM else min(_MOST_APART, rows)
    apart = range(1 if rows <= _ONE_BY_ONE else 2, most + 1)
    step, between = min(
        ((_round_up(top * rows_apart / rows), rows_apart) for rows_apart in apart),
        key=lambda pair: (pair[0] / pair[1], abs(pair[1] - _USUALLY_APART)),
    )
    labelled = range(between, rows + 1, between)
    return Axis(step * rows / between, tuple((row - 1, words(row // between * step)) for row in labelled))


def _round_up(least: float) -> float:
    """Return the smallest round number that is not below ``least``."""
    power = 10.0 ** math.floor(math.log10(least))
    fitting = (one * power for one in (*_ROUND, 10.0) if one * power >= least * (1 - 1e-12))
    return next(fitting, 10.0 * power)


MOST = len(FILLS)


def leading(names: Sequence[str]) -> tuple[str, ...]:
    """Return the groups that have a series of their own; ``names`` are all groups, the largest first."""
    return tuple(names if len(names) <= MOST else names[: MOST - 1])


def number_of(name: str, own: Sequence[str]) -> int:
    """Return the number of a group's series: its own, or that of the others."""
    return own.index(name) if name in own else MOST - 1


def bar(values: Mapping[str, float | None], own: Sequence[str], *, unknown: bool = False) -> Bar:
    """Return the column of these groups and values; None is not known."""
    parts = [0.0] * MOST
    for name, value in values.items():
        parts[number_of(name, own)] += value or 0.0
    return Bar(tuple(parts), unknown or any(value is None for value in values.values()))
