"""What is drawn on steps and around them: the place of the cursor, what was searched for, where the new ones begin."""

from msgspec import Struct

from ...sessions.text.sanitize import one_line
from ..drawing.glyphs import Signs
from ..drawing.spans import Row
from ..drawing.wrap import wrap
from .step_lines import rule


class Unread(Struct, frozen=True):
    """Where what nobody has seen begins, and what it is in a few facts."""

    item: int
    label: str
    facts: tuple[str, ...] = ()

    def rows(self, width: int, signs: Signs) -> list[Row]:
        """A line across, and the facts below it."""
        told = [((f"   {row}", "dim"),) for fact in self.facts for row in wrap(one_line(fact), width - 3)]
        return [rule(self.label, width, signs, role="good"), *told]


def edged(row: Row) -> Row:
    """One cell to the right: the cursor stands before it.  The blank takes the first role: each change costs bytes."""
    (text, role), *rest = row
    return ((" " + text, role), *rest)


def marked(row: Row, needle: str) -> Row:
    """The row with each place that holds the text told apart; small letters mean any."""
    if not needle:
        return row
    spans: list[tuple[str, str]] = []
    for text, role in row:
        searched = text.lower() if needle.islower() else text
        begin = 0
        while (found := searched.find(needle, begin)) >= 0 and len(searched) == len(text):
            spans += [(text[begin:found], role), (text[found : found + len(needle)], "match")]
            begin = found + len(needle)
        spans.append((text[begin:], role))
    return tuple(spans)
