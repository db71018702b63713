"""Lists of ready lines with a cursor, which is moved by the list, by the widget that has the focus, or by a dialog."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from msgspec import Struct
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from agentdash.sessions.text.sanitize import cell_width, cut_left, one_line, pad
from agentdash.widgets.drawing.spans import Row, Span, cut_row
from agentdash.widgets.lists.virtual_list import VirtualList


class Entry(Struct, frozen=True, kw_only=True):
    """One line of the list."""

    head: str
    """The first column, such as a name or an age."""
    note: str = ""
    """Words between the first column and the text."""
    text: str


Draw = Callable[[int], list[Row]]
"""Returns the lines of an item, none wider than the given cells; the cursor is on the last of them."""


def line(*spans: Span) -> Draw:
    """Return an item of one line, the same in any width."""
    return lambda _: [spans]


class RowList(VirtualList, can_focus=False):
    """A list below a field that keeps the focus; the list itself never takes it."""

    BINDINGS: ClassVar[list[BindingType]] = []
    whole_items: ClassVar[bool] = False
    """True if the cursor has all lines of an item, False if it has only the last one."""

    class Highlighted(Message):
        """The cursor moved to another item."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._items: Sequence[Draw] = ()
        self.cursor = 0
        """The number of the item under the cursor."""

    def show(self, items: Sequence[Draw], cursor: int = 0) -> None:
        """Show other items."""
        self._items = items
        self.cursor = max(0, min(cursor, len(items) - 1))
        self.forget_all()
        self.place((0, 0))
        self.reveal(self.cursor)
        self.post_message(self.Highlighted())

    def count(self) -> int:
        """The number of items."""
        return len(self._items)

    def rows(self, item: int, width: int) -> list[Row]:
        """The lines of an item."""
        return self._items[item](width)

    @property
    def is_pale(self) -> bool:
        """True if the cursor is less bright, because another widget has the keys."""
        return self.can_focus and not self.has_focus

    def strips(self, item: int) -> list[Strip]:
        """The drawn lines of an item; those under the cursor have its colour."""
        drawn = super().strips(item)
        if item != self.cursor:
            return drawn
        above = 0 if self.whole_items else len(drawn) - 1
        over = "cursor-blurred" if self.is_pale else "cursor"
        rows = self.rows(item, self.columns)[above:]
        return [*drawn[:above], *(self._painter.strip(row, self.size.width, over=over) for row in rows)]

    def move(self, items: int) -> None:
        """Move the cursor, up to the ends of the list."""
        item = max(0, min(self.cursor + items, len(self._items) - 1))
        if item != self.cursor:
            self.cursor = item
            self.reveal(item)
            self.redraw()
            self.post_message(self.Highlighted())


_PAGES = 4


class DialogList(RowList, can_focus=True, inherit_bindings=False):
    """Lines that are cut to the width; the cursor is pale while another widget of the dialog has the keys."""

    whole_items = True

    class Clicked(Message):
        """The user clicked on an item, which has the cursor now."""

    def rows(self, item: int, width: int) -> list[Row]:
        """The lines of an item, each cut to the width."""
        return [cut_row(row, width) for row in super().rows(item, width)]

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """The cells of the widest item of the first pages, with those that stay free at its right."""
        items = range(min(self.count(), _PAGES * viewport.height))
        lines = (row for item in items for row in self.rows(item, container.width))
        widest = max((sum(cell_width(text) for text, _ in row) for row in lines), default=cell_width(self.note))
        return min(widest + 2, container.width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - as Textual declares it
        """The lines of all items, counted up to the height of the terminal; one line for the note."""
        lines = 0
        for item in range(min(self.count(), viewport.height)):
            lines += len(self.rows(item, max(10, width - 1)))
        return max(1, lines)

    def on_click(self, event: Click) -> None:
        """Put the cursor on the item that was clicked."""
        item = self._moved(self.top, event.y)[0]
        if item < self.count():
            self.move(item - self.cursor)
            self.post_message(self.Clicked())


FileRow = tuple[str, str, str, str]
"""Path, kind of change, added and removed lines, and git status or a note."""


class FileList(RowList, can_focus=True):
    """The files that a session changed, one line each, in the order in which they were first touched."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "next file", show=False, id="files.down"),
        Binding("k,up", "move(-1)", "previous file", show=False, id="files.up"),
        Binding("J", "move(1)", show=False, id="files.next"),
        Binding("K", "move(-1)", show=False, id="files.previous"),
        Binding("g g,home", "edge(False)", "first file", show=False, id="files.first"),
        Binding("G,end", "edge(True)", "last file", show=False, id="files.last"),
        Binding("enter,l,right", "open", "show the diffs", show=False, id="files.open"),
    ]

    class Opened(Message):
        """The user asked for the diffs of the file."""

    def show_files(self, files: Sequence[FileRow]) -> None:
        """Show other files, or the current state of the same files."""
        top = self.top
        lines = self.count()
        self.show([partial(_file_row, file) for file in files], self.cursor)
        self.place(top)
        if self.count() != lines:
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - as Textual declares it
        """A line for each file; one for the note."""
        return max(1, min(self.count(), viewport.height))

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


def _file_row(file: FileRow, width: int) -> list[Row]:
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
