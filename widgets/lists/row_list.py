"""Lists of ready lines with a cursor, which is moved by the widget that has the focus, or by the list's dialog."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from msgspec import Struct
from textual.binding import BindingType
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

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


class DialogList(RowList, can_focus=True, inherit_bindings=False):
    """Lines that are cut to the width; the cursor is pale while another widget of the dialog has the keys."""

    whole_items = True

    class Clicked(Message):
        """The user clicked on an item, which has the cursor now."""

    def rows(self, item: int, width: int) -> list[Row]:
        """The lines of an item, each cut to the width."""
        return [cut_row(row, width) for row in super().rows(item, width)]

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
