"""Blocks of text that is shown unchanged (command output, errors, tool results), and of short facts."""

from collections.abc import Sequence

from ...sessions.text.sanitize import cell_width, pad
from ..drawing.spans import Row, Span
from ..drawing.wrap import wrap
from .flow import flow
from .lines import Lines
from .model import Block


class PlainText(Block):
    """All lines of a text, wrapped, in one colour."""

    def __init__(self, text: str | Lines, caption: Row = (), role: str = "text") -> None:
        self._lines = Lines(text) if isinstance(text, str) else text
        self._role = role
        self.caption = caption

    def __len__(self) -> int:
        """The number of lines, and of pieces of very long ones."""
        return len(self._lines)

    def rows(self, item: int, width: int) -> list[Row]:
        """One line, without trailing blanks."""
        return [((text, self._role),) for text in wrap(self._lines[item].rstrip(), width)]


class Spans(Block):
    """A few coloured lines, each wrapped below the end of its margin."""

    def __init__(self, lines: Sequence[tuple[Row, Row]], caption: Row = ()) -> None:
        self._lines = tuple(lines)
        self.caption = caption

    def __len__(self) -> int:
        """The number of lines."""
        return len(self._lines)

    def rows(self, item: int, width: int) -> list[Row]:
        """The margin of a line, with the line beside it."""
        margin, line = self._lines[item]
        blank: Row = ((" " * sum(cell_width(text) for text, _ in margin), ""),)
        return flow(line, width, margin, blank)


def facts(pairs: Sequence[tuple[str, Span]], caption: Row = (), *, right: bool = False) -> Spans:
    """Names and values in two columns; ``right`` aligns the values to the right, for numbers."""
    left = max(cell_width(name) for name, _ in pairs)
    most = max(cell_width(text) for _, (text, _) in pairs) if right else 0
    return Spans(
        [(((pad(name, left) + "  ", "dim"),), ((pad(text, most, right=True), role),)) for name, (text, role) in pairs],
        caption,
    )
