"""The files that a session changed: a line for each, git's state, and the diffs."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from agentdash.sessions.service.changes import words
from agentdash.sessions.service.changes.git import GitDiff
from agentdash.sessions.service.changes.model import Edit, FileChanges, GitAnswer, SessionChanges
from agentdash.sessions.text.sanitize import cell_width, cut_left, one_line, pad
from agentdash.sessions.text.units import count
from agentdash.tui.render.steps import diff_lines
from agentdash.tui.render.style import Style
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.short_forms import place

_LEAST_PATH = 20
"""Minimum cells of a path."""

_GONE = {"delete": "failure", "add": "good"}

Row = tuple[str, ...]
"""A file's path, kind, lines, edits, git state and note."""


def changes_text(changes: SessionChanges, style: Style) -> Iterator[str]:
    """Yield the sums, then the files in the order in which they were first touched."""
    yield words.summary(changes)
    yield from _table(changes.files, style)
    if changes.git is not None:
        top = place(one_line(changes.git.top)) if changes.git.top else ""
        yield style.paint(words.git_summary(changes.git, top), "dim")
    yield from (style.paint(note, "dim") for note in changes.notes)


def file_diffs(file: FileChanges, style: Style, find: Callable[[str], GitDiff] | None) -> Iterator[str]:
    """Yield the diff of each edit of a file; if no edit has one, git's diff from ``find`` (None: do not ask git)."""
    yield ""
    yield style.paint(f"{glyphs.RULE * 2} {one_line(file.path)}", "strong")
    for edit in file.edits:
        yield from _edit_diff(edit, style)
    if more := words.more_edits(file):
        yield style.paint(f"  {more}", "dim")
    if find is not None and file.touched and not any(edit.diff for edit in file.edits):
        yield from _git_diff(find(file.absolute), style)


def _table(files: Sequence[FileChanges], style: Style) -> Iterator[str]:
    rows = [_row(file) for file in files]
    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)]
    if widths:
        widths[0] = min(widths[0], max(_LEAST_PATH, style.width - sum(widths[1:]) - 2 * len(widths)))
    for file, row in zip(files, rows, strict=True):
        path, *cells = (pad(cut_left(cell, width), width) for cell, width in zip(row, widths, strict=True))
        role = "dim" if file.kind is None else _GONE.get(file.kind, "")
        yield "  ".join([f"  {path}", style.paint(cells[0], role), *cells[1:]]).rstrip()


def _row(file: FileChanges) -> Row:
    git = "" if file.git is None else f"{file.git.code} {' '.join(file.git.words)}"
    touched = count(file.touched, "edit") if file.touched else ""
    tried = Counter(str(edit.status) for edit in file.edits if not edit.counts)
    edits = ", ".join(filter(None, (touched, *(f"{number} {how}" for how, number in tried.items()))))
    moves = [move for edit in file.edits if edit.counts and (move := words.moved(edit, place))]
    return one_line(file.path), file.kind or "", words.lines_text(file), edits, git, (moves[-1] if moves else "")


def _edit_diff(edit: Edit, style: Style) -> Iterator[str]:
    what = " ".join(filter(None, (edit.kind, words.lines_text(edit))))
    facts = ", ".join(filter(None, (what, words.moved(edit, place), "" if edit.counts else str(edit.status))))
    yield style.paint(f"  turn {edit.turn}, step {edit.index}: {facts}", "dim")
    if edit.diff:
        yield from _diff_lines(edit.diff, style)
    if edit.cut:
        yield style.paint(f"  ({words.not_stored(edit)})", "dim")


def _git_diff(diff: GitDiff, style: Style) -> Iterator[str]:
    if not diff.text:
        why = "" if diff.answer is GitAnswer.OK else f": {diff.answer}"
        yield style.paint(f"  no diff from the agent, and none from git{why}", "dim")
        return
    yield style.paint("  git diff HEAD, including changes by others:", "dim")
    yield from _diff_lines(diff.text, style)
    if diff.cut:
        yield style.paint("  (the rest of this diff is not shown)", "dim")


def _diff_lines(diff: str, style: Style) -> Iterator[str]:
    return (f"  {line}" for line in diff_lines(diff, style))
