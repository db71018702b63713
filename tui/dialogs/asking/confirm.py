"""A confirmation before something is ended; the default answer is No."""

from collections.abc import Sequence
from enum import Enum
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from agentdash.tui.dialogs.dialog import Frame, KeyLine, Kind
from agentdash.widgets.drawing.text_lines import CommandLine, MiddleLines, TitledLine

_ENDING = frozenset({"stop", "kill", "delete", "interrupt", "cancel", "dismiss"})
"""Verbs that end something."""


class Answer(Enum):
    """The user's answer."""

    NO = "no"
    YES = "yes"
    ALL = "all"
    """Yes, and the same for what belongs to it."""


class ConfirmScreen(ModalScreen[Answer]):
    """Names what will be ended; ``y`` does it, ``a`` does more if that is offered, every other key keeps it."""

    DECIDING: ClassVar[frozenset[str]] = frozenset({"y", "a"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('yes')", "yes", show=False),
        Binding("a", "answer('all')", "all", show=False),
        Binding("n,escape,enter,q", "answer('no')", "no", show=False),
    ]

    def __init__(
        self,
        question: str,
        details: Sequence[str | CommandLine | TitledLine],
        consequence: str,
        verb: str,
        *,
        more: str | None = None,
        keep: str = "cancel",
    ) -> None:
        """``more`` is the label of ``a``, which else does nothing; ``keep`` is that of ``n``."""
        super().__init__()
        self._question = question
        self._details = MiddleLines(details)
        self._consequence = consequence
        self._verb = verb
        self._more = more
        self._keep = keep

    def compose(self) -> ComposeResult:
        """Yield the details, the consequence, and the keys; the question is the border title."""
        with Frame(Kind.ENDS if self._verb.partition(" ")[0] in _ENDING else Kind.ASKS, self._question):
            with VerticalScroll(can_focus=False):
                yield self._details
            yield Static(self._consequence, markup=False, classes="consequence")
            keys = [f"y {self._verb}", *([f"a {self._more}"] if self._more else []), f"n {self._keep}"]
            yield KeyLine("   ".join(keys))

    def action_answer(self, value: str) -> None:
        """Close with the answer."""
        answer = Answer(value)
        if answer is not Answer.ALL or self._more:
            self.dismiss(answer)
