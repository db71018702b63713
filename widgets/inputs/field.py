"""A row of a dialog: a name, and a widget to fill in or choose from."""

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Label


class Field(Horizontal):
    """Has the class ``-focused`` while its widget has the focus.

    A class, because ``:focus-within`` does not reach the name: when the focus moves, Textual (8.2) restyles only the
    widgets between the screen and the focused one, not their siblings.
    """

    DEFAULT_CSS = "Field { height: auto; }"

    def __init__(self, name: Label | str, widget: Widget) -> None:
        super().__init__(classes="row")
        self._label = Label(name) if isinstance(name, str) else name
        self._widget = widget

    def compose(self) -> ComposeResult:
        """Yield the name, then the widget."""
        yield self._label
        yield self._widget

    def on_descendant_focus(self) -> None:
        """Show that the widget has the focus."""
        self.add_class("-focused")

    def on_descendant_blur(self) -> None:
        """Show that the widget lost the focus."""
        self.remove_class("-focused")
