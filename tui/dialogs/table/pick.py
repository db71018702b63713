"""A short list from which the user picks one entry, by its letter or with the cursor."""

from collections.abc import Sequence
from functools import partial

from textual.events import Key

from agentdash.tui.dialogs.dialog import ListDialog
from agentdash.tui.keys.key_names import LIST_LETTERS
from agentdash.widgets.drawing.spans import Row


class PickScreen(ListDialog[int]):
    """Returns the number of the offer that the user picked."""

    def __init__(self, title: str, offers: Sequence[tuple[str, str]], at: int = 0) -> None:
        """Create the dialog with the cursor on offer number ``at``; offers are pairs of a letter and what it picks.

        Raises:
            ValueError: two offers have the same letter, or one has a letter that moves the cursor or closes.
        """
        super().__init__(title, "j k move   Enter or letter choose   Esc close")
        self._offers = list(offers)
        self._letters = [key for key, _ in offers]
        if len({*self._letters, *LIST_LETTERS}) != len(offers) + len(LIST_LETTERS):
            raise ValueError(f"letters of {title!r} collide: {' '.join(self._letters)}")
        self._at = at

    def on_mount(self) -> None:
        """Put the cursor on the current choice."""
        self.show([partial(_row, key, what) for key, what in self._offers], self._at)

    def on_key(self, event: Key) -> None:
        """Pick the offer of this key."""
        if event.character in self._letters:
            event.stop()
            self.dismiss(self._letters.index(event.character))

    def action_take(self) -> None:
        """Pick the line under the cursor."""
        self.dismiss(self.list.cursor)


def _row(key: str, what: str, _: int) -> list[Row]:
    return [((f"{key}  ", "strong"), (what, "text"))]
