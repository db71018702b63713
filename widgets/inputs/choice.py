"""Parts of a form: a row with a name and a widget, and a choice of one of a few values."""

from collections.abc import Collection, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Label, Static

from agentdash.widgets.drawing.roles import MUTED


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


class Choice(Static, can_focus=True):
    """Highlights the chosen value, reversed while focused; ``without`` follows the values and cannot be chosen."""

    DEFAULT_CSS = "Choice { height: auto; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,space", "step(1)", "next", show=False),
        Binding("left", "step(-1)", "previous", show=False),
    ]

    class Changed(Message):
        """The user chose a value."""

        def __init__(self, choice: "Choice", value: str) -> None:
            super().__init__()
            self.choice = choice
            self.value = value

        @property
        def control(self) -> "Choice":
            """The widget that sent the message."""
            return self.choice

    def __init__(self, values: Sequence[str], chosen: str, *, without: str = "", id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, markup=False)
        self._values = list(values)
        self._at = self._values.index(chosen) if chosen in self._values else 0
        self._without = without
        self._alarming: Collection[str] = ()
        self._focused = False
        """Set by the focus events, because ``has_focus`` changes after them."""

    @property
    def value(self) -> str | None:
        """The chosen value; None if there are no values."""
        return self._values[self._at] if self._values else None

    def on_mount(self) -> None:
        """Show the values."""
        self._show()

    def offer(self, values: Sequence[str], chosen: str, alarming: Collection[str] = ()) -> None:
        """Replace the values; a chosen value that is in ``alarming`` has the colour of failures."""
        self._alarming = alarming
        self._values = list(values)
        self._at = self._values.index(chosen) if chosen in self._values else 0
        self._show()

    def action_step(self, by: int) -> None:
        """Choose the next or the previous value."""
        if self._values:
            # No wrapping: the safest value must not be one key away from the most dangerous.
            self._at = min(max(self._at + by, 0), len(self._values) - 1)
            self._show()
            self.post_message(self.Changed(self, self._values[self._at]))

    def on_focus(self) -> None:
        """Show that the choice has the focus."""
        self._focused = True
        self._show()

    def on_blur(self) -> None:
        """Show that the choice lost the focus."""
        self._focused = False
        self._show()

    def _show(self) -> None:
        # Brackets as well, so that the choice is readable without colours.
        others = "$block-cursor-foreground" if self._focused else MUTED
        parts = [
            Content.styled(f"[{value}]", self._style(value)) if at == self._at else Content.styled(f" {value} ", others)
            for at, value in enumerate(self._values)
        ]
        if self._without:
            parts.append(Content.styled(f"  {self._without}", others))
        self.update(Content(" ").join(parts))

    def _style(self, chosen: str) -> str:
        colour = "$text-error" if chosen in self._alarming else "$foreground"
        return f"bold reverse {colour}" if self._focused else f"bold {colour}"
