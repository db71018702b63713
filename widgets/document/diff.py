"""A unified diff as rows: added and removed lines, with line numbers in the two files and the words that differ."""

import re
from array import array
from functools import cached_property
from itertools import takewhile
from operator import eq

from agentdash.sessions.text.unified_diff import ADDED, CONTEXT, REMOVED, Scanner
from agentdash.widgets.document.flow import NUMBERED, filled, flow
from agentdash.widgets.document.lines import Lines
from agentdash.widgets.document.model import Block
from agentdash.widgets.drawing.spans import Row, Span


class Scan:
    """The scanned lines of a diff, with or without hunk headers."""

    def __init__(self, lines: Lines) -> None:
        self.kinds = ""
        """One character per item, see ``unified_diff``; the pieces of a long line all have its kind."""
        self.old = array("L")
        """The number of each item's line in the old file; 0 if it has none."""
        self.new = array("L")
        scanner = Scanner()
        kinds: list[str] = []
        for item in range(len(lines)):
            begins = not lines.joins(item)
            if begins:
                line = lines.raw(item)
                kinds.append(scanner.kind(line, lines.following(item, 2) if line.startswith(("--- ", "+++ ")) else ()))
            else:
                kinds.append(kinds[-1])
            self.old.append(scanner.old if begins and kinds[-1] in (REMOVED, CONTEXT) else 0)
            self.new.append(scanner.new if begins and kinds[-1] in (ADDED, CONTEXT) else 0)
        self.kinds = "".join(kinds)


COMPARED = 500
"""Longest line, in characters, that is compared word by word."""

ALIKE = 0.4
"""Least share of a line that must be unchanged for the words that differ to be marked."""

_EDIT = re.compile(r"(?<!-)(-{1,100})(\+{1,100})(?!\+)")
"""Replaced lines; longer runs are different text, not edits."""

_WORD = re.compile(r"\w+|\W")
_ROLES = {"+": "added", "-": "removed", "@": "hunk", "#": "dim", "\\": "dim", " ": "text"}


class Diff(Block):
    """The changes of one file."""

    def __init__(self, text: str, caption: Row = ()) -> None:
        self._lines = Lines(text, newlines_only=True)
        self.caption = caption

    def __len__(self) -> int:
        """The number of lines, and of pieces of very long ones."""
        return len(self._lines)

    def rows(self, item: int, width: int) -> list[Row]:
        """One line, wrapped below its text; added and removed lines have their own background."""
        kind, text = self._scan.kinds[item], self._lines[item]
        role = _ROLES[kind]
        if kind in "@#\\":
            return flow([(text, role)], width)
        sign, words = self._changed(item, text, role)
        margin = (*self._gutter(item, width), (f"{sign} ", role))
        below = ((" " * len(margin[0][0]), "dim"), ("  ", role)) if len(margin) > 1 else (("  ", role),)
        rows = flow(words, width, margin, below)
        return rows if kind == " " else [filled(row, width, role) for row in rows]

    def text(self, item: int) -> str:
        """One line with its sign."""
        return self._lines[item]

    def is_changed(self, item: int) -> bool:
        """True if a line was added or removed."""
        return self._scan.kinds[item] in (ADDED, REMOVED)

    def number(self, item: int) -> int:
        """The number of a line in the new file, or in the old one if it was removed; 0 if it is not known."""
        return self._scan.new[item] or self._scan.old[item]

    @cached_property
    def _scan(self) -> Scan:
        return Scan(self._lines)

    @cached_property
    def _digits(self) -> int:
        """Digits of the highest line number; 0 if no number is known."""
        highest = max(map(max, (self._scan.old, self._scan.new)))
        return len(str(highest)) if highest else 0

    def _gutter(self, item: int, width: int) -> Row:
        """The line numbers in the old file and in the new one."""
        if not self._digits or width < NUMBERED:
            return ()
        numbers = (str(side[item] or "").rjust(self._digits) for side in (self._scan.old, self._scan.new))
        return ((" ".join(numbers) + " ", "dim"),)

    def _changed(self, item: int, text: str, role: str) -> tuple[str, list[Span]]:
        """The sign of a line and its text, with a mark on the words that differ from the line it replaces."""
        if self._lines.joins(item) or text[:1] not in ("+", "-", " "):
            return " ", [(text, role)]
        sign, text = text[0], text[1:]
        other = self._pairs.get(item)
        if other is None or max(len(text), len(self._lines[other])) > COMPARED:
            return sign, [(text, role)]
        begin, end = differing(text, self._lines[other][1:])
        spans = [(text[:begin], role), (text[begin:end], f"{role}-word"), (text[end:], role)]
        return sign, [span for span in spans if span[0]]

    @cached_property
    def _pairs(self) -> dict[int, int]:
        """Items of lines that replace each other: the first added line pairs with the first removed one, and so on."""
        pairs: dict[int, int] = {}
        for edit in _EDIT.finditer(self._scan.kinds):
            for old, new in zip(range(*edit.span(1)), range(*edit.span(2)), strict=False):
                pairs[old], pairs[new] = new, old
        return pairs


def differing(text: str, other: str) -> tuple[int, int]:
    """Begin and end of the words of a text that ``other`` does not have; (0, 0) if most of the text differs."""
    words, others = _WORD.findall(text), _WORD.findall(other)
    head = _shared(words, others)
    tail = _shared(words[head:][::-1], others[head:][::-1])
    begin, end = len("".join(words[:head])), len("".join(words[: len(words) - tail]))
    stayed = len((text[:begin] + text[end:]).replace(" ", ""))
    alike = stayed >= ALIKE * max(len(line.replace(" ", "")) for line in (text, other))
    return (begin, end) if alike else (0, 0)


def _shared(words: list[str], others: list[str]) -> int:
    """The number of equal words at the beginning of both."""
    return sum(takewhile(bool, map(eq, words, others)))
