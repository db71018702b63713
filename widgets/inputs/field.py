"""A row of a dialog: a name and, beside it, what can be filled in or chosen."""

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Label


class Field(Horizontal):
    """Carries the class ``-focused`` while its widget has the keys.

    A class, because ``:focus-within`` does not reach the name: Textual (8.2) styles only the widgets between the
    screen and the focused one again when the focus moves, not what stands beside it.
    """

    DEFAULT_CSS = """
    Field { height: auto; }
    """

    def __init__(self, name: Label | str, widget: Widget) -> None:
        super().__init__(classes="row")
        self._label = Label(name) if isinstance(name, str) else name
        self._widget = widget

    def compose(self) -> ComposeResult:
        """The name, then the widget."""
        yield self._label
        yield self._widget

    def on_descendant_focus(self) -> None:
        """Show that the keys are here."""
        self.add_class("-focused")

    def on_descendant_blur(self) -> None:
        """Show that the keys are elsewhere."""
        self.remove_class("-focused")
