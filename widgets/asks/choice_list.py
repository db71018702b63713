"""A list of the choices of a question; one or several of them can be marked."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from agentdash.sessions.rules.asks.model import Choice
from agentdash.widgets.asks.ask_document import brief
from agentdash.widgets.document.flow import cut_spans, flow
from agentdash.widgets.drawing.spans import Row
from agentdash.widgets.lists.row_list import RowList

MOST_LINES = 8
"""Most lines of the list; it scrolls beyond them."""


_DIGITS = 9
"""Choices that have a digit."""


class ChoiceList(RowList, can_focus=True):
    """Space marks the choice under the cursor; Enter takes it, or all marked ones if several may be taken.

    The digit before a choice takes it, or marks it if several may be taken.

    Args:
        choices: the choices, whose texts are hostile.
        marked: the labels of the choices that are marked at first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "go(1)", "down", show=False),
        Binding("up,k", "go(-1)", "up", show=False),
        Binding("space", "mark", "mark", show=False),
        Binding("enter", "take", "take", show=False),
        *(Binding(str(digit), f"digit({digit})", "take", show=False) for digit in range(1, 10)),
    ]
    whole_items = True

    class Taken(Message):
        """The user answered with what is marked."""

    class Marked(Message):
        """The marks changed."""

    class OtherAsked(Message):
        """The user pressed the digit after the last choice: for an answer in words."""

    def __init__(self, choices: Sequence[Choice], *, several: bool, marked: Collection[str] = ()) -> None:
        super().__init__()
        self._choices = choices
        self._several = several
        self._most = MOST_LINES
        self._marks = {at for at, choice in enumerate(choices) if choice.label in marked}

    @property
    def marked(self) -> tuple[str, ...]:
        """The labels of the marked choices, as the agent gave them and in its order."""
        return tuple(self._choices[at].label for at in sorted(self._marks))

    def on_mount(self) -> None:
        """Show the choices."""
        super().on_mount()
        self.show([partial(self._row, at) for at in range(len(self._choices))], min(self._marks, default=0))
        self._fit()

    def on_resize(self) -> None:
        """Wrap to the new width."""
        super().on_resize()
        self._fit()

    def unmark(self) -> None:
        """Remove all marks."""
        if self._marks:
            self._marks.clear()
            self._marks_changed()

    def action_go(self, by: int) -> None:
        """Move the cursor."""
        self.move(by)

    def action_mark(self) -> None:
        """Mark the choice under the cursor, or unmark it."""
        if not self._choices:
            return
        if self._several:
            self._marks ^= {self.cursor}
        else:
            self._marks = {self.cursor}
        self._marks_changed()
        self.post_message(self.Marked())

    def action_take(self) -> None:
        """Answer with the choice under the cursor, or with the marked ones."""
        if not self._several:
            self.action_mark()
        self.post_message(self.Taken())

    def action_digit(self, digit: int) -> None:
        """Answer with the choice of this number, or mark it if several may be taken."""
        if digit <= len(self._choices):
            self.move(digit - 1 - self.cursor)
            self.action_mark() if self._several else self.action_take()
        elif digit == len(self._choices) + 1:
            self.post_message(self.OtherAsked())

    def _row(self, at: int, width: int) -> list[Row]:
        choice = self._choices[at]
        sign = "x" if at in self._marks else " "
        number = f"{at + 1} " if at < _DIGITS else "  "
        box = number + (f"[{sign}] " if self._several else f"({sign}) ")
        text = [(brief(choice.label), "strong" if at in self._marks else "text")]
        if choice.description.strip():
            text.append((f"  {brief(choice.description)}", "dim"))
        text = cut_spans(text, 2 * (width - len(box)))
        return flow(text, width, ((box, "text"),), ((" " * len(box), "text"),))

    def _marks_changed(self) -> None:
        self.forget_strips()
        self.redraw()

    def fit(self, lines: int) -> None:
        """Take at most these lines, and ``MOST_LINES``; the choice under the cursor stays in sight."""
        self._most = max(1, min(lines, MOST_LINES))
        self._fit()

    def _fit(self) -> None:
        """Take as many lines as the choices need, up to the most."""
        lines = 0
        for item in range(min(len(self._choices), self._most)):
            lines += len(self.rows(item, self.columns))
        self.styles.height = max(1, min(lines, self._most))
        self.call_after_refresh(self.reveal, self.cursor)
