"""Coloured text wrapped to rows: like ``wrap``, for a line that consists of several spans."""

from collections.abc import Iterable, Iterator, Sequence

from ...sessions.text.sanitize import cell_width
from ..drawing.spans import Row, Span
from ..drawing.wrap import cuts

NUMBERED = 60
"""Cells of a pane from which on the numbers of lines stand beside them."""

LEAST_ROOM = 8
"""Cells that the text keeps however deep it is indented."""


def flow(spans: Sequence[Span], width: int, first: Row = (), rest: Row | None = None) -> list[Row]:
    """One line without newlines as rows, none wider than ``width``; never empty.

    Args:
        spans: the line.
        width: cells of a row.
        first: what leads the first row.
        rest: what leads the others; as ``first`` where nothing is said.
    """
    first = fitted(first, width - LEAST_ROOM)
    rest = first if rest is None else fitted(rest, width - LEAST_ROOM)
    text = "".join(part for part, _ in spans)
    parts = _slices(spans, cuts(text, width - row_width(first), width - row_width(rest)))
    return [(*(rest if number else first), *part) for number, part in enumerate(parts)]


def dotted(facts: Iterable[Span], width: int) -> list[Row]:
    """Short texts one after the other with dots between them; what does not fit begins a new row."""
    rows: list[Row] = [()]
    for fact in facts:
        longer = (*rows[-1], *([(" · ", "dim")] if rows[-1] else []), fact)
        if row_width(longer) <= width:
            rows[-1] = longer
        else:
            rows = [row for row in rows if row] + flow([fact], width)
    return rows


def lines_of(spans: Iterable[Span]) -> list[list[Span]]:
    """The spans by line; never empty."""
    lines: list[list[Span]] = [[]]
    for text, role in spans:
        first, *others = text.split("\n")
        if first:
            lines[-1].append((first, role))
        lines += [[(other, role)] if other else [] for other in others]
    return lines


def row_width(row: Iterable[Span]) -> int:
    """Cells of a row."""
    return sum(cell_width(text) for text, _ in row)


def fitted(margin: Row, width: int) -> Row:
    """The beginning of a margin that fits; mostly all of it.  Its characters take one cell each."""
    if row_width(margin) <= width:
        return margin
    kept: list[Span] = []
    for text, role in margin:
        kept.append((text[: max(0, width)], role))
        width -= len(text)
    return tuple(kept)


def filled(row: Row, width: int, role: str) -> Row:
    """The row with blanks up to ``width``, so that a background reaches the edge."""
    missing = width - row_width(row)
    return (*row, (" " * missing, role)) if missing > 0 else row


def _slices(spans: Sequence[Span], places: Iterable[tuple[int, int]]) -> Iterator[Row]:
    """The parts of the spans between each two places, which come in their order."""
    number, begin = 0, 0
    for start, end in places:
        row: list[Span] = []
        while number < len(spans) and begin < end:
            text, role = spans[number]
            part = text[max(0, start - begin) : end - begin]
            if part:
                row.append((part, role))
            if begin + len(text) > end:
                break
            begin += len(text)
            number += 1
        yield tuple(row)
