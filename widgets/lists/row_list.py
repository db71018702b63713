"""A list of ready lines with a cursor, which is moved by the widget that has the focus."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip

from agentdash.widgets.drawing.spans import Row
from agentdash.widgets.lists.virtual_list import VirtualList

Draw = Callable[[int], list[Row]]
"""Returns the lines of an item, none wider than the given cells; the cursor is on the last of them."""


class RowList(VirtualList, can_focus=False):
    """A list below a field that keeps the focus; the list never takes it."""

    BINDINGS: ClassVar[list[BindingType]] = []

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

    def strips(self, item: int) -> list[Strip]:
        """The drawn lines of an item; under the cursor, the last one has its own colour."""
        drawn = super().strips(item)
        if item != self.cursor:
            return drawn
        return [*drawn[:-1], self._painter.strip(self.rows(item, self.columns)[-1], self.size.width, over="cursor")]

    def move(self, items: int) -> None:
        """Move the cursor, up to the ends of the list."""
        item = max(0, min(self.cursor + items, len(self._items) - 1))
        if item != self.cursor:
            self.cursor = item
            self.reveal(item)
            self.redraw()
            self.post_message(self.Highlighted())
