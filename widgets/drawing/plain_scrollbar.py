"""A scrollbar of blanks and colours, for terminals that have only ASCII."""

from typing import ClassVar

from textual.scrollbar import ScrollBarRender


class PlainScrollBar(ScrollBarRender):
    """Draws whole cells: Textual's own bar ends in parts of a cell, which are not ASCII."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]
