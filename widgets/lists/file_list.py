"""The files that a session changed, one line each, with a cursor."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from agentdash.sessions.text.sanitize import cell_width, cut_left, one_line, pad
from agentdash.widgets.drawing.spans import Row
from agentdash.widgets.lists.virtual_list import VirtualList

FileRow = tuple[str, str, str, str]
"""Path, kind of change, added and removed lines, git status."""


class FileList(VirtualList):
    """Files in the order in which they were first touched."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "next file", show=False, id="files.down"),
        Binding("k,up", "move(-1)", "previous file", show=False, id="files.up"),
        Binding("g,home", "edge(False)", "first file", show=False, id="files.first"),
        Binding("G,end", "edge(True)", "last file", show=False, id="files.last"),
        Binding("enter,l,right", "open", "show the diffs", show=False, id="files.open"),
    ]

    class Highlighted(Message):
        """The cursor moved to another file."""

    class Opened(Message):
        """The user asked for the diffs of the file."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._files: Sequence[FileRow] = ()
        self.cursor = 0
        """The number of the file under the cursor."""

    def show(self, files: Sequence[FileRow]) -> None:
        """Show other files, or the current state of the same files."""
        self._files = files
        self.cursor = max(0, min(self.cursor, len(files) - 1))
        self.forget_all()
        self.place(self.top)
        self.post_message(self.Highlighted())

    def count(self) -> int:
        """The number of files."""
        return len(self._files)

    def rows(self, item: int, width: int) -> list[Row]:
        """One line; the path is cut from the left before any other part is left out."""
        path, kind, lines, git = self._files[item]
        tail = [
            (f"  {text}", role)
            for text, role in ((kind, _ROLES.get(kind.partition(" ")[0], "dim")), (lines, "text"), (git, "dim"))
            if text
        ]
        while tail and sum(cell_width(text) for text, _ in tail) > width - _LEAST_PATH:
            tail.pop()
        room = width - sum(cell_width(text) for text, _ in tail)
        return [((pad(cut_left(one_line(path), room), room), "text"), *tail)]

    def strips(self, item: int) -> list[Strip]:
        """The line of a file; the line under the cursor has its own colour."""
        if item != self.cursor:
            return super().strips(item)
        super().strips(item)
        over = "cursor" if self.has_focus else "cursor-blurred"
        return [self._painter.strip(row, self.size.width, over=over) for row in self.rows(item, self.columns)]

    def action_move(self, files: int) -> None:
        """Move the cursor."""
        self._put(self.cursor + files)

    def action_edge(self, last: bool) -> None:
        """Move the cursor to the first or the last file."""
        self._put(len(self._files) - 1 if last else 0)

    def action_open(self) -> None:
        """Ask for the diffs."""
        if self._files:
            self.post_message(self.Opened())

    def _put(self, item: int) -> None:
        item = max(0, min(item, len(self._files) - 1))
        if item != self.cursor and self._files:
            self.cursor = item
            self.reveal(item)
            self.redraw()
            self.post_message(self.Highlighted())


_LEAST_PATH = 20
_ROLES = {"add": "good", "delete": "failure"}
