"""The net result of the recorded edits of one file that git does not know: the edits are taken back, newest first."""

import difflib
import os
import re
import stat
from collections.abc import Iterable, Sequence

from agentdash.sessions.service.changes.model import Edit, FileChanges, NetBasis, NetContent, NetFile
from agentdash.sessions.text.unified_diff import (
    ADDED,
    CONTEXT,
    HUNK,
    REMOVED,
    Diff,
    beginning,
    classified,
    counts,
    created,
    deleted,
    diff_of,
)

FILE_BYTES = 1 << 20
"""The size up to which a file is read."""

MOST_LINES = 5_000
"""The most lines between the first and the last difference that are compared."""

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")


def net_of_edits(file: FileChanges) -> NetFile | None:
    """Return the net result of a file's edits; None if it is as it was before the first.

    The lines are not known if a diff is missing, or if others changed the same lines.
    """
    edits = [edit for edit in file.edits if edit.counts]
    first, exists = edits[0], os.path.lexists(file.absolute)
    is_new = first.kind == "add" and first.moved_from is None
    if is_new and not exists:
        return None
    kind = "add" if is_new else "update" if exists else "delete"
    diff = _diff(file, edits, is_new=is_new, exists=exists)
    if diff is not None and kind == "update" and not (diff.added or diff.removed) and first.moved_from is None:
        return None
    return NetFile(
        path=file.path, absolute=file.absolute, kind=kind, moved_from=first.moved_from, basis=NetBasis.EDITS,
        content=NetContent.TEXT, added=diff.added if diff else None, removed=diff.removed if diff else None,
        diff=diff.text if diff else None, cut=diff is not None and diff.cut,
    )  # fmt: skip


def _diff(file: FileChanges, edits: Sequence[Edit], *, is_new: bool, exists: bool) -> Diff | None:
    now = _text(file.absolute) if exists else ""
    if is_new and now is not None:
        return created(now)
    before = _taken_back(now, edits) if now is not None and not file.more_edits else None
    if before is not None and now is not None:
        return _difference(before, now) if exists else deleted(before)
    only = edits[0]
    if len(edits) > 1 or only.diff is None or only.added is None or only.removed is None:
        return None
    return beginning(only.diff, only.added, only.removed, cut=only.cut)


def _text(path: str) -> str | None:
    """Return the text of a file; None if it is not a small file of text."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            facts = os.fstat(file.fileno())
            data = file.read(FILE_BYTES) if stat.S_ISREG(facts.st_mode) and facts.st_size <= FILE_BYTES else b"\0"
    except (OSError, ValueError):
        return None
    return None if b"\0" in data else data.decode("utf-8", "replace")


def _taken_back(now: str, edits: Iterable[Edit]) -> str | None:
    """Return a text as it was before the edits; None if it does not follow from their diffs."""
    lines: list[str] | None = _lines(now)
    for edit in reversed(list(edits)):
        if lines is None or edit.diff is None or edit.cut:
            return None
        lines = _without(lines, edit.diff)
    return None if lines is None else "".join(f"{line}\n" for line in lines)


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _without(lines: list[str], diff: str) -> list[str] | None:
    """Return lines without one edit; None if its new lines are not where it put them."""
    before = list(lines)
    for start, old, new in reversed(_hunks(diff)):
        if start is None or before[start : start + len(new)] != new:
            return None
        before[start : start + len(new)] = old
    return before


def _hunks(diff: str) -> list[tuple[int | None, list[str], list[str]]]:
    """Return the place of each hunk in the new file, its old lines and its new lines."""
    hunks: list[tuple[int | None, list[str], list[str]]] = []
    for kind, line in classified(diff):
        if kind == HUNK:
            match = _HUNK.match(line)
            # A hunk without new lines names the line before it.
            place = int(match[3]) - (match[4] != "0") if match else None
            hunks.append((place, [], []))
        elif hunks and kind in (ADDED, REMOVED, CONTEXT):
            text = line[1:]
            if kind != ADDED:
                hunks[-1][1].append(text)
            if kind != REMOVED:
                hunks[-1][2].append(text)
        elif kind in (ADDED, REMOVED):
            return [(None, [], [])]  # a diff without hunks
    return hunks


def _difference(before: str, now: str) -> Diff | None:
    """Return the diff of two texts; None if too many lines differ."""
    old, new = _lines(before), _lines(now)
    same = next((n for n, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), None)
    if same is None and len(old) == len(new):
        return beginning("", 0, 0)
    same = max(0, (min(len(old), len(new)) if same is None else same) - 3)
    if max(len(old), len(new)) - same > MOST_LINES:
        return None
    diff = list(difflib.unified_diff(old[same:], new[same:], lineterm=""))[2:]
    text = "\n".join(_moved(line, same) if line.startswith("@@") else line for line in diff)
    return diff_of(text) or beginning(text, *counts(text))


def _moved(hunk: str, lines: int) -> str:
    """Return the head of a hunk whose texts begin later in their files."""
    match = _HUNK.match(hunk)
    if match is None:
        return hunk
    old, new = int(match[1]) + lines, int(match[3]) + lines
    return f"@@ -{old},{match[2] or 1} +{new},{match[4] or 1} @@"
