"""Decorations of steps: the cursor's edge, search matches, and the line above new steps."""

from msgspec import Struct

from ...sessions.text.sanitize import one_line
from ..drawing.glyphs import Signs
from ..drawing.spans import Row
from ..drawing.wrap import wrap
from .step_lines import rule


class Unread(Struct, frozen=True):
    """The first step that the user has not seen, with a label and a few facts about the new steps."""

    item: int
    label: str
    facts: tuple[str, ...] = ()

    def rows(self, width: int, signs: Signs) -> list[Row]:
        """A rule with the label, and the facts below it."""
        lines = [((f"   {row}", "dim"),) for fact in self.facts for row in wrap(one_line(fact), width - 3)]
        return [rule(self.label, width, signs, role="good"), *lines]


def edged(row: Row) -> Row:
    """The row moved right by one cell, for the cursor.  The blank takes the first role: each change costs bytes."""
    (text, role), *rest = row
    return ((" " + text, role), *rest)


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
