"""The files that a session changed: a line for each, git's state, and the diffs."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from agentdash.sessions.runner.git.git_process import GitAnswer
from agentdash.sessions.service.changes import words
from agentdash.sessions.service.changes.git import GitDiff
from agentdash.sessions.service.changes.model import Edit, FileChanges, NetBasis, NetChanges, NetFile, SessionChanges
from agentdash.sessions.service.changes.net import FindNet
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
    """Yield the net result, then the edits: their sums, and the files in the order in which they were first touched."""
    if changes.net is not None and (changes.net.files or changes.net.basis is not NetBasis.EDITS):
        yield words.net_summary(changes.net)
        yield from _table([(file.kind, _net_row(file)) for file in changes.net.files], style)
        if changes.net.more:
            yield style.paint(f"  {count(changes.net.more, 'further file')}", "dim")
    yield ("edits: " if changes.net is not None and changes.files else "") + words.summary(changes)
    yield from _table([(file.kind, _row(file)) for file in changes.files], style)
    if changes.git is not None:
        top = place(one_line(changes.git.top)) if changes.git.top else ""
        yield style.paint(words.git_summary(changes.git, top), "dim")
    yield from (style.paint(note, "dim") for note in changes.notes)


def net_diffs(net: NetChanges, style: Style, find: FindNet) -> Iterator[str]:
    """Yield the diff of each file of the net result."""
    for file in net.files[: words.MOST_DIFFS]:
        yield ""
        facts = ", ".join(filter(None, (file.kind, words.net_lines(file), words.net_notes(file, place))))
        yield style.paint(f"{glyphs.RULE * 2} {one_line(file.path)}: net {facts}", "strong")
        diff = find(file)
        yield from _diff_lines(diff.text, style) if diff.text else ()
        if diff.cut:
            yield style.paint("  (the rest of this diff is not shown)", "dim")
    if len(net.files) > words.MOST_DIFFS:
        yield style.paint(f"  (diffs of the first {count(words.MOST_DIFFS, 'file')})", "dim")


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


def _table(files: Sequence[tuple[str | None, Row]], style: Style) -> Iterator[str]:
    rows = [row for _, row in files]
    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)]
    if widths:
        widths[0] = min(widths[0], max(_LEAST_PATH, style.width - sum(widths[1:]) - 2 * len(widths)))
    for kind, row in files:
        path, *cells = (pad(cut_left(cell, width), width) for cell, width in zip(row, widths, strict=True))
        role = "dim" if kind is None else _GONE.get(kind, "")
        yield "  ".join([f"  {path}", style.paint(cells[0], role), *cells[1:]]).rstrip()


def _net_row(file: NetFile) -> Row:
    return one_line(file.path), file.kind, words.net_lines(file), words.net_notes(file, place)


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
