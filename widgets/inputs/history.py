"""Entered texts that the user can go back to, and an input that does so."""

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.suggester import Suggester
from textual.widgets import Input


class History:
    """Earlier texts, newest first; position 0 is the draft."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts = list(texts)
        self._at = 0
        self._draft = ""

    def learn(self, texts: Iterable[str]) -> None:
        """Replace the earlier texts, and go back to the draft."""
        self._texts = list(texts)
        self._at = 0

    def older(self, current: str) -> str | None:
        """The text before the current one; None at the oldest."""
        if self._at == 0:
            self._draft = current
        at = self._at + 1
        while at <= len(self._texts) and self._texts[at - 1] == current:
            at += 1  # an equal text would look like a dead key
        if at > len(self._texts):
            return None
        self._at = at
        return self._texts[at - 1]

    def newer(self) -> str | None:
        """The text after the current one, finally the draft; None if the draft is already current."""
        if self._at == 0:
            return None
        self._at -= 1
        return self._texts[self._at - 1] if self._at else self._draft

    def sent(self, text: str) -> None:
        """Add a sent text to the history, and start an empty draft."""
        self._texts = [text, *(other for other in self._texts if other != text)]
        self._at = 0
        self._draft = ""


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
