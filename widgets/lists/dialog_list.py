"""The list of a dialog: as high as its lines, with a cursor that the dialog moves."""

from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from agentdash.widgets.drawing.spans import Row, cut_row
from agentdash.widgets.lists.row_list import RowList
from agentdash.widgets.lists.virtual_list import VirtualList


class DialogList(RowList, can_focus=True, inherit_bindings=False):
    """Lines that are cut to the width; the cursor is pale while another widget of the dialog has the keys."""

    class Clicked(Message):
        """The user clicked on an item, which has the cursor now."""

    def rows(self, item: int, width: int) -> list[Row]:
        """The lines of an item, each cut to the width."""
        return [cut_row(row, width) for row in super().rows(item, width)]

    def strips(self, item: int) -> list[Strip]:
        """The drawn lines of an item; those under the cursor have its colour."""
        drawn = VirtualList.strips(self, item)
        if item != self.cursor:
            return drawn
        over = "cursor" if self.has_focus or not self.can_focus else "cursor-blurred"
        return [self._painter.strip(row, self.size.width, over=over) for row in self.rows(item, self.columns)]

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
