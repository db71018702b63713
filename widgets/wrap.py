"""Text cut into rows of a number of cells: at blanks where there are any, else anywhere."""

from ..sessions.text import cell_width

_MIN_WIDTH = 4


def wrap(text: str, width: int) -> list[str]:
    """The rows of one paragraph without newlines; never empty, never wider than ``width``."""
    width = max(_MIN_WIDTH, width)
    if text.isascii():
        return _wrap_ascii(text, width)
    rows = []
    while cell_width(text) > width:
        at = _fit(text, width)
        at, after = _break_before(text, at)
        rows.append(text[:at])
        text = text[after:]
    return [*rows, text]


def _wrap_ascii(text: str, width: int) -> list[str]:
    """One character is one cell: several times faster, and most tool output is that."""
    rows = []
    start = 0
    while len(text) - start > width:
        end = start + width
        blank = text.rfind(" ", start, end + 1)
        end, following = (blank, blank + 1) if blank > start + width // 3 else (end, end)
        rows.append(text[start:end])
        start = following
    return [*rows, text[start:]]


def _fit(text: str, width: int) -> int:
    """How many characters fit; at least one, so that cutting always gets on."""
    used = 0
    for position, char in enumerate(text):
        used += cell_width(char)
        if used > width:
            return max(1, position)
    return len(text)


def _break_before(text: str, at: int) -> tuple[int, int]:
    """Where the row ends and the next one begins: at the last blank unless that wastes most of the row."""
    blank = text.rfind(" ", 0, at + 1)
    return (blank, blank + 1) if blank > at // 3 else (at, at)
