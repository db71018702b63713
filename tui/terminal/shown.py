"""What the terminal shows: of a new picture, only what changed is written.

Textual (8.2) writes each region that has to be drawn again from the left edge of its widget, whether it changed or not.
A dialog over the sessions, a theme and a list that moves by a line would each cost a screenful.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from .odd_widths import parts

_APART = 6
"""Unchanged cells that cost about as many bytes as the sequence that goes to the cell behind them."""

_MOST_LOOKS = 4_096
_WIDEST = 2
"""Cells that a terminal gives a single character at most."""

_GAP = "  "
"""What separates phrases: a phrase is written as a whole, so that a record of the output can be searched."""


class Piece(NamedTuple):
    """Cells of a line that were written together."""

    start: int
    end: int
    text: str
    look: tuple[str, str]
    """The sequences before and after the text."""
    odd: bool
    """True if the terminal may have used other cells than these."""

    @property
    def divisible(self) -> bool:
        """True if each character has a cell of its own."""
        return not self.odd and len(self.text) == self.end - self.start

    def within(self, start: int, end: int) -> str:
        """Return the text between two columns; all of it if it is not divisible."""
        if start <= self.start and self.end <= end:
            return self.text
        return self.text[max(0, start - self.start) : end - self.start]


class Shown:
    """Remembers what each cell of the terminal shows."""

    def __init__(self) -> None:
        self._size = (0, 0)
        self._lines: dict[int, list[Piece]] = {}
        self._looks: dict[Style, tuple[str, str]] = {}

    def forget(self) -> None:
        """Write everything of the next picture: the terminal may show anything now."""
        self._lines.clear()

    def changes(
        self, size: tuple[int, int], lines: Iterable[tuple[int, Iterable[tuple[int, Strip]]]], console: Console
    ) -> str:
        """Return what to write so that the terminal shows these strips.

        Args:
            size: columns and lines of the terminal.
            lines: numbers of lines, and strips with the columns at which they begin, from left to right.
            console: knows the terminal's colours.
        """
        if size != self._size:
            self._size = size
            self.forget()
        return "".join(self._line(y, strips, console) for y, strips in lines)

    def _line(self, y: int, strips: Iterable[tuple[int, Strip]], console: Console) -> str:
        new = [piece for x, strip in strips for piece in self._pieces(x, strip, console)]
        old = self._lines.get(y, [])
        line = self._lines[y] = _laid_over(old, new) if old else new
        spans = _differing(old, new) if old else [(piece.start, piece.end) for piece in new]
        return "".join(_written(y, line, start, end) for start, end in self._widened(spans, line)) if spans else ""

    def _pieces(self, x: int, strip: Strip, console: Console) -> Iterator[Piece]:
        for segment in strip:
            if segment.control or not segment.text:
                continue
            look = self._look(segment.style, console)
            for text, cells, odd in parts(segment.text):
                if cells:
                    yield Piece(x, x + cells, text, look, odd)
                    x += cells

    def _look(self, style: Style | None, console: Console) -> tuple[str, str]:
        if style is None:
            return ("", "")
        look = self._looks.get(style)
        if look is None:
            if len(self._looks) > _MOST_LOOKS:
                self._looks.clear()
            before, _, after = Strip([Segment("\0", style)]).render(console).partition("\0")
            look = self._looks[style] = (before, after)
        return look

    def _widened(self, spans: list[tuple[int, int]], line: list[Piece]) -> Iterator[tuple[int, int]]:
        """Yield the spans with all that must be written with them; near ones as one."""
        begin, end = 0, -_APART - 1
        for start, stop in spans:
            if start - end > _APART:
                if end > begin:
                    yield begin, end
                begin, end = self._whole(start, stop, line)
            else:
                begin, end = self._whole(min(begin, start), max(end, stop), line)
        if end > begin:
            yield begin, end

    def _whole(self, begin: int, end: int, line: list[Piece]) -> tuple[int, int]:
        """Return a span with the whole of each piece that cannot be divided, and the cells that it can overwrite."""
        for piece in line:
            if not piece.divisible and piece.start < end and begin < piece.end:
                begin = min(begin, piece.start)
                reach = piece.start + _WIDEST * len(piece.text.rstrip()) if piece.odd else piece.end
                end = max(end, piece.end, min(reach, self._size[0]))
        return begin, end


def _laid_over(old: list[Piece], new: list[Piece]) -> list[Piece]:
    """Return the pieces of a line after new ones were written over it."""
    kept: list[Piece] = []
    pending = iter([*new, Piece(_BEHIND, _BEHIND, "", ("", ""), False)])
    cover = next(pending)
    for piece in old:
        start = piece.start
        while cover.end <= start:
            cover = next(pending)
        while cover.start < piece.end and start < piece.end:
            kept += _part(piece, start, cover.start)
            start = cover.end
            if start < piece.end:
                cover = next(pending)
        kept += _part(piece, start, piece.end)
    return sorted([*kept, *new])


_BEHIND = 1 << 30
"""A column behind every line."""


def _part(piece: Piece, start: int, end: int) -> list[Piece]:
    """Return what is left of a piece between two columns; what is not known any more, if it cannot be divided."""
    if start <= piece.start and piece.end <= end:
        return [piece]
    if start >= end or not piece.divisible:
        return []
    return [piece._replace(start=start, end=end, text=piece.within(start, end))]


def _differing(old: list[Piece], new: list[Piece]) -> list[tuple[int, int]]:
    """Return the spans of columns in which new pieces differ from old ones, from left to right."""
    spans: list[tuple[int, int]] = []
    first = 0
    for piece in new:
        while first < len(old) and old[first].end <= piece.start:
            first += 1
        known = piece.start
        for index in range(first, len(old)):
            before = old[index]
            if before.start >= piece.end:
                break
            if before.start > known:
                spans.append((known, before.start))
            known = min(before.end, piece.end)
            if piece != before and (span := _difference(before, piece)):
                spans.append(span)
        if known < piece.end:
            spans.append((known, piece.end))
    return spans


def _difference(old: Piece, new: Piece) -> tuple[int, int] | None:
    """Return the span in which two overlapping pieces differ; a phrase is in it as a whole, None if they are equal."""
    start, end = max(old.start, new.start), min(old.end, new.end)
    if not (old.divisible and new.divisible):
        # Half of a wide character is a blank: the rest of the old one goes too.
        return min(start, old.start) if not old.divisible else start, max(end, old.end) if not old.divisible else end
    if old.look != new.look:
        return start, end
    before, after = old.within(start, end), new.within(start, end)
    if before == after:
        return None
    same, same_end = _alike(before, after), _alike(before[::-1], after[::-1])
    begin, stop = start - new.start + same, end - new.start - min(same_end, end - start - same)
    left, right = new.text.rfind(_GAP, 0, begin), new.text.find(_GAP, stop)
    return new.start + (left + len(_GAP) if left >= 0 else 0), new.start + (right if right >= 0 else len(new.text))


def _alike(one: str, other: str) -> int:
    """Return the number of characters at the beginning that two texts share."""
    return next((index for index, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), len(one))


def _written(y: int, line: list[Piece], start: int, end: int) -> str:
    """Return what writes the cells of a line between two columns."""
    out = [_go(start, y)]
    for piece in line:
        if piece.start < end and start < piece.end:
            before, after = piece.look
            text = piece.within(start, end)
            if piece.odd:
                # Blanks first: the terminal may use fewer cells than there are.  Then the next column by its number.
                blank = f"{before}{' ' * (piece.end - piece.start)}{after}{_go(piece.start, y)}"
                out.append(f"{blank}{before}{text.rstrip()}{after}{_go(piece.end, y)}")
            else:
                out.append(f"{before}{text}{after}")
    return "".join(out)


def _go(x: int, y: int) -> str:
    """Return the sequence that moves the cursor."""
    return f"\x1b[{y + 1};{x + 1}H"
