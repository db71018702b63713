"""The rows below the plot of usage."""

from textual.strip import Strip

from ..lists.row_list import RowList


class UsageRows(RowList):
    """A list whose cursor is pale while the keys act on the columns of the plot."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.active = True
        """True if the keys act on the rows."""

    def strips(self, item: int) -> list[Strip]:
        """The line of a row; the line under the cursor has its own colour."""
        drawn = super().strips(item)
        if item != self.cursor or self.active:
            return drawn
        return [self._painter.strip(self.rows(item, self.columns)[-1], self.size.width, over="cursor-blurred")]
