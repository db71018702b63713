"""What each line of a unified diff is, and which numbers it has in the two files."""

import re
from array import array

from .lines import Lines

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_HEADER = re.compile(
    r"diff |index |--- |\+\+\+ |(?:new|deleted) file mode|(?:old|new) mode|similarity |rename |copy |Binary "
)


class Scan:
    """The lines of a diff, with or without the heads of hunks."""

    def __init__(self, lines: Lines) -> None:
        self.kinds = ""
        """A character for each item: ``+``, ``-`` or a blank; ``@`` for the head of a hunk, ``#`` for that of a file,
        a backslash for a remark; what goes on with a long line is of its kind."""
        self.old = array("L")
        """The number of each item's line in the old file; 0 where it has none."""
        self.new = array("L")
        self._next = [0, 0]
        self._left = [0, 0]
        kinds: list[str] = []
        for item in range(len(lines)):
            begins = not lines.joins(item)
            kinds.append(self._kind(lines[item]) if begins else kinds[-1])
            self.old.append(self._number(0) if begins and kinds[-1] in "- " else 0)
            self.new.append(self._number(1) if begins and kinds[-1] in "+ " else 0)
        self.kinds = "".join(kinds)

    def _kind(self, text: str) -> str:
        """A hunk says how many lines it has: within it, ``--- x`` is the line ``-- x`` that was removed."""
        if hunk := _HUNK.match(text):
            self._next = [int(hunk[1]), int(hunk[3])]
            self._left = [int(hunk[2] or 1), int(hunk[4] or 1)]
            return "@"
        if max(self._left) <= 0 and _HEADER.match(text):
            return "#"
        return text[0] if text[:1] in ("+", "-", "\\") else " "

    def _number(self, side: int) -> int:
        """The number of a line on one side; 0 as long as no hunk told it."""
        number = self._next[side]
        if number:
            self._next[side] += 1
            self._left[side] -= 1
        return number


def added_text(diff: str) -> str | None:
    """The text of a file that a diff makes from nothing; None where it does anything else."""
    lines = diff.removesuffix("\n").split("\n")
    while lines and (_HUNK.match(lines[0]) or _HEADER.match(lines[0])):
        lines.pop(0)
    if lines and lines[-1].startswith("\\"):
        lines.pop()
    return "\n".join(line[1:] for line in lines) if lines and all(line[:1] == "+" for line in lines) else None
