"""A list that typing narrows, with the whole text of the entry under the cursor below it."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from ....sessions.text.sanitize import cell_width, clean, cut, one_line, pad
from ....widgets.drawing.spans import Row
from ....widgets.lists.entry import Entry
from ....widgets.lists.row_list import RowList

_HEAD_CELLS = 24
"""Maximum width of the first column."""

_WHOLE_CHARACTERS = 2_000
"""Maximum characters of the text below the list, which has room for a few lines."""


class FindScreen(ModalScreen[int | None]):
    """Returns the number of the entry that the user chose; None if the user chose none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "close", show=False),
        Binding("down,ctrl+r", "move(1)", "next entry", show=False),
        Binding("up", "move(-1)", "previous entry", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
    ]

    def __init__(self, title: str, entries: Sequence[Entry]) -> None:
        super().__init__()
        self._title = title
        self._entries = entries
        self._searched = [f"{entry.head} {entry.note} {entry.text}".casefold() for entry in entries]
        self._head = min(_HEAD_CELLS, max((cell_width(one_line(entry.head)) for entry in entries), default=0))
        self._shown: list[int] = []
        self._input = Input(placeholder="type to search", compact=True, id="find-words")
        self._input.cursor_blink = False
        self._list = RowList(id="find-list")
        self._whole = Static("", markup=False, id="find-whole")

    def compose(self) -> ComposeResult:
        """Yield the field, the entries, the whole text of one, and the keys."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(self._title)
            yield self._input
            yield self._list
            yield self._whole
            yield Static("Enter take   Up Down choose   Esc close", classes="keys")

    def on_mount(self) -> None:
        """Show all entries."""
        self._narrow()

    @on(Input.Changed)
    def _narrow(self) -> None:
        words = self._input.value.casefold().split()
        self._shown = [at for at, text in enumerate(self._searched) if all(word in text for word in words)]
        self._list.note = "nothing matches"
        self._list.show([partial(self._row, self._entries[at]) for at in self._shown])

    def _row(self, entry: Entry, width: int) -> list[Row]:
        head = pad(one_line(entry.head, self._head), self._head)
        note = f"{one_line(entry.note)}  " if entry.note else ""
        room = max(0, width - cell_width(head) - 2)
        note = cut(note, room)
        text = cut(one_line(entry.text[: 4 * room + 1]), max(0, room - cell_width(note)))
        return [((f"{head}  ", "dim"), (note, "strong"), (text, "text"))]

    @on(RowList.Highlighted)
    def _highlighted(self) -> None:
        whole = clean(self._entries[self._shown[self._list.cursor]].text) if self._shown else ""
        self._whole.update(whole[:_WHOLE_CHARACTERS])

    def action_move(self, by: int) -> None:
        """Move the cursor by ``by`` entries."""
        self._list.move(by)

    def action_page(self, pages: int) -> None:
        """Move the cursor by pages."""
        self._list.move(pages * max(1, self._list.page_lines - 1))

    @on(Input.Submitted)
    def _taken(self) -> None:
        if self._shown:
            self.dismiss(self._shown[self._list.cursor])
