"""A short list from which the user picks one entry, by its letter or with the cursor."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ...keys.key_names import LIST_LETTERS


class PickScreen(ModalScreen[int | None]):
    """Returns the number of the offer that the user picked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "close", show=False),
        Binding("j", "go('down')", "down", show=False),
        Binding("k", "go('up')", "up", show=False),
    ]

    def __init__(self, title: str, offers: Sequence[tuple[str, str]], at: int = 0) -> None:
        """Create the dialog with the cursor on offer number ``at``; offers are pairs of a letter and what it picks.

        Raises:
            ValueError: two offers have the same letter, or one has a letter that moves the cursor or closes.
        """
        super().__init__()
        letters = [key for key, _ in offers]
        if len({*letters, *LIST_LETTERS}) != len(letters) + len(LIST_LETTERS):
            raise ValueError(f"letters of {title!r} collide: {' '.join(letters)}")
        self._title = title
        self._offers = list(offers)
        self._at = at

    def compose(self) -> ComposeResult:
        """Yield one line for each offer."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(self._title)
            yield OptionList(*(Option(Content.assemble((f"{key}  ", "bold"), what)) for key, what in self._offers))
            yield Static("j k move   Enter or letter choose   Esc close", classes="keys")

    def on_mount(self) -> None:
        """Put the cursor on the current choice."""
        self.query_one(OptionList).highlighted = self._at

    def action_go(self, way: str) -> None:
        """Move the cursor by one line."""
        options = self.query_one(OptionList)
        options.action_cursor_down() if way == "down" else options.action_cursor_up()

    def on_key(self, event: Key) -> None:
        """Pick the offer of this key."""
        for number, (key, _) in enumerate(self._offers):
            if event.character == key:
                event.stop()
                self.dismiss(number)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Pick the line under the cursor."""
        self.dismiss(event.option_index)
