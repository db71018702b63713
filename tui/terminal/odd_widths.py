"""Texts whose width terminals count differently: where they begin and end in a line.

An emoji with a skin tone has two cells for Rich 15, four for tmux 3.3a and two to six elsewhere; a vowel sign of
Devanagari has none, or one.  Whatever follows such a text in the same line of output appears in another column than
intended, and can overwrite other cells.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from rich.cells import cell_len

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
    """A part of a line."""

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
