"""Untrusted text made safe to print, and cut to a number of cells.

An agent's output may contain escape sequences that rewrite the screen or the clipboard, and characters that reorder or
hide text.  None of them reaches a terminal.  Everything visible stays: ``[/red]`` is text."""

import codecs
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_STRING = r"[^\x07\x1b\x90\x98\x9c-\x9f\n]*(?:\x07|\x1b\\|\x9c)"
"""The rest of a control string.  It ends where the next one begins; otherwise many unfinished strings would be scanned
again and again."""

INVISIBLE_ONES = (
    r"\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e"
    r"\u2060-\u206f\ufeff\ufff9-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff"
)
"""DEL, the C1 controls, and characters that reorder or hide text: the inside of a character class."""

UNSAFE = re.compile(rf"[{INVISIBLE_ONES}\u2028\u2029]")
"""Characters that JSON may contain and no terminal should get."""

_CSI = r"[0-?]*[ -/]*[@-~]"
_REMOVED = re.compile(
    rf"[\x00-\x08\x0b\x0c\x0e-\x1f{INVISIBLE_ONES}]"  # one class first: the search for it is fast
    r"(?:(?<=\x1b)\[" + _CSI +  # CSI: colours, cursor movement
    r"|(?<=\x9b)" + _CSI +
    r"|(?<=\x1b)\]" + _STRING +  # OSC: title, clipboard, links
    r"|(?<=\x1b)[PX^_]" + _STRING +  # DCS, SOS, PM, APC
    r"|(?<=[\x90\x98\x9d-\x9f])" + _STRING +
    r"|(?<=\x1b)[ -/]*[0-~])?"  # the short sequences
)  # fmt: skip
_BREAKS = re.compile("[\r\u2028\u2029]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_SUSPECT = re.compile(rf"[\x00-\x08\x0b-\x1f{INVISIBLE_ONES}\u2028\u2029\ud800-\udfff]")
"""A text without any of these is clean; one search for them takes a quarter of the substitutions' time."""

_HARMLESS = b"\t\n" + bytes(range(0x20, 0x7F))

_COLOUR = re.compile("(\x1b\\[(?:[012]|3[1-6])m)")
"""The colours of the command line's own output, and their end."""
_INVISIBLE = frozenset({"Mn", "Me", "Cf", "Cc"})
_SHAPED = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Visible signs that Unicode lists among the invisible format characters."""

_WIDE = re.compile("[\u2630-\u2637\u268a-\u268f\u4dc0-\u4dff\U0001d300-\U0001d356\U0001d360-\U0001d376]")
"""Wide since Unicode 16, which this Python may not know."""


def clean(text: str) -> str:
    """Return the text without control, escape, bidirectional and invisible characters.

    Newlines, tabs and the joiners that scripts and emoji need are kept.  A lone carriage return becomes a newline, so
    that the text that a progress bar overwrote is shown and not hidden.
    """
    if text.isascii():
        if text.isprintable() or not text.encode().translate(None, _HARMLESS):
            return text
    elif _SUSPECT.search(text) is None:
        return text
    text = _BREAKS.sub("\n", _REMOVED.sub("", text.replace("\r\n", "\n")))
    return _SURROGATES.sub("\ufffd", text)


def clean_but_colours(text: str) -> str:
    """Return the cleaned text with its colours: for lines that are already coloured."""
    return "".join(part if n % 2 else clean(part) for n, part in enumerate(_COLOUR.split(text)))


def one_line(text: str, width: int | None = None) -> str:
    """Return the cleaned text on one line, with runs of blanks joined, cut to ``width`` cells if it is given."""
    line = " ".join(clean(text).split())
    return line if width is None else cut(line, width)


def cell_width(text: str) -> int:
    """Return the number of terminal cells of the text: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def cut(text: str, width: int) -> str:
    """Cut the text to at most ``width`` cells, with ``…`` at the end if it is longer."""
    if cell_width(text) <= width:
        return text
    return _head(text, width - 1) + "…" if width > 0 else ""


def cut_left(text: str, width: int) -> str:
    """Cut the text from the left to at most ``width`` cells: the end of a path matters more than its beginning."""
    if cell_width(text) <= width:
        return text
    return "…" + _head(text[::-1], width - 1)[::-1] if width > 0 else ""


def cut_middle(text: str, width: int) -> str:
    """Cut the text in its middle to at most ``width`` cells: commands often differ only at their ends."""
    if cell_width(text) <= width:
        return text
    tail = (width - 1) // 2
    return _head(text, width - 1 - tail) + "…" + _head(text[::-1], tail)[::-1] if width > 0 else ""


def whole_names(names: Iterable[str], width: int, gap: str = " ") -> str:
    """Return the first names that fit whole into ``width`` cells, with a gap between them; ``…`` if some are left out.

    The first name is always there, cut if it does not fit.
    """
    listed = list(names)
    shown = listed[:]
    while len(shown) > 1 and cell_width(_with_rest(shown, listed, gap)) > width:
        shown.pop()
    return cut(_with_rest(shown, listed, gap), width)


def _with_rest(shown: list[str], listed: list[str], gap: str) -> str:
    return gap.join(shown if len(shown) == len(listed) else [*shown, "…"])


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Return the text padded with blanks to ``width`` cells; ``right`` aligns it to the right."""
    blanks = " " * (width - cell_width(text))
    return blanks + text if right else text + blanks


def shorten(text: str, length: int) -> str:
    """Cut the text to at most ``length`` characters, including the ``…`` at the end if it is longer."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


@lru_cache(4_096)
def _cells(char: str) -> int:
    """Return the cells of a character, never fewer than a terminal or Rich uses: too much room does no harm."""
    category = unicodedata.category(char)
    if category in _INVISIBLE and char not in _SHAPED:
        return 0
    # A character that is unknown to this Python may be a new emoji.
    wide = unicodedata.east_asian_width(char) in "WF" or category == "Cn" or _WIDE.match(char)
    return 2 if wide else 1


def _head(text: str, width: int) -> str:
    """Return the longest beginning that fits into ``width`` cells."""
    used = 0
    for position, char in enumerate(text):
        used += _cells(char)
        if used > width:
            return text[:position]
    return text


HELD_CHARACTERS = 1 << 20
"""The most characters of an unfinished line that are held back for the rest of a sequence."""

_INTRODUCERS = "\x1b\x90\x98\x9b\x9d\x9e\x9f\r"
"""Characters that may begin a sequence, or a line end, whose rest comes with the next piece."""


class StreamCleaner:
    """Cleans UTF-8 bytes piece by piece.

    No sequence goes beyond its line, so whole lines are cleaned at once.  In a line that has not ended, the text from
    the first introducer on waits for the rest.  After ``HELD_CHARACTERS`` it is cleaned as it is, which leaves text but
    no control character.
    """

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._held = ""

    def feed(self, data: bytes) -> str:
        """Return the cleaned text that is complete with these bytes."""
        text = self._held + self._decode(data)
        # No later piece can change what is before the end.
        line = text.rfind("\n") + 1
        first = min((at for at in (text.find(sign, line) for sign in _INTRODUCERS) if at >= 0), default=len(text))
        end = first if len(text) - first < HELD_CHARACTERS else len(text)
        self._held = text[end:]
        return clean(text[:end])

    def finish(self) -> str:
        """Return the cleaned rest, after the last bytes."""
        text, self._held = self._held + self._decode(b"", True), ""
        return clean(text)
