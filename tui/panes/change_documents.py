"""The file changes of a session, as rows of a list and as documents: pure."""

from collections.abc import Callable

from ...sessions.changes.git import GitDiff
from ...sessions.changes.model import Edit, FileChanges, GitAnswer, SessionChanges
from ...sessions.text.sanitize import one_line
from ...sessions.text.units import clock, count, line_change
from ...widgets.document.diff import Diff
from ...widgets.document.model import Block, Document
from ...widgets.document.plain import Spans
from ...widgets.drawing.glyphs import Signs
from ...widgets.drawing.short_forms import place
from ...widgets.drawing.spans import Row
from ...widgets.drawing.step_roles import ENDING_ROLES
from ...widgets.lists.file_list import FileRow


def file_row(file: FileChanges) -> FileRow:
    """Return a file as a row of the list."""
    kind = file.kind or "attempted"
    git = "" if file.git is None else " ".join(file.git.words)
    times = f" x{file.touched}" if file.touched > 1 else ""
    return file.path, kind + times, lines_text(file.added, file.removed, partial=file.partial), git


def lines_text(added: int | None, removed: int | None, *, partial: bool = False) -> str:
    """Return the numbers of added and removed lines; empty if neither is known."""
    if added is None and removed is None:
        return ""
    return line_change(added or 0, removed or 0, least=partial)


def summary(changes: SessionChanges) -> str:
    """Return a summary of all files, and of the repository's state in git, in one line."""
    changed = [file for file in changes.files if file.touched]
    if not changed:
        words = "no edits"
    else:
        known = [file for file in changed if file.added is not None]
        partial = len(known) < len(changed) or any(file.partial for file in changed)
        lines = lines_text(sum(f.added or 0 for f in known), sum(f.removed or 0 for f in known), partial=partial)
        words = "  ".join(filter(None, (f"{count(len(changed), 'file')} changed", lines if known else "")))
    more = f" and {count(changes.more, 'edit')} to other files" if changes.more else ""
    return f"{words}{more}   {git_summary(changes)}".rstrip()


def git_summary(changes: SessionChanges) -> str:
    """Return the repository's state in git."""
    report = changes.git
    if report is None:
        return ""
    if report.totals is None:
        return f"git: {one_line(report.detail or report.answer)}"
    totals = report.totals
    counts = (("staged", totals.staged), ("unstaged", totals.unstaged), ("untracked", totals.untracked))
    words = ", ".join(f"{number} {word}" for word, number in counts if number) or "clean"
    others = f" ({totals.others} not by this session)" if totals.others else ""
    return f"git: {words}{others}"


def file_document(file: FileChanges, find: Callable[[str], GitDiff] | None, signs: Signs) -> Document:
    """Return a document with the file's edits in their order, then its diff from git."""
    blocks: list[Block] = [_edit(edit, signs) for edit in file.edits]
    if file.more_edits:
        blocks.append(_note(f"{count(file.more_edits, 'more edit')} counted but not stored"))
    if find is not None:
        blocks.append(_git(file, find(file.absolute)))
    kind: Row = ((file.kind or "attempted", "dim"),)
    return Document(((one_line(file.path), "strong"), *kind), blocks, signs)


def nothing(changes: SessionChanges, signs: Signs) -> Document:
    """Return a document that explains why there is no file to show."""
    text = "No edits by this agent. Changes made by its commands show up in git only."
    return Document((("no edits", "heading"),), [_note(text), *(_note(note) for note in changes.notes)], signs)


def _edit(edit: Edit, signs: Signs) -> Block:
    ending: Row = ()
    if edit.status is not None and not edit.counts:
        ending = ((f"  {signs.endings[edit.status]}", ENDING_ROLES[edit.status]),)
    moved = edit.moved_to or edit.moved_from
    facts = (
        edit.kind,
        lines_text(edit.added, edit.removed),
        f"{'to' if edit.moved_to else 'from'} {place(one_line(moved))}" if moved else "",
        clock(edit.at),
    )
    details = " · ".join(filter(None, facts))
    caption: Row = ((f"turn {edit.turn} step {edit.index}", "strong"), (f" · {details}", "dim"), *ending)
    if edit.diff:
        return Diff(edit.diff, caption)
    return Spans([((), (("diff too long to store" if edit.cut else "no diff recorded", "dim"),))], caption)


def _git(file: FileChanges, diff: GitDiff) -> Block:
    state = " ".join(file.git.words) if file.git is not None else ""
    caption: Row = (("git now", "strong"), (f" · {state}" if state else "", "dim"))
    if diff.answer is not GitAnswer.OK and not diff.text:
        return Spans([((), ((one_line(diff.detail or diff.answer), "dim"),))], caption)
    if not diff.text:
        text = "untracked: no diff" if "untracked" in state else "unchanged since the last commit"
        return Spans([((), ((text, "dim"),))], caption)
    return Diff(diff.text, (*caption, (" · truncated", "attention")) if diff.cut else caption)


def _note(text: str) -> Block:
    return Spans([((), ((text, "dim"),))])
