"""The picture for terminals that have only ASCII: its characters, and scrollbars of blanks and colours."""

from typing import ClassVar

from rich.cells import cell_len, set_cell_size, split_graphemes
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter
from textual.scrollbar import ScrollBarRender

from agentdash.widgets.drawing.glyphs import in_ascii


class InAscii(LineFilter):
    """Replaces all characters of a drawn line that are not ASCII; texts that are copied or exported are not drawn."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - Textual's
        """Return the segments in ASCII."""
        return [
            segment if segment.text.isascii() else Segment(_replaced(segment.text), segment.style, segment.control)
            for segment in segments
        ]


def _replaced(text: str) -> str:
    """Return the text in ASCII, with the cells that Rich (15) counts: for some clusters fewer than for each alone."""
    plain = in_ascii(text)
    if len(plain) == cell_len(text):
        return plain
    clusters, _ = split_graphemes(text)
    return "".join(set_cell_size(in_ascii(text[start:end]), cells) for start, end, cells in clusters)


class PlainScrollBar(ScrollBarRender):
    """Draws whole cells: Textual's own bar ends in parts of a cell, which are not ASCII."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]
