"""Decorations of steps: the cursor's edge, numbers, search matches, and the line above new steps."""

from msgspec import Struct

from agentdash.widgets.drawing.spans import Row
from agentdash.widgets.steps.step_lines import rule


class Unread(Struct, frozen=True):
    """The first step that the user has not seen, with a label for the new steps."""

    item: int
    label: str

    def row(self, width: int) -> Row:
        """A rule with the label."""
        return rule(self.label, width, role="good")


def edged(row: Row, cells: int = 1) -> Row:
    """The row moved right, for the cursor.  The blanks take the first role: each change costs bytes."""
    (text, role), *rest = row
    return ((" " * cells + text, role), *rest)


def numbered(rows: list[Row], number: int, cells: int) -> list[Row]:
    """The rows of a step moved right for the cursor, and by ``cells`` for the step's number in the first of them."""
    if not cells:
        return [edged(row) for row in rows]
    first, *rest = rows
    label = f" {number:>{cells - 1}} " if number > 0 else " " * (cells + 1)
    return [((label, "dim"), *first), *(edged(row, cells + 1) for row in rest)]


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
