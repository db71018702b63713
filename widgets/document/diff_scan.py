"""The kind of each item of a diff, and its line numbers in the two files."""

from array import array

from ...sessions.text.unified_diff import ADDED, CONTEXT, REMOVED, Scanner
from .lines import Lines


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
