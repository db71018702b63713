"""The cells that the terminal shows, so that only the changed cells of a new picture are written.

Textual (8.2) writes each region that has to be drawn again from the left edge of its widget, whether it changed or not.
A dialog over the sessions, a theme and a list that moves by a line would each cost a screenful.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

_ODD = (
    "\u00ad\u0300-\u036f\u0483-\u0489\u0590-\u08ff\u0900-\u109f\u1100-\u11ff\u135d-\u135f\u1712-\u1734\u1752-\u1773"
    "\u1780-\u18af\u1900-\u19ff\u1a00-\u1cff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20ff"
    "\u231a\u231b\u23e9-\u23f3\u25fd\u25fe\u2614\u2615\u2648-\u2653\u267f\u2693\u26a1\u26aa\u26ab\u26bd\u26be\u26c4"
    "\u26c5\u26ce\u26d4\u26ea\u26f2\u26f3\u26f5\u26fa\u26fd\u2705\u270a\u270b\u2728\u274c\u274e\u2753-\u2755\u2757"
    "\u2795-\u2797\u27b0\u27bf\u2b1b\u2b1c\u2b50\u2b55\u2cef-\u2cf1\u2de0-\u2dff\u302a-\u302f\u3099\u309a\u3164"
    "\ua66f-\ua67d\ua69e\ua69f\ua6f0\ua6f1\ua800-\uaaff\uabc0-\uabff\ud7b0-\ud7ff\ue000-\uf8ff\ufb1d-\ufdff\ufe00-\ufe0f"
    "\ufe20-\ufe2f\ufe70-\ufeff\uffa0\ufff0-\uffff\U00010a00-\U00012fff\U00013430-\U0001345f\U00016000-\U00016fff"
    "\U0001b000-\U0001ffff\U000323b0-\U0010ffff"
)
"""Combining marks, scripts with vowel signs or right to left, jamo, joiners, emoji, and what no table knows."""

_TEXT = re.compile(f"[^ ]?[{_ODD}](?: ?[^ ])* *")
"""Odd characters, with the one that a mark behind it changes, the rest of the phrase, and the blanks behind that: they
are its room, if the terminal uses more cells."""


class Part(NamedTuple):
    """A part of a line, which begins and ends where all terminals agree.

    An emoji with a skin tone has two cells for Rich 15, four for tmux 3.3a and two to six elsewhere; a vowel sign of
    Devanagari has none, or one.  Whatever follows such a text in the same line of output appears in another column than
    intended, and can overwrite other cells.
    """

    text: str
    cells: int
    each: int
    """Cells of each character, 1 or 2; 0 for an odd text, of which terminals may use another number of cells."""


def parts(text: str) -> tuple[Part, ...]:
    """Divide a text into parts whose characters have the same number of cells in all terminals, and odd phrases."""
    return (Part(text, len(text), 1),) if text.isascii() else _divided(text)


@lru_cache(2_048)
def _divided(text: str) -> tuple[Part, ...]:
    found: list[Part] = []
    end = 0
    for match in _TEXT.finditer(text):
        begin, before = match.start(), end
        end = match.end()
        # Differences, because a character can join others to one, across the border of two parts.
        cells = cell_len(text[:end]) - cell_len(text[:begin])
        found += [*_even(text[before:begin]), Part(_begun(match[0]), cells, 0)]
    return (*found, *_even(text[end:]))


def _even(text: str) -> Iterator[Part]:
    """Yield the runs of characters of one cell, and of two."""
    for each, run in groupby(text, cell_len):
        same = "".join(run)
        yield Part(same, each * len(same), each)


def _begun(text: str) -> str:
    """Return the text without marks at its beginning, which would change the cell to the left of it."""
    return text[next((index for index, char in enumerate(text) if cell_len(char)), len(text)) :]


Text = tuple[int, str, tuple[str, str]]
"""The column at which a text begins, the text, and the sequences before and after it."""

_APART = 6
"""Unchanged cells that cost about as many bytes as the sequence that goes to the cell behind them."""

_MOST_LOOKS = 4_096
_WIDEST = 2
"""Cells that a terminal gives a single character at most."""

_GAP = "  "
"""The gap between phrases: a phrase is written as a whole, so that a record of the output can be searched."""


class Piece(NamedTuple):
    """Cells of a line that were written together."""

    start: int
    end: int
    text: str
    look: tuple[str, str]
    """The sequences before and after the text."""
    each: int
    """Cells of each character; 0 if the terminal may have used other cells than these."""

    def inside(self, start: int, end: int) -> "Piece | None":
        """Return the whole characters between two columns; all or nothing of an odd text."""
        if start <= self.start and self.end <= end:
            return self
        if not self.each:
            return None
        first = -(-max(0, start - self.start) // self.each)
        last = min(end, self.end) - self.start
        last //= self.each
        if first >= last:
            return None
        begin = self.start + first * self.each
        return Piece(begin, self.start + last * self.each, self.text[first:last], self.look, self.each)

    def around(self, start: int, end: int) -> tuple[int, int]:
        """Return the span with the whole of each character of which it has a part."""
        if self.each == 1 or end <= self.start or self.end <= start:
            return start, end
        if not self.each:
            return min(start, self.start), max(end, self.end)
        return (
            start - max(0, start - self.start) % self.each if start > self.start else start,
            end + (self.start - end) % self.each if end < self.end else end,
        )


class Shown:
    """Remembers what each cell of the terminal shows."""

    def __init__(self) -> None:
        self._size = (0, 0)
        self._lines: dict[int, list[Piece]] = {}
        self._looks: dict[Style, tuple[str, str]] = {}

    def show_frame(self, size: tuple[int, int], frame: Mapping[int, Iterable[Text]]) -> None:
        """Note a frame that was drawn before the first picture."""
        self._size = size
        self._lines = {y: [*_laid(line)] for y, line in frame.items()}

    def forget(self) -> None:
        """Write everything of the next picture: the terminal may show anything now."""
        self._lines.clear()

    def texts(self) -> dict[int, list[Text]]:
        """Return what each line of the terminal shows, as :meth:`show_frame` takes it."""
        return {y: [(piece.start, piece.text, piece.look) for piece in line] for y, line in self._lines.items()}

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
            style = segment.style
            look = self.look(_of_blanks(style) if style is not None and segment.text.isspace() else style, console)
            yield from (pieces := _of_text(x, segment.text, look))
            x = pieces[-1].end if pieces else x

    def look(self, style: Style | None, console: Console) -> tuple[str, str]:
        """Return the sequences before and after a text in a style."""
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
        """Return a span with whole characters and odd texts, and with the cells that these can overwrite."""
        for piece in line:
            if piece.each != 1 and piece.start < end and begin < piece.end:
                begin, end = piece.around(begin, end)
                if not piece.each:
                    end = max(end, min(piece.start + _WIDEST * len(piece.text.rstrip()), self._size[0]))
        return begin, end


@lru_cache(_MOST_LOOKS)
def _of_blanks(style: Style) -> Style:
    """Return what of a style is seen in blanks: the ground, unless a line or a swap of the colours shows the rest.

    Textual (8.2) gives the blanks of a screen that is below a dialog a colour that they do not have without it.
    """
    seen = style.reverse or style.underline or style.underline2 or style.strike or style.overline
    return style if seen else Style(bgcolor=style.bgcolor)


def _of_text(x: int, text: str, look: tuple[str, str]) -> list[Piece]:
    """Return the pieces of a text that begins at a column."""
    pieces: list[Piece] = []
    for part in parts(text):
        if part.cells:
            pieces.append(Piece(x, x + part.cells, part.text, look, part.each))
            x += part.cells
    return pieces


def _laid(line: Iterable[Text]) -> Iterator[Piece]:
    """Yield the pieces of a line from its texts, each with its column and its look."""
    for x, text, look in line:
        yield from _of_text(x, text, look)


def _laid_over(old: list[Piece], new: list[Piece]) -> list[Piece]:
    """Return the pieces of a line after new ones were written over it."""
    kept: list[Piece | None] = []
    pending = iter([*new, Piece(_BEHIND, _BEHIND, "", ("", ""), 1)])
    cover = next(pending)
    for piece in old:
        start = piece.start
        while cover.end <= start:
            cover = next(pending)
        while cover.start < piece.end and start < piece.end:
            kept.append(piece.inside(start, cover.start) if cover.start > start else None)
            start = cover.end
            if start < piece.end:
                cover = next(pending)
        kept.append(piece.inside(start, piece.end) if piece.end > start else None)
    return sorted([*filter(None, kept), *new])


_BEHIND = 1 << 30
"""A column behind every line."""


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
    """Return the span in which two overlapping pieces differ, with whole phrases; None if they do not."""
    start, end = max(old.start, new.start), min(old.end, new.end)
    was, is_now = old.inside(start, end), new.inside(start, end)
    if was is None or is_now is None or was.look != is_now.look or was[:2] != is_now[:2] or was.each != is_now.each:
        return old.around(*new.around(start, end))  # half of a wide character is a blank
    if was.text == is_now.text:
        return None
    if not new.each:
        return new.start, new.end
    same, same_end = _alike(was.text, is_now.text), _alike(was.text[::-1], is_now.text[::-1])
    before = (is_now.start - new.start) // new.each
    begin = before + same
    stop = before + len(is_now.text) - min(same_end, len(is_now.text) - same)
    left, right = new.text.rfind(_GAP, 0, begin), new.text.find(_GAP, stop)
    return (
        new.start + (left + len(_GAP) if left >= 0 else 0) * new.each,
        new.start + (right if right >= 0 else len(new.text)) * new.each,
    )


def _alike(one: str, other: str) -> int:
    """Return the number of characters at the beginning that two texts share."""
    return next((index for index, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), len(one))


def _written(y: int, line: list[Piece], start: int, end: int) -> str:
    """Return what writes the cells of a line between two columns, as far as they are known."""
    out: list[str] = []
    x, look = -1, ("", "")
    for piece in line:
        if piece.start < end and start < piece.end and (part := piece.inside(start, end)) is not None:
            before, after = part.look
            if part.start != x:
                out.append(_go(part.start, y))
            elif part.each and part.look == look:
                before = ""
                out[-1] = out[-1].removesuffix(after)
            x, look = part.end, part.look
            if part.each:
                out.append(f"{before}{part.text}{after}")
            else:
                look = ("", "")  # what follows begins with its own colours
                # Blanks first: the terminal may use fewer cells than there are.  Then the next column by its number.
                blank = f"{before}{' ' * (x - part.start)}{after}{_go(part.start, y)}"
                out.append(f"{blank}{before}{part.text.rstrip()}{after}{_go(x, y)}")
    return "".join(out)


def _go(x: int, y: int) -> str:
    """Return the sequence that moves the cursor."""
    return f"\x1b[{y + 1};{x + 1}H"
