"""A line of the screen before it is coloured: texts, roles that name their meaning, and where to wrap it."""

import re
from collections.abc import Iterable, Iterator

from agentdash.sessions.text.sanitize import cell_width, cut

Span = tuple[str, str]
"""A text and its role."""

Row = tuple[Span, ...]

_MIN_WIDTH = 4


def cut_row(row: Row, width: int) -> Row:
    """The row cut to ``width`` cells."""
    spans: list[tuple[str, str]] = []
    for text, role in row:
        spans.append((cut(text, width), role))
        width -= cell_width(spans[-1][0])
        if width <= 0:
            break
    return tuple(spans)


def marked(row: Row, needle: str) -> Row:
    """The row with each match of the text in its own role; a lower-case needle ignores case."""
    if not needle:
        return row
    spans: list[tuple[str, str]] = []
    for text, role in row:
        searched = text.lower() if needle.islower() else text
        begin = 0
        while (at := searched.find(needle, begin)) >= 0 and len(searched) == len(text):
            spans += [(text[begin:at], role), (text[at : at + len(needle)], "match")]
            begin = at + len(needle)
        spans.append((text[begin:], role))
    return tuple(spans)


def wrap(text: str, width: int) -> list[str]:
    """The rows of one paragraph without newlines: at least one, none wider than ``width``."""
    return [text[start:end] for start, end in cuts(text, width)]


def cuts(text: str, width: int, below: int | None = None) -> Iterator[tuple[int, int]]:
    """Begin and end of each row of a paragraph; the blank at which a row ends is in no row.

    The rows below the first one are ``below`` cells wide, if that is given.
    """
    width, below = max(_MIN_WIDTH, width), max(_MIN_WIDTH, width if below is None else below)
    return _cuts_ascii(text, width, below) if text.isascii() else _cuts_wide(text, width, below)


def _cuts_ascii(text: str, width: int, below: int) -> Iterator[tuple[int, int]]:
    """One character is one cell here: several times faster, and most tool output is ASCII."""
    start = 0
    while len(text) - start > width:
        end = start + width
        blank = text.rfind(" ", start, end + 1)
        end, following = (blank, blank + 1) if blank > start + width // 3 else (end, end)
        yield start, end
        start, width = following, below
    yield start, len(text)


def _cuts_wide(text: str, width: int, below: int) -> Iterator[tuple[int, int]]:
    start = 0
    while (fit := _fit(text, start, width)) < len(text):
        blank = text.rfind(" ", start, fit + 1)
        # Cut at the last blank, unless that wastes most of the row.
        end, following = (blank, blank + 1) if blank - start > (fit - start) // 3 else (fit, fit)
        yield start, end
        start, width = following, below
    yield start, len(text)


def _fit(text: str, start: int, width: int) -> int:
    """The end of the characters that fit; at least one does, so that cutting always makes progress."""
    used = 0
    for position in range(start, len(text)):
        used += cell_width(text[position])
        if used > width:
            return max(start + 1, position)
    return len(text)


_SHAPERS = re.compile("[\u200c\u200d\ufe0e\ufe0f]")


def painted(text: str) -> str:
    """The text without joiners and variation selectors.

    Terminals and Rich disagree on the width of the characters beside them, which would move or cut off the text to the
    right.
    """
    return text if text.isascii() else _SHAPERS.sub("", text)


def joined(spans: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Neighbours of one role joined into one span: every segment costs about forty bytes of output."""
    joined: list[tuple[str, str]] = []
    for text, role in spans:
        if joined and joined[-1][1] == role:
            joined[-1] = (joined[-1][0] + text, role)
        elif text:
            joined.append((text, role))
    return joined
