"""The files that a session changed, one line each, with a cursor."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from agentdash.sessions.text.sanitize import cell_width, cut_left, one_line, pad
from agentdash.widgets.drawing.spans import Row
from agentdash.widgets.lists.row_list import RowList

FileRow = tuple[str, str, str, str]
"""Path, kind of change, added and removed lines, git status."""


class FileList(RowList, can_focus=True):
    """Files in the order in which they were first touched."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "next file", show=False, id="files.down"),
        Binding("k,up", "move(-1)", "previous file", show=False, id="files.up"),
        Binding("g,home", "edge(False)", "first file", show=False, id="files.first"),
        Binding("G,end", "edge(True)", "last file", show=False, id="files.last"),
        Binding("enter,l,right", "open", "show the diffs", show=False, id="files.open"),
    ]

    class Opened(Message):
        """The user asked for the diffs of the file."""

    def show_files(self, files: Sequence[FileRow]) -> None:
        """Show other files, or the current state of the same files."""
        top = self.top
        self.show([partial(_row, file) for file in files], self.cursor)
        self.place(top)

    def action_move(self, files: int) -> None:
        """Move the cursor."""
        self.move(files)

    def action_edge(self, last: bool) -> None:
        """Move the cursor to the first or the last file."""
        self.move(self.count() if last else -self.count())

    def action_open(self) -> None:
        """Ask for the diffs."""
        if self.count():
            self.post_message(self.Opened())


_LEAST_PATH = 20
_ROLES = {"add": "good", "delete": "failure"}


def _row(file: FileRow, width: int) -> list[Row]:
    """One line; the path is cut from the left before any other part is left out."""
    path, kind, lines, git = file
    tail = [
        (f"  {text}", role)
        for text, role in ((kind, _ROLES.get(kind.partition(" ")[0], "dim")), (lines, "text"), (git, "dim"))
        if text
    ]
    while tail and sum(cell_width(text) for text, _ in tail) > width - _LEAST_PATH:
        tail.pop()
    room = width - sum(cell_width(text) for text, _ in tail)
    return [((pad(cut_left(one_line(path), room), room), "text"), *tail)]
