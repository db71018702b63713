"""The file changes of a session, as rows of a list and as documents: pure."""

from collections.abc import Iterator

from msgspec import Struct

from agentdash.sessions.runner.git.git_process import GitAnswer
from agentdash.sessions.service.changes import words
from agentdash.sessions.service.changes.model import Edit, FileChanges, NetBasis, NetChanges, NetFile, SessionChanges
from agentdash.sessions.service.changes.net import FindNet
from agentdash.sessions.text.sanitize import cell_width, cut, one_line
from agentdash.sessions.text.units import clock
from agentdash.sessions.transcript.blocks import ENDINGS
from agentdash.widgets.document.diff import Diff
from agentdash.widgets.document.model import Block, Document
from agentdash.widgets.document.plain import Spans
from agentdash.widgets.drawing.roles import ENDING_ROLES
from agentdash.widgets.drawing.short_forms import place
from agentdash.widgets.drawing.spans import Row
from agentdash.widgets.lists.row_list import FileRow

_LEAST_TITLE = 20
"""Cells that a title keeps on a narrow screen."""

_KEPT_TITLE = 40
"""Cells that a title keeps before the state in git is left out."""

_NO_LINES = "no line differs"


class ChangedFile(Struct, frozen=True):
    """A file of the net result, of the edits, or of both."""

    net: NetFile | None
    """None if the file is as it was at the session's start, or that is not known."""
    edits: FileChanges | None
    """None if no edit of the agent is recorded."""

    @property
    def path(self) -> str:
        """The path as it is shown."""
        return self.net.path if self.net is not None else self.edits.path if self.edits is not None else ""

    @property
    def absolute(self) -> str:
        """The whole path."""
        return self.net.absolute if self.net is not None else self.edits.absolute if self.edits is not None else ""


def changed_files(changes: SessionChanges) -> list[ChangedFile]:
    """Return the files of the net result, then those with edits alone."""
    edits = {file.absolute: file for file in changes.files}
    net = changes.net.files if changes.net is not None else ()
    differing = [ChangedFile(file, edits.pop(file.absolute, None)) for file in net]
    return [*differing, *(ChangedFile(None, file) for file in edits.values())]


def file_row(file: ChangedFile) -> FileRow:
    """Return a file as a row of the list."""
    net, edits = file.net, file.edits
    times = f" x{edits.touched}" if edits is not None and edits.touched > 1 else ""
    git = " ".join(edits.git.words) if edits is not None and edits.git is not None else ""
    if net is None:
        return file.path, ("no change" if edits is not None and edits.touched else "attempted") + times, "", git
    return (
        file.path,
        net.kind + times,
        words.net_lines(net),
        ", ".join(filter(None, (git, words.net_notes(net, place)))),
    )


def title(session: str, changes: SessionChanges, width: int = 0) -> str:
    """Return a line with the session's title, a summary of all files, and the repository's state in git.

    If they have no room in ``width`` cells, git is left out before the title loses much of its end.
    """
    git = words.git_summary(changes.git) if changes.git is not None else ""
    summary = words.net_summary(changes.net) if changes.net is not None else words.summary(changes)
    whole = "   ".join(filter(None, (session, summary, git)))
    if not width or cell_width(whole) <= width:
        return whole
    facts = summary if width - cell_width(f"{summary}{git}") - 6 < _KEPT_TITLE else f"{summary}   {git}"
    return f"{cut(session, max(_LEAST_TITLE, width - cell_width(facts) - 3))}   {facts}"


def file_document(file: ChangedFile, changes: SessionChanges, find: FindNet | None) -> Document:
    """Return a document with the file's net result, then its edits in their order."""
    edits = file.edits.edits if file.edits is not None else ()
    blocks: list[Block] = [] if changes.net is None else [*_net(file, changes.net, find)]
    blocks += [block for edit in edits for block in _edit(edit)]
    if file.edits is not None and (more := words.more_edits(file.edits)):
        blocks.append(_note(more))
    kind = file.net.kind if file.net is not None else (file.edits.kind if file.edits is not None else "") or "attempted"
    return Document(((one_line(file.path), "strong"), (kind, "dim")), blocks)


def nothing(changes: SessionChanges) -> Document:
    """Return a document that explains why there is no file to show."""
    notes = ["No file differs, and no edit by this agent is recorded.", *changes.notes]
    if changes.net is not None and changes.net.why:
        notes.insert(1, f"Compared {words.against(changes.net.basis)}: {one_line(changes.net.why)}.")
    return Document((("no changes", "heading"),), [_note(note) for note in notes])


def _net(file: ChangedFile, net: NetChanges, find: FindNet | None) -> Iterator[Block]:
    """Yield the difference between the file's states at the start and now."""
    one = file.net
    if one is None:
        yield _note(f"no change {words.against(net.basis)}", (("net", "strong"),))
        return
    git = " ".join(file.edits.git.words) if file.edits is not None and file.edits.git is not None else ""
    why = one_line(net.why) if net.why and one.basis is not NetBasis.START else ""
    facts = (words.net_lines(one), words.net_notes(one, place), words.against(one.basis), why, git)
    caption: Row = (("net", "strong"), (" · " + " · ".join(filter(None, facts)), "dim"))
    diff = find(one) if find is not None else None
    if diff is None or not diff.text:
        reason = one_line(diff.detail or diff.answer) if diff is not None and diff.answer is not GitAnswer.OK else ""
        yield _note(reason or words.not_compared(one) or _NO_LINES, caption)
        return
    yield Diff(diff.text, (*caption, (" · truncated", "attention")) if diff.cut else caption)


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


def _note(text: str, caption: Row = ()) -> Block:
    return Spans([((), ((text, "dim"),))], caption)
