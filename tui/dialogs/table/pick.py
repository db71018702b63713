"""Lists from which the user picks one entry: a short one by its letter, a long one by words that narrow it."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.events import Key
from textual.widget import Widget
from textual.widgets import Input, Static

from agentdash.sessions.text.sanitize import cell_width, clean, cut, one_line, pad
from agentdash.tui.dialogs.dialog import ListDialog
from agentdash.tui.keys.key_names import LIST_LETTERS
from agentdash.widgets.drawing.spans import Row
from agentdash.widgets.lists.row_list import Entry, line


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
        self.show([line((f"{key}  ", "strong"), (what, "text")) for key, what in self._offers], self._at)

    def on_key(self, event: Key) -> None:
        """Pick the offer of this key."""
        if event.character in self._letters:
            event.stop()
            self.dismiss(self._letters.index(event.character))

    def action_take(self) -> None:
        """Pick the line under the cursor."""
        self.dismiss(self.list.cursor)


_HEAD_CELLS = 24
"""Maximum width of the first column."""

_WHOLE_CHARACTERS = 2_000
"""Maximum characters of the text below the list, which has room for a few lines."""


class FindScreen(ListDialog[int]):
    """Returns the number of the entry that the user chose; the text of the one under the cursor is whole below."""

    goes_round = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+r", "move(1)", "next entry", show=False)]

    def __init__(self, title: str, entries: Sequence[Entry]) -> None:
        keys = "Enter take   Up Down choose   Esc close"
        super().__init__(title, keys, hint="type to search", empty="nothing matches")
        self._entries = entries
        self._searched = [f"{entry.head} {entry.note} {entry.text}".casefold() for entry in entries]
        self._head = min(_HEAD_CELLS, max((cell_width(one_line(entry.head)) for entry in entries), default=0))
        self._shown: list[int] = []
        self._whole = Static("", markup=False, id="find-whole")

    def body(self) -> Iterable[Widget]:
        """Return the entries, and the whole text of one."""
        return [self.list, self._whole]

    def on_mount(self) -> None:
        """Show all entries."""
        self._narrow()

    @on(Input.Changed)
    def _narrow(self) -> None:
        words = self.field.value.casefold().split()
        self._shown = [at for at, text in enumerate(self._searched) if all(word in text for word in words)]
        self.show([partial(self._row, self._entries[at]) for at in self._shown])

    def _row(self, entry: Entry, width: int) -> list[Row]:
        head = pad(one_line(entry.head, self._head), self._head)
        note = f"{one_line(entry.note)}  " if entry.note else ""
        room = max(0, width - cell_width(head) - 2)
        note = cut(note, room)
        text = cut(one_line(entry.text[: 4 * room + 1]), max(0, room - cell_width(note)))
        return [((f"{head}  ", "dim"), (note, "strong"), (text, "text"))]

    def highlighted(self) -> None:
        """Show the whole text of the entry under the cursor."""
        whole = clean(self._entries[self._shown[self.list.cursor]].text) if self._shown else ""
        self._whole.update(whole[:_WHOLE_CHARACTERS])

    def action_take(self) -> None:
        """Take the entry under the cursor."""
        if self._shown:
            self.dismiss(self._shown[self.list.cursor])
