"""A field of one line; up and down walk through earlier values."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.suggester import Suggester
from textual.widgets import Input

from .history import History


class HistoryInput(Input):
    """Up and down put earlier values into the field; right accepts the suggestion."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "older", "previous entry", show=False),
        Binding("down", "newer", "next entry", show=False),
    ]

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str = "",
        suggester: Suggester | None = None,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(value, placeholder=placeholder, suggester=suggester, compact=True, id=id)
        self.cursor_blink = False
        self.earlier = History()
        """The earlier values."""

    def action_older(self) -> None:
        """Put the previous value into the field."""
        self._put(self.earlier.older(self.value))

    def action_newer(self) -> None:
        """Put the next value into the field, finally the draft."""
        self._put(self.earlier.newer())

    def _put(self, value: str | None) -> None:
        if value is not None:
            self.value = value
            self.cursor_position = len(value)
