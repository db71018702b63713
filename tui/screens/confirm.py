"""A question before something is ended: the answer is No unless somebody says Yes."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static


class ConfirmScreen(ModalScreen[bool]):
    """Names what will be ended; ``y`` does it, everything else keeps it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes", show=False),
        Binding("n,escape,enter,q", "answer(False)", "no", show=False),
    ]

    def __init__(self, question: str, details: Sequence[str], consequence: str, verb: str) -> None:
        super().__init__()
        self._question = question
        self._details = list(details)
        self._consequence = consequence
        self._verb = verb

    def compose(self) -> ComposeResult:
        """Question, what it concerns, and the keys."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = self._question.replace("[", "\\[")
            with VerticalScroll(can_focus=False):
                yield Static("\n".join(self._details), markup=False, classes="lines")
            yield Static(self._consequence, markup=False, classes="consequence")
            yield Static(f"y {self._verb}   n keep (default)", markup=False, classes="keys")

    def action_answer(self, yes: bool) -> None:
        """Close with the answer."""
        self.dismiss(yes)
