"""Pictures for terminals with less: without colours, or with ASCII alone, whose scrollbars are blanks and colours."""

from functools import lru_cache
from typing import ClassVar

from rich.cells import cell_len, set_cell_size, split_graphemes
from rich.color import Color as TerminalColor
from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
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


_LIGHT = 128
"""The brightness, up to 255, from which a ground is the light one of the two colours of the theme."""


class WithoutColours(LineFilter):
    """Takes the colours from a picture that has two."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - Textual's
        """Return the segments without colours."""
        return [Segment(text, _plain(style) if style else style, control) for text, style, control in segments]


@lru_cache(4096)
def _plain(style: Style) -> Style:
    light = style.bgcolor is not None and _brightness(style.bgcolor) >= _LIGHT
    plain = style.without_color
    return plain + Style(reverse=not style.reverse) if light else plain


def _brightness(color: TerminalColor) -> float:
    if color.type is ColorType.DEFAULT:
        return 0
    red, green, blue = color.get_truecolor()
    return 0.3 * red + 0.59 * green + 0.11 * blue
