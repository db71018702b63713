"""Lines that are cut in their middle, because commands often differ only at their ends."""

from collections.abc import Sequence

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from ...sessions.text.sanitize import cell_width, cut_middle
from .glyphs import UNICODE, Signs


class MiddleLines(Widget):
    """Shows every line on one row, as wide as the widget."""

    DEFAULT_CSS = "MiddleLines { height: auto; }"

    def __init__(self, lines: Sequence[str] = (), *, signs: Signs = UNICODE) -> None:
        super().__init__()
        self._lines = list(lines)
        self._signs = signs

    def show(self, lines: Sequence[str]) -> None:
        """Replace the lines."""
        self._lines = list(lines)
        self.refresh(layout=True)

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002 - as Textual declares it
        """Return the width of the widest line."""
        return max(map(cell_width, self._lines), default=0)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return the number of lines."""
        return len(self._lines)

    def render(self) -> Content:
        """Return the lines, each cut to the width."""
        width = self.size.width
        return Content("\n".join(self._signs.plain(cut_middle(line, width)) for line in self._lines))
