"""The lines of a unified diff: the kind of each line, its numbers in both files, and the counts of a whole diff.  Pure.

Lists, panes, exports, digests and ``changes`` all count here.  The head of a hunk gives the number of its lines.
Within these lines ``--- x`` is the removed line ``-- x``, and ``+++ x`` is the added line ``++ x``.  Outside of them a
``--- `` names a file only if a ``+++ `` follows, as git and diff write them.  A diff without the numbers of its hunks,
or without any hunk (codex's patches, models that write diffs themselves), is read by the first characters of its lines.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

ADDED, REMOVED, CONTEXT, HUNK, FILE, REMARK = "+- @#\\"
"""The kinds of lines; a remark is ``\\ No newline at end of file``."""

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_HEAD = re.compile(
    r"diff |index |(?:new|deleted) file mode|(?:old|new) mode|(?:dis)?similarity |rename |copy |Binary "
    r"|\*\*\* (?:Begin Patch|End Patch|(?:Add|Update|Delete) File: |Move to: )"
)
_NEXT_FILE = ("diff ", "*** Add File: ", "*** Update File: ", "*** Delete File: ")
_NAMES = ("--- ", "+++ ")


class Scanner:
    """Classifies the lines of one diff, in their order."""

    def __init__(self) -> None:
        self.old = 0
        """The number of the last line in the old file; 0 if it is not in that file, or no hunk gave numbers."""
        self.new = 0
        self._next = [0, 0]
        self._left = [0, 0]
        """The numbers of lines of the hunk that are still to come in the old and in the new file."""
        self._in_hunks = False
        """True once a hunk of the current file was read."""
        self._named_old = False
        """True if the line before was the ``--- `` of a pair."""

    def kind(self, line: str, following: Sequence[str] = ()) -> str:
        """Return the kind of the next line.

        Args:
            line: the line without its newline.
            following: the next two lines, if there are any.
        """
        kind = self._kind(line, following)
        self._named_old = kind == FILE and line.startswith("--- ")
        self.old = self._number(0) if kind in (REMOVED, CONTEXT) else 0
        self.new = self._number(1) if kind in (ADDED, CONTEXT) else 0
        return kind

    def _kind(self, line: str, following: Sequence[str]) -> str:
        first = line[:1]
        if first == "@" and line.startswith("@@"):
            match = _HUNK.match(line)
            self._in_hunks = True
            self._next = [int(match[1]), int(match[3])] if match else [0, 0]
            # A hunk without a length has one line.
            self._left = [int(match[n] if match[n] is not None else 1) for n in (2, 4)] if match else [0, 0]
            return HUNK
        if _HEAD.match(line) and (max(self._left) <= 0 or line.startswith("diff --git ")):
            self._in_hunks = self._in_hunks and not line.startswith(_NEXT_FILE)
            self._left = [0, 0]
            return FILE
        if line.startswith(_NAMES) and self._names_file(line, following):
            self._left = [0, 0]
            return FILE
        return first if first in ("+", "-", "\\") else CONTEXT

    def _names_file(self, line: str, following: Sequence[str]) -> bool:
        """Return whether a line with ``--- `` or ``+++ `` names a file, and is not a removed or added line."""
        if line.startswith("+++ ") and self._named_old:
            return True
        first, second = (*following, "", "")[:2]
        pair = line.startswith("--- ") and first.startswith("+++ ")
        if not self._in_hunks:
            return pair or first.startswith("@@")
        # The last two lines of a hunk can have this form, too; else its head gave more lines than there are.
        return pair and second.startswith("@@") and self._left != [1, 1]

    def _number(self, side: int) -> int:
        """Count a line in one of the files; return its number, or 0 until a hunk gives numbers."""
        number = self._next[side]
        self._left[side] -= 1
        if number:
            self._next[side] += 1
        return number


def classified(diff: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each line of a diff; newlines at its end belong to its last line."""
    lines = diff.rstrip("\n").split("\n") if diff else []
    scanner = Scanner()
    for number, line in enumerate(lines):
        yield scanner.kind(line, lines[number + 1 : number + 3] if line.startswith(_NAMES) else ()), line


def counts(diff: str) -> tuple[int, int]:
    """Return the number of lines that a diff adds, and the number that it removes."""
    text = "\n" + diff
    added, removed = text.count("\n+"), text.count("\n-")
    if "\n--- " in text or "\n+++ " in text:
        # Only these lines can name files, and few diffs have any: most need no second pass.
        kinds = [kind for kind, _ in classified(diff)]
        return kinds.count(ADDED), kinds.count(REMOVED)
    return added, removed


def created_text(diff: str) -> str | None:
    """Return the text of the new file that a diff creates; None if the diff does anything else."""
    body = [(kind, line[1:]) for kind, line in classified(diff) if kind not in (HUNK, FILE, REMARK)]
    return "\n".join(line for _, line in body) if body and all(kind == ADDED for kind, _ in body) else None


DIFF_CHARACTERS = 65_536
"""The most characters that are kept of one edit's diff."""


class Diff(Struct, frozen=True):
    """The beginning of a unified diff, and the line counts of the whole."""

    text: str
    added: int
    removed: int
    cut: bool = False


def diff_of(text: str | None) -> Diff | None:
    """Return the unified diff of one file, from the agent's text; None if there is no text."""
    if not text:
        return None
    return beginning(text, *counts(text))


def beginning(text: str, added: int, removed: int, *, cut: bool = False) -> Diff:
    """Return a diff with known counts and the beginning of its text; ``cut`` if some text is missing already."""
    return Diff(_kept(text), added, removed, cut or len(text) > DIFF_CHARACTERS)


def created(content: str) -> Diff:
    """Return the diff of a new file with this content."""
    lines = _line_count(content)
    return Diff(_whole(content, "+", f"@@ -0,0 +1,{lines} @@"), lines, 0, len(content) > DIFF_CHARACTERS)


def deleted(content: str) -> Diff:
    """Return the diff of a deleted file with this content."""
    lines = _line_count(content)
    return Diff(_whole(content, "-", f"@@ -1,{lines} +0,0 @@"), 0, lines, len(content) > DIFF_CHARACTERS)


def _line_count(content: str) -> int:
    return content.count("\n") + (content[-1:] not in ("", "\n"))


def _whole(content: str, sign: str, header: str) -> str:
    if not content:
        return ""
    # Only a newline ends a line: all other separators are text.
    lines = _kept(content).removesuffix("\n").split("\n")
    return "\n".join([header, *(sign + line for line in lines)])


def _kept(text: str) -> str:
    """Return the beginning of a text, up to the end of a line if there is one."""
    if len(text) <= DIFF_CHARACTERS:
        return text
    head = text[:DIFF_CHARACTERS]
    return head[: head.rfind("\n")] if "\n" in head else head
