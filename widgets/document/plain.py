"""Blocks of text that is shown unchanged (command output, errors, tool results), of JSON laid out, and of short facts.

JSON has one value per line, keys in their order, numbers as they were written.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from agentdash.sessions.model import typed
from agentdash.sessions.text.sanitize import cell_width, pad
from agentdash.widgets.document.flow import flow
from agentdash.widgets.document.lines import Lines
from agentdash.widgets.document.model import Block
from agentdash.widgets.drawing.spans import Row, Span, wrap

READ = 1_000_000
"""Longest text, in characters, that is parsed as JSON."""

_DEEPEST = 64
_MOST = 4_000_000
"""Most characters of the result: a short text with many deeply nested values would become a thousand times as long."""


def pretty_json(text: str) -> str | None:
    """The text laid out if it is a JSON object or array; None if it is anything else, or too long."""
    if len(text) > READ or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        data = text.encode()
        depth = _depth(typed.decode(data))
        if 2 * depth * (text.count(",") + text.count(":") + depth) > _MOST:
            return None
        return msgspec.json.format(data, indent=2).decode()
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _depth(value: Any) -> int:
    """The number of nested levels; ``_MOST`` if they exceed ``_DEEPEST``."""
    level = [value]
    for depth in range(_DEEPEST):
        inner = (part.values() if isinstance(part, dict) else part for part in level)
        level = [part for container in inner for part in container if isinstance(part, dict | list)]
        if not level:
            return depth + 1
    return _MOST


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
