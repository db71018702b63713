"""Foreign text made safe to print, and cut to a number of cells.

What an agent prints may hold escape sequences that rewrite the screen or the clipboard, and characters that
reorder or hide text.  None of it reaches a terminal.  Everything visible stays: ``[/red]`` is text.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_STRING = r"[^\x07\x1b\x90\x98\x9c-\x9f\n]*(?:\x07|\x1b\\|\x9c)"
"""The rest of a control string; it ends where another begins, else many that never end would be gone through again
and again."""

_INVISIBLE_ONES = (
    r"\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e"
    r"\u2060-\u206f\ufeff\ufff9-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff"
)
"""DEL, the C1 controls, and what reorders or hides text: the inside of a character class."""

UNSAFE = re.compile(rf"[{_INVISIBLE_ONES}\u2028\u2029]")
"""What JSON may hold and no terminal should get."""

_CSI = r"[0-?]*[ -/]*[@-~]"
_REMOVED = re.compile(
    rf"[\x00-\x08\x0b\x0c\x0e-\x1f{_INVISIBLE_ONES}]"  # one class first: the search for it is fast
    r"(?:(?<=\x1b)\[" + _CSI +  # CSI: colours, cursor movement
    r"|(?<=\x9b)" + _CSI +
    r"|(?<=\x1b)\]" + _STRING +  # OSC: title, clipboard, links
    r"|(?<=\x1b)[PX^_]" + _STRING +  # DCS, SOS, PM, APC
    r"|(?<=[\x90\x98\x9d-\x9f])" + _STRING +
    r"|(?<=\x1b)[ -/]*[0-~])?"  # the short sequences
)  # fmt: skip
_BREAKS = re.compile("[\r\u2028\u2029]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_SUSPECT = re.compile(rf"[\x00-\x08\x0b-\x1f{_INVISIBLE_ONES}\u2028\u2029\ud800-\udfff]")
"""A text without any of these is clean; one search for them costs a quarter of the substitutions."""

_HARMLESS = b"\t\n" + bytes(range(0x20, 0x7F))

_COLOUR = re.compile("(\x1b\\[(?:[012]|3[1-6])m)")
"""The colours in which the command line paints what it prints, and their end."""
_INVISIBLE = frozenset({"Mn", "Me", "Cf", "Cc"})
_SHAPED = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Signs that stand among the invisible format characters although they have a shape."""

_WIDE = re.compile("[\u2630-\u2637\u268a-\u268f\u4dc0-\u4dff\U0001d300-\U0001d356\U0001d360-\U0001d376]")
"""Wide since Unicode 16, which this Python may not know."""


def clean(text: str) -> str:
    """The text without control, escape, bidirectional and invisible characters.

    Kept are newline, tab and the joiners that scripts and emoji need.  A lone carriage return becomes a
    newline, so that what a progress bar overwrote is shown and not hidden.
    """
    if text.isascii():
        if text.isprintable() or not text.encode().translate(None, _HARMLESS):
            return text
    elif _SUSPECT.search(text) is None:
        return text
    text = _BREAKS.sub("\n", _REMOVED.sub("", text.replace("\r\n", "\n")))
    return _SURROGATES.sub("\ufffd", text)


def clean_but_colours(text: str) -> str:
    """The cleaned text with its colours: for lines that are painted already."""
    return "".join(part if n % 2 else clean(part) for n, part in enumerate(_COLOUR.split(text)))


def one_line(text: str, width: int | None = None) -> str:
    """The cleaned text on one line, runs of blanks joined, cut to ``width`` cells where one is given."""
    line = " ".join(clean(text).split())
    return line if width is None else cut(line, width)


def cell_width(text: str) -> int:
    """How many terminal cells the text takes: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def cut(text: str, width: int) -> str:
    """At most ``width`` cells; ``…`` at the end where something was cut."""
    if cell_width(text) <= width:
        return text
    return _head(text, width - 1) + "…" if width > 0 else ""


def cut_left(text: str, width: int) -> str:
    """At most ``width`` cells, cut from the left: the end of a path tells more than its beginning."""
    if cell_width(text) <= width:
        return text
    return "…" + _head(text[::-1], width - 1)[::-1] if width > 0 else ""


def whole_names(names: Iterable[str], width: int, gap: str = " ") -> str:
    """As many whole names as fit into ``width`` cells, with a gap between them; ``…`` where some are left out.

    The first one stands there in any case, torn where it must be.
    """
    listed = list(names)
    shown = listed[:]
    while len(shown) > 1 and cell_width(_with_rest(shown, listed, gap)) > width:
        shown.pop()
    return cut(_with_rest(shown, listed, gap), width)


def _with_rest(shown: list[str], listed: list[str], gap: str) -> str:
    return gap.join(shown if len(shown) == len(listed) else [*shown, "…"])


def pad(text: str, width: int, *, right: bool = False) -> str:
    """The text filled with blanks to ``width`` cells; ``right`` aligns it to the right."""
    blanks = " " * (width - cell_width(text))
    return blanks + text if right else text + blanks


def shorten(text: str, length: int) -> str:
    """At most ``length`` characters including the ``…`` that stands where something was cut."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


@lru_cache(4_096)
def _cells(char: str) -> int:
    """Never fewer than a terminal or Rich takes for it: what has too much room still fits."""
    category = unicodedata.category(char)
    if category in _INVISIBLE and char not in _SHAPED:
        return 0
    # A character that this Python does not know may be a new emoji.
    wide = unicodedata.east_asian_width(char) in "WF" or category == "Cn" or _WIDE.match(char)
    return 2 if wide else 1


def _head(text: str, width: int) -> str:
    """The longest beginning that fits."""
    used = 0
    for position, char in enumerate(text):
        used += _cells(char)
        if used > width:
            return text[:position]
    return text
