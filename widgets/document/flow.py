"""Wrap coloured text to rows: like ``wrap``, for a line of several spans."""

from collections.abc import Iterable, Iterator, Sequence

from agentdash.sessions.text.sanitize import cell_width, cut
from agentdash.widgets.drawing.spans import Row, Span, cuts

NUMBERED = 60
"""Least width of a pane, in cells, that shows line numbers."""

LEAST_ROOM = 8
"""Cells that the text keeps at any depth of indentation."""


def flow(spans: Sequence[Span], width: int, first: Row = (), rest: Row | None = None) -> list[Row]:
    """The rows of one line without newlines: none wider than ``width``, at least one.

    Args:
        width: cells of a row.
        first: leads the first row.
        rest: leads the other rows; defaults to ``first``.
    """
    first = fitted(first, width - LEAST_ROOM)
    rest = first if rest is None else fitted(rest, width - LEAST_ROOM)
    text = "".join(part for part, _ in spans)
    parts = _slices(spans, cuts(text, width - row_width(first), width - row_width(rest)))
    return [(*(rest if number else first), *part) for number, part in enumerate(parts)]


def dotted(facts: Iterable[Span], width: int) -> list[Row]:
    """Short texts with dots between them; a text that does not fit begins a new row."""
    rows: list[Row] = [()]
    for fact in facts:
        longer = (*rows[-1], *([(" · ", "dim")] if rows[-1] else []), fact)
        if row_width(longer) <= width:
            rows[-1] = longer
        else:
            rows = [row for row in rows if row] + flow([fact], width)
    return rows


def cut_spans(spans: Iterable[Span], width: int) -> list[Span]:
    """The spans cut to ``width`` cells, with ``…`` at the end if they are longer."""
    kept: list[Span] = []
    for text, role in spans:
        whole = row_width(kept) + cell_width(text) <= width
        kept.append((text if whole else cut(text, width - row_width(kept)), role))
        if not whole:
            break
    return kept


def lines_of(spans: Iterable[Span]) -> list[list[Span]]:
    """The spans of each line; at least one line."""
    lines: list[list[Span]] = [[]]
    for text, role in spans:
        first, *others = text.split("\n")
        if first:
            lines[-1].append((first, role))
        lines += [[(other, role)] if other else [] for other in others]
    return lines


def row_width(row: Iterable[Span]) -> int:
    """The width of a row in cells."""
    return sum(cell_width(text) for text, _ in row)


def fitted(margin: Row, width: int) -> Row:
    """The beginning of a margin that fits in ``width``.  Each of its characters takes one cell."""
    if row_width(margin) <= width:
        return margin
    kept: list[Span] = []
    for text, role in margin:
        kept.append((text[: max(0, width)], role))
        width -= len(text)
    return tuple(kept)


def filled(row: Row, width: int, role: str) -> Row:
    """The row padded with blanks to ``width``, so that its background reaches the edge."""
    missing = width - row_width(row)
    return (*row, (" " * missing, role)) if missing > 0 else row


def _slices(spans: Sequence[Span], places: Iterable[tuple[int, int]]) -> Iterator[Row]:
    """The parts of the spans between each two places; the places are in ascending order."""
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
