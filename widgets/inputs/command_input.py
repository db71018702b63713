"""The field of a command line: Tab completes, up and down walk through its history."""

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType

from agentdash.widgets.inputs.history import History, HistoryInput


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
