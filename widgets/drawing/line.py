"""One line of text that is redrawn only when its text changes."""

from textual.content import Content
from textual.widgets import Static


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
