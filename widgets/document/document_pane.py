"""A pane that shows a document of any length, scrolled by lines."""

from typing import ClassVar, Protocol

from textual.binding import Binding, BindingType
from textual.message import Message

from agentdash.widgets.drawing.spans import Row
from agentdash.widgets.lists.virtual_list import VirtualList


class Lines(Protocol):
    """A document that the pane can show: items whose rows are made on demand."""

    def __len__(self) -> int:
        """The number of items."""

    def rows(self, item: int, width: int) -> list[Row]:
        """The rows of an item, none wider than ``width`` cells."""


class DocumentPane(VirtualList):
    """Shows one document; keeps its scroll position while that document grows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "roll(1)", "line down", show=False, id="step.down"),
        Binding("k,up", "roll(-1)", "line up", show=False, id="step.up"),
        Binding("g g,home", "beginning", "top", show=False, id="step.first"),
        Binding("G,end", "ending", "bottom", show=False, id="step.last"),
        Binding("l,right", "another(1)", "next step", show=False, id="step.next"),
        Binding("h,left", "another(-1)", "previous step", show=False, id="step.previous"),
    ]

    class Another(Message):
        """The user asked for the next step or the previous one."""

        def __init__(self, direction: int) -> None:
            super().__init__()
            self.direction = direction

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._document: Lines | None = None

    def show(self, document: Lines, *, same: bool = False) -> None:
        """Show a document; ``same`` means that it is a newer form of the current one."""
        top = self.top if same else (0, 0)
        self._document = document
        self.forget_all()
        self.place(top)

    def count(self) -> int:
        """The number of items."""
        return 0 if self._document is None else len(self._document)

    def rows(self, item: int, width: int) -> list[Row]:
        """The rows of an item."""
        return self._document.rows(item, width) if self._document is not None else []

    def action_beginning(self) -> None:
        """Go to the first line."""
        self.place((0, 0))

    def action_ending(self) -> None:
        """Go to the last line."""
        self.place(self.end())

    def action_another(self, direction: int) -> None:
        """Ask for the next or previous document of the same kind."""
        self.post_message(self.Another(direction))
