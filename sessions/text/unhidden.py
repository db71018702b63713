"""Signs with numbers for the parts of a hostile text that a reader would not see: ``make ⟨6,000 blanks⟩; touch x``.

A text that the user allows must not have a part that is off the screen, invisible, or like a blank.  Signs
replace long runs of blanks and of empty lines, characters without a picture, and floods of combining marks.
"""

import re
import unicodedata
from itertools import groupby

from agentdash.sessions.text.sanitize import INVISIBLE_ONES, one_line

INDENT = 40
"""Most blanks at the beginning of a line that are shown as they are; a tab counts as ``TAB``."""
GAP = 20
"""Most blanks inside a line that are shown as they are."""
EMPTY_LINES = 3
"""Most empty lines, one after the other, that are shown as they are."""
MARKS = 3
"""Most combining marks on one character that are shown as they are."""
TAB = 4

_ODD = "\xa0\u115f\u1160\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0"
"""Characters with the picture of a blank that no shell takes for one."""
_JOINERS = "\u200c\u200d\ufe00-\ufe0f"
_HIDDEN = rf"\x00-\x08\x0b-\x1f{INVISIBLE_ONES}\u034f\u17b4\u17b5\u180b-\u180f\u2028\u2029{_JOINERS}"
_NOTHING = rf"[ \t{_ODD}{_HIDDEN}]"

_EMPTY = re.compile(rf"(?:\A|(?<=\n))(?:{_NOTHING}*\n){{{EMPTY_LINES + 1},}}")
_JOINS = rf"(?<=[^\x00-\x7f])[{_JOINERS}]{{1,2}}(?![{_ODD}{_HIDDEN}])|\ufe0f(?=\u20e3)"
"""Invisible characters between two others, as scripts and emoji need them."""
_RUN = re.compile(
    rf"(?P<joins>{_JOINS})|[ \t]{{{GAP // TAB + 1},}}{_NOTHING}*|[{_ODD}{_HIDDEN}](?:{_NOTHING}*[{_ODD}{_HIDDEN}])?"
)
_BLANK = re.compile(rf"[ \t{_ODD}]+")
_BEYOND_LATIN = re.compile(rf"[^\x00-\u02ff]{{{MARKS + 1},}}")
_NAMES = {"\x00": "NUL", "\r": "CR", "\x1b": "ESC", "\x7f": "DEL", "\xa0": "NBSP"}


def unhidden(text: str) -> str:
    """Return the text with a sign in place of each run of characters that a reader would not see."""
    text = _EMPTY.sub(lambda found: f"⟨{found[0].count(chr(10)):,} empty lines⟩\n", text.replace("\r\n", "\n"))
    text = _RUN.sub(_sign, text)
    return text if text.isascii() else _BEYOND_LATIN.sub(_marks, text)


def unhidden_line(text: str, width: int | None = None) -> str:
    """Return the text with its signs as one clean line, cut to ``width`` cells if it is given."""
    return one_line(unhidden(text), width)


def opening(text: str) -> str:
    """Return the first line of a text, with ``…`` if it has more."""
    line, more, _ = text.strip().partition("\n")
    return f"{line} …" if more else line


def _sign(found: re.Match[str]) -> str:
    run = found[0]
    if found["joins"]:
        return run
    if not run.strip(" \t"):
        short = len(run.expandtabs(TAB)) <= (INDENT if _begins_line(found.string, found.start()) else GAP)
        return run if short else f"⟨{len(run):,} {'blanks' if ' ' in run else 'tabs'}⟩"
    if len(run) == 1:
        return f"⟨{_NAMES.get(run, f'U+{ord(run):04X}')}⟩"
    return f"⟨{len(run):,} {'blanks' if _BLANK.fullmatch(run) else 'hidden characters'}⟩"


def _begins_line(text: str, at: int) -> bool:
    """Return whether a line begins at a place, or one of a diff before its sign."""
    signed = at > 0 and text[at - 1] in "+-"
    return at - signed == 0 or text[at - signed - 1] == "\n"


def _marks(found: re.Match[str]) -> str:
    """Return the characters, with a sign in place of each flood of combining marks."""
    parts = []
    for mark, group in groupby(found[0], lambda char: unicodedata.category(char) in ("Mn", "Me")):
        chars = "".join(group)
        parts.append(f"⟨{len(chars):,} combining marks⟩" if mark and len(chars) > MARKS else chars)
    return "".join(parts)
