"""Lines of text that are redrawn only if the text or the width changes; a command is cut in its middle.

Commands often differ only at their ends.
"""

from collections.abc import Sequence
from typing import NamedTuple

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from agentdash.sessions.text.sanitize import cell_width, cut, cut_middle


class Line(Static):
    """Static text of a fixed size: a change does not lay out the screen, and an unchanged text is not drawn again."""

    DEFAULT_CSS = "Line { height: 1; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, markup=False)
        self._shown: Content | None = None

    def show_text(self, text: str | Content) -> None:
        """Show a text."""
        content = Content(text) if isinstance(text, str) else text
        if self._shown is None or content != self._shown or content.spans != self._shown.spans:
            self._shown = content
            self.update(content, layout=False)


class CommandLine(NamedTuple):
    """A line that ends with a command."""

    head: str
    command: str

    def fitted(self, width: int) -> str:
        """Return the line in at most ``width`` cells; the head is kept."""
        return cut(self.head + cut_middle(self.command, width - cell_width(self.head)), width)


class MiddleLines(Widget):
    """Shows every line on one row, as wide as the widget; a text loses its end, a command its middle."""

    DEFAULT_CSS = "MiddleLines { height: auto; }"

    def __init__(self, lines: Sequence[str | CommandLine] = ()) -> None:
        super().__init__()
        self._lines = list(lines)

    def show(self, lines: Sequence[str | CommandLine]) -> None:
        """Replace the lines."""
        self._lines = list(lines)
        self.refresh(layout=True)

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002 - as Textual declares it
        """Return all the width there is."""
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return the number of lines."""
        return len(self._lines)

    def render(self) -> Content:
        """Return the lines, each cut to the width."""
        width = self.size.width
        fitted = (cut(line, width) if isinstance(line, str) else line.fitted(width) for line in self._lines)
        return Content("\n".join(fitted))
