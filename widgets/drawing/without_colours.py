"""The picture without colours: a light ground on dark is reversed, and everything else keeps its bold or underline."""

from functools import lru_cache

from rich.color import Color, ColorType
from rich.segment import Segment
from rich.style import Style
from textual.color import Color as Ground
from textual.filter import LineFilter

_LIGHT = 128
"""The brightness, up to 255, from which a ground is the light one of the two colours of the theme."""


class WithoutColours(LineFilter):
    """Takes the colours from a picture that has two."""

    def apply(self, segments: list[Segment], background: Ground) -> list[Segment]:  # noqa: ARG002 - Textual's
        """Return the segments without colours."""
        return [Segment(text, _plain(style) if style else style, control) for text, style, control in segments]


@lru_cache(4096)
def _plain(style: Style) -> Style:
    light = style.bgcolor is not None and _brightness(style.bgcolor) >= _LIGHT
    plain = style.without_color
    return plain + Style(reverse=not style.reverse) if light else plain


def _brightness(color: Color) -> float:
    if color.type is ColorType.DEFAULT:
        return 0
    red, green, blue = color.get_truecolor()
    return 0.3 * red + 0.59 * green + 0.11 * blue
