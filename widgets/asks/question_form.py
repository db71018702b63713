"""The questions of an ask: one after the other, or all fields of a form at once."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message

from agentdash.sessions.rules.asks.model import Question
from agentdash.widgets.asks.answer_field import AnswerDraft, AnswerField

MOST = 100
"""Most questions that are shown; an ask with more can only be denied."""


class QuestionForm(VerticalScroll, can_focus=False):
    """Collects the answers.

    Args:
        questions: the questions, at most ``MOST``.
        all_at_once: True shows all of them, False the first until it is answered.
        drafts: the unfinished answers with which it begins, in the order of the questions.
    """

    class Moved(Message):
        """Another question is shown."""

    class Entered(Message):
        """The user pressed Enter in a field; :meth:`go_on` accepts it."""

        def __init__(self, form: "QuestionForm") -> None:
            super().__init__()
            self.form = form

    class Complete(Message):
        """The user gave the last answer, and all of them can be given."""

        def __init__(self, form: "QuestionForm") -> None:
            super().__init__()
            self.form = form

    def __init__(self, questions: Sequence[Question], *, all_at_once: bool, drafts: Sequence[AnswerDraft] = ()) -> None:
        super().__init__()
        begun = zip_longest(questions, drafts[: len(questions)])
        self._fields = [AnswerField(one, draft=draft) for one, draft in begun]
        self._all_at_once = all_at_once
        self._at = 0

    def compose(self) -> ComposeResult:
        """Yield the fields."""
        yield from self._fields

    def on_mount(self) -> None:
        """Show the first question."""
        self._show()

    @property
    def values(self) -> Mapping[str, tuple[str, ...]]:
        """The answers that were given, by the key of their question."""
        return {field.question.key: field.values for field in self._fields if field.values}

    @property
    def drafts(self) -> tuple[AnswerDraft, ...]:
        """The unfinished answers, in the order of the questions."""
        return tuple(field.draft for field in self._fields)

    @property
    def place(self) -> tuple[int, int]:
        """The position of the shown question from 1, and the number of questions; (1, 1) if all are shown."""
        return (1, 1) if self._all_at_once else (self._at + 1, len(self._fields))

    @property
    def at_last(self) -> bool:
        """True if no question follows the one that has the keys, so that Enter answers."""
        return self._at + 1 >= len(self._fields)

    @property
    def lines(self) -> int:
        """The lines that its shown questions take."""
        return sum(field.lines for field in self._fields)

    def fit(self, lines: int) -> None:
        """Take at most these lines; each question fits into them."""
        self.styles.max_height = lines
        for field in self._fields:
            field.fit(lines)

    def give_keys(self) -> None:
        """Focus the shown question, from its beginning."""
        self._fields[self._at].give_keys()
        self.call_after_refresh(self._reveal)

    def _reveal(self) -> None:
        """Scroll to the beginning of the field with the keys."""
        self.scroll_to_widget(self._fields[self._at], animate=False, top=True, force=True)

    def go_on(self) -> None:
        """Go to the next question if this one has a good answer; after the last, report that all are answered."""
        if not self._fields[self._at].check():
            self.give_keys()
        elif self._at + 1 < len(self._fields):
            self._go_to(self._at + 1)
        else:
            self.finish()

    def finish(self) -> None:
        """Report that all questions are answered, or go to the first one that is not."""
        checked = [field.check() for field in self._fields]
        if all(checked):
            self.post_message(self.Complete(self))
        else:
            self._go_to(checked.index(False))

    def back(self) -> bool:
        """Go to the question before; return False if there is none."""
        if self._all_at_once or self._at == 0:
            return False
        self._go_to(self._at - 1)
        return True

    def on_descendant_focus(self) -> None:
        """Note which field of a form has the keys."""
        if self._all_at_once:
            self._at = next((at for at, one in enumerate(self._fields) if one.has_focus_within), self._at)
        self._reveal()

    @on(AnswerField.Entered)
    def _entered(self, event: AnswerField.Entered) -> None:
        event.stop()
        self.post_message(self.Entered(self))

    def _go_to(self, at: int) -> None:
        self._at = at
        self._show()
        self.give_keys()
        self.post_message(self.Moved())

    def _show(self) -> None:
        for at, field in enumerate(self._fields):
            field.display = self._all_at_once or at == self._at
