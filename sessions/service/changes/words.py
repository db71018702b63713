"""Changes for front ends: in words, and as the output of ``changes --json``."""

from collections.abc import Callable
from typing import Any

from msgspec import to_builtins

from agentdash.sessions.runner.git.git_process import GitAnswer
from agentdash.sessions.service.changes.model import (
    Edit,
    FileChanges,
    GitReport,
    NetBasis,
    NetChanges,
    NetContent,
    NetFile,
    SessionChanges,
)
from agentdash.sessions.service.changes.net import FindNet
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.units import count, line_change


def summary(changes: SessionChanges) -> str:
    """Return the sums of all files: ``2 files changed  at least +4 -1``."""
    more = f"{count(changes.more, 'edit')} to other files" if changes.more else ""
    changed = [file for file in changes.files if file.touched]
    if not changed:
        where = "this session" if changes.turn is None else f"turn {changes.turn}"
        return more or f"No edits in {where}."
    known = [file for file in changed if file.added is not None]
    partial = len(known) < len(changed) or any(file.partial for file in changed)
    lines = line_change(sum(f.added or 0 for f in known), sum(f.removed or 0 for f in known), least=partial)
    words = "  ".join((f"{count(len(changed), 'file')} changed", *([lines] if known else [])))
    return f"{words} and {more}" if more else words


_AGAINST = {
    NetBasis.START: "since the session's start",
    NetBasis.HEAD: "against HEAD",
    NetBasis.EDITS: "by the recorded edits",
}


def against(basis: NetBasis) -> str:
    """Return the state with which the files are compared: ``since the session's start``."""
    return _AGAINST[basis]


def net_summary(net: NetChanges) -> str:
    """Return the sums of the net result: ``net: 2 files  +4 -1  since the session's start``."""
    known = [file for file in net.files if file.added is not None]
    least = bool(net.more) or any(file.added is None for file in net.files if not_compared(file) == "")
    lines = line_change(sum(f.added or 0 for f in known), sum(f.removed or 0 for f in known), least=least)
    number = count(len(net.files) + net.more, "file")
    words = "  ".join((number, *([lines] if known else []))) if net.files else "no file differs"
    why = f" ({one_line(net.why)})" if net.why else ""
    return f"net: {words}  {_AGAINST[net.basis]}{why}"


def net_lines(file: NetFile) -> str:
    """Return the added and removed lines of a file, or the kind of its content if that is not lines of text."""
    if file.added is None or file.removed is None or file.content is NetContent.SUBMODULE:
        return not_compared(file) or "lines not known"
    return line_change(file.added, file.removed)


def not_compared(file: NetFile) -> str:
    """Return the kind of a content that has no lines; empty for text."""
    return "" if file.content in (NetContent.TEXT, NetContent.LINK) else _CONTENTS[file.content]


_CONTENTS = {
    NetContent.BINARY: "binary", NetContent.LARGE: "too large to compare", NetContent.SUBMODULE: "submodule",
    NetContent.REPOSITORY: "a repository of its own",
}  # fmt: skip


def net_notes(file: NetFile, place: Callable[[str], str]) -> str:
    """Return the former name of a moved file, and that no edit of the agent is recorded if that is so."""
    moved = f"moved from {place(one_line(file.moved_from))}" if file.moved_from else ""
    return ", ".join(filter(None, (moved, "" if file.by_edits else "by a command or others")))


def git_summary(report: GitReport, top: str = "") -> str:
    """Return the repository's state in git: ``git: 1 staged, 2 untracked``; ``top`` is its folder, to be named too."""
    answer = "" if report.answer is GitAnswer.OK else str(report.answer)
    words = ", ".join(filter(None, (top, answer, one_line(report.detail or ""))))
    totals = report.totals
    if totals is None:
        return f"git: {words}"
    named = (("staged", totals.staged), ("unstaged", totals.unstaged), ("untracked", totals.untracked))
    numbers = ", ".join(f"{number:,} {name}" for name, number in named if number) or "clean"
    others = f" ({totals.others:,} not by its edits)" if totals.others else ""
    return ": ".join(filter(None, ("git", words, f"{'at least ' if totals.cut else ''}{numbers}{others}")))


def lines_text(part: Edit | FileChanges) -> str:
    """Return the numbers of added and removed lines; empty if neither is known."""
    if part.added is None and part.removed is None:
        return ""
    return line_change(part.added or 0, part.removed or 0, least=isinstance(part, FileChanges) and part.partial)


def moved(edit: Edit, place: Callable[[str], str]) -> str:
    """Return the target or the source of a move, as ``place`` writes a path; empty if the file was not moved."""
    path = edit.moved_to or edit.moved_from
    return f"moved {'to' if edit.moved_to else 'from'} {place(one_line(path))}" if path else ""


def not_stored(edit: Edit) -> str:
    """Return the missing part of an edit's diff; empty if all of it is known."""
    if edit.diff:
        return "the rest of this diff was not stored" if edit.cut else ""
    return "diff too long to store" if edit.cut else "no diff recorded"


def more_edits(file: FileChanges) -> str:
    """Return the number of a file's edits that are only counted; empty if there are none."""
    return f"{count(file.more_edits, 'more edit')} not stored" if file.more_edits else ""


MOST_DIFFS = 500
"""The most files of a net result whose diffs are asked for in a row: each needs a call of git."""


def changes_json(changes: SessionChanges, *, find: FindNet | None = None) -> dict[str, Any]:
    """Return the changes, field by field; null means "not known".

    Args:
        find: returns the diff of a file of the net result; without it, neither these files nor edits have ``diff``.
    """
    data: dict[str, Any] = to_builtins(changes)
    net = changes.net.files if changes.net is not None else ()
    for number, one in enumerate(net):
        told = data["net"]["files"][number]
        if find is None:
            del told["diff"]
        elif number < MOST_DIFFS:
            diff = find(one)
            told |= {"diff": diff.text if diff.answer is GitAnswer.OK else None, "cut": diff.cut}
    if find is None:
        for file in data["files"]:
            for edit in file["edits"]:
                del edit["diff"]
    return data
