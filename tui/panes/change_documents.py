"""The file changes of a session, as rows of a list and as documents: pure."""

from collections.abc import Callable, Iterator

from agentdash.sessions.runner.git.git_process import GitAnswer
from agentdash.sessions.service.changes import words
from agentdash.sessions.service.changes.git import GitDiff
from agentdash.sessions.service.changes.model import Edit, FileChanges, SessionChanges
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.units import clock
from agentdash.sessions.transcript.blocks import ENDINGS
from agentdash.widgets.document.diff import Diff
from agentdash.widgets.document.model import Block, Document
from agentdash.widgets.document.plain import Spans
from agentdash.widgets.drawing.roles import ENDING_ROLES
from agentdash.widgets.drawing.short_forms import place
from agentdash.widgets.drawing.spans import Row
from agentdash.widgets.lists.row_list import FileRow


def file_row(file: FileChanges) -> FileRow:
    """Return a file as a row of the list."""
    kind = file.kind or "attempted"
    git = "" if file.git is None else " ".join(file.git.words)
    times = f" x{file.touched}" if file.touched > 1 else ""
    return file.path, kind + times, words.lines_text(file), git


def title(session: str, changes: SessionChanges) -> str:
    """Return a line with the session's title, a summary of all files, and the repository's state in git."""
    git = words.git_summary(changes.git) if changes.git is not None else ""
    return "   ".join(filter(None, (session, words.summary(changes), git)))


def file_document(file: FileChanges, find: Callable[[str], GitDiff] | None) -> Document:
    """Return a document with the file's edits in their order, then its diff from git."""
    blocks = [block for edit in file.edits for block in _edit(edit)]
    if more := words.more_edits(file):
        blocks.append(_note(more))
    if find is not None:
        blocks.append(_git(file, find(file.absolute)))
    kind: Row = ((file.kind or "attempted", "dim"),)
    return Document(((one_line(file.path), "strong"), *kind), blocks)


def nothing(changes: SessionChanges) -> Document:
    """Return a document that explains why there is no file to show."""
    text = "No edits by this agent. Changes made by its commands show up in git only."
    return Document((("no edits", "heading"),), [_note(text), *(_note(note) for note in changes.notes)])


def _edit(edit: Edit) -> Iterator[Block]:
    ending: Row = ()
    if edit.status is not None and not edit.counts:
        ending = ((f"  {ENDINGS[edit.status]}", ENDING_ROLES[edit.status]),)
    facts = (edit.kind, words.lines_text(edit), words.moved(edit, place), clock(edit.at))
    details = " · ".join(filter(None, facts))
    caption: Row = ((f"turn {edit.turn} step {edit.index}", "strong"), (f" · {details}", "dim"), *ending)
    missing = words.not_stored(edit)
    if not edit.diff:
        yield _note(missing, caption)
        return
    yield Diff(edit.diff, caption)
    if missing:
        yield _note(missing)


def _git(file: FileChanges, diff: GitDiff) -> Block:
    state = " ".join(file.git.words) if file.git is not None else ""
    caption: Row = (("git now", "strong"), (f" · {state}" if state else "", "dim"))
    if diff.answer is not GitAnswer.OK and not diff.text:
        return _note(one_line(diff.detail or diff.answer), caption)
    if not diff.text:
        text = "untracked: no diff" if "untracked" in state else "unchanged since the last commit"
        return _note(text, caption)
    return Diff(diff.text, (*caption, (" · truncated", "attention")) if diff.cut else caption)


def _note(text: str, caption: Row = ()) -> Block:
    return Spans([((), ((text, "dim"),))], caption)
