"""Entered texts that the user can go back to, an input that does so, and that of a command line, which completes."""

from collections.abc import Callable, Iterable
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


class CommandInput(HistoryInput):
    """Tab inserts the common part of all completions, then one completion after the other.

    Args:
        complete: returns the common part and the completions of a line.
        history: earlier lines, which outlive the field.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete(1)", "complete", show=False),
        Binding("shift+tab", "complete(-1)", "previous completion", show=False),
    ]

    def __init__(
        self,
        complete: Callable[[str], tuple[str, list[str]]],
        history: History,
        *,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(id=id)
        self.earlier = history
        self._complete = complete
        self._offers: list[str] = []

    def action_complete(self, direction: int) -> None:
        """Complete the current line."""
        if self.value in self._offers:
            at = (self._offers.index(self.value) + direction) % len(self._offers)
            self._put(self._offers[at])
            return
        agreed, offers = self._complete(self.value)
        self._offers = offers if len(offers) > 1 else []
        if offers:
            self._put(agreed if agreed != self.value or len(offers) == 1 else offers[0])
