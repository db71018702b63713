"""The questions of an ask: one after the other, or all fields of a form at once.

A field shows one question with the widgets that answer it: choices, yes or no, words.
"""

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from agentdash.sessions.rules.asks.model import Question
from agentdash.sessions.text.sanitize import cell_width, cut
from agentdash.widgets.asks.ask_document import NO, UNSET, YES, boolean, brief, combined, kind, problem
from agentdash.widgets.asks.choice_list import ChoiceList
from agentdash.widgets.drawing.roles import MUTED
from agentdash.widgets.inputs.choice import Choice, Field


class AnswerDraft(Struct, frozen=True):
    """An unfinished answer to one question."""

    words: str = ""
    marked: tuple[str, ...] = ()
    """The labels of the marked choices."""
    chosen: str = ""
    """Yes or no."""


def default_draft(question: Question) -> AnswerDraft:
    """Return the answer with which a question begins: its default."""
    labels = {choice.label for choice in question.choices}
    given = question.default
    return AnswerDraft(
        words=next((value for value in given if value not in labels), ""),
        marked=tuple(value for value in given if value in labels),
        chosen={"true": YES, "false": NO}.get(given[0], "") if given else "",
    )


OWN_WORDS = "write your own answer"
_HEADING_LINES = 3
"""Most lines of a question in its field; the text of the card has a longer one whole."""
_AROUND_LIST = 3
"""Lines of a field beside its heading and its list: the margin, and the field for words."""


class AnswerField(Vertical):
    """Shows a question; a wrong answer is named below it.

    Args:
        question: the question, whose texts are hostile.
        draft: the unfinished answer with which it begins.
    """

    DEFAULT_CSS = """
    AnswerField { height: auto; margin-top: 1; }
    AnswerField .question { max-height: 3; }
    AnswerField .problem { color: $text-error; display: none; }
    """

    class Entered(Message):
        """The user pressed Enter in the field."""

    def __init__(self, question: Question, *, draft: AnswerDraft | None = None) -> None:
        super().__init__()
        self.question = question
        choices, draft = question.choices, draft or default_draft(question)
        self._list = ChoiceList(choices, several=question.several, marked=draft.marked) if choices else None
        is_boolean = question.type == "boolean" and not choices
        self._boolean = Choice([UNSET, YES, NO], draft.chosen or UNSET) if is_boolean else None
        takes_words = not is_boolean and (question.free or not choices)
        self._words = Input(draft.words, password=question.secret, compact=True) if takes_words else None
        if self._words is not None:
            self._words.cursor_blink = False
            self._words.placeholder = OWN_WORDS if choices else ""
        self._question = Static("", markup=False, classes="question")
        self._problem = Static("", markup=False, classes="problem")

    def compose(self) -> ComposeResult:
        """Yield the question, the widgets that answer it, and the error."""
        yield self._question
        if self._list is not None:
            yield self._list
        if self._boolean is not None:
            yield Field("answer", self._boolean)
        if self._words is not None:
            yield Field(_words_name(len(self.question.choices)), self._words)
        yield self._problem

    @property
    def values(self) -> tuple[str, ...]:
        """The answer; empty if there is none yet."""
        if self._boolean is not None:
            return boolean(self._boolean.value or "")
        marked = self._list.marked if self._list is not None else ()
        return combined(self.question, marked, self._words.value if self._words is not None else "")

    @property
    def draft(self) -> AnswerDraft:
        """The unfinished answer; of a secret question, none."""
        if self.question.secret:
            return AnswerDraft()
        return AnswerDraft(
            words=self._words.value if self._words is not None else "",
            marked=self._list.marked if self._list is not None else (),
            chosen=(self._boolean.value or "") if self._boolean is not None else "",
        )

    def check(self) -> bool:
        """Return whether the answer can be given; if not, show why."""
        reason = problem(self.question, self.values)
        self._problem.update(reason)
        self._problem.display = bool(reason)
        return not reason

    def on_mount(self) -> None:
        """Show the question."""
        self.on_resize()

    def on_resize(self) -> None:
        """Cut the question to its lines."""
        self._question.update(self._heading((_HEADING_LINES - 1) * max(20, self.size.width)))

    def fit(self, lines: int) -> None:
        """Fit the field into these lines, so that its question and its choices are seen together."""
        if self._list is not None:
            self._list.fit(lines - _AROUND_LIST - min(_HEADING_LINES, self._question.size.height or 1))

    @property
    def lines(self) -> int:
        """The lines that it takes, with its margin; 0 if it is not shown."""
        return self.outer_size.height + self.styles.margin.height if self.display else 0

    def give_keys(self) -> None:
        """Focus the first widget of the field; the form scrolls."""
        inputs: tuple[Widget | None, ...] = (self._list, self._boolean, self._words)
        if (first := next((one for one in inputs if one is not None), None)) is not None:
            first.focus(scroll_visible=False)

    def _heading(self, cells: int) -> Content:
        question, note = self.question, kind(self.question)
        header, text = brief(question.header), brief(question.text).strip()
        lead = f"{header}: " if header and header != text else ""
        note = f"  ({note})" if note else ""
        shown = cut(lead + (text or brief(question.key)), max(20, cells - cell_width(note)))
        return Content.assemble((shown, "bold"), (note, MUTED))

    @on(ChoiceList.Taken)
    @on(Input.Submitted)
    def _entered(self, event: Message) -> None:
        event.stop()
        self.post_message(self.Entered())

    @on(ChoiceList.OtherAsked)
    def _other_asked(self, event: Message) -> None:
        event.stop()
        if self._words is not None:
            self._words.focus(scroll_visible=False)

    @on(ChoiceList.Marked)
    def _marked(self, event: Message) -> None:
        """Remove the words if the choice replaces them."""
        event.stop()
        if self._words is not None and not self.question.several:
            self._words.value = ""

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        """Remove the marked choice if the words replace it."""
        event.stop()
        if event.value.strip() and self._list is not None and not self.question.several:
            self._list.unmark()


def _words_name(choices: int) -> str:
    """Return the name of the field for words: after choices with digits, it has the next digit."""
    if not choices:
        return "answer"
    return f"{choices + 1} other" if choices < _DIGITS else "other"


_DIGITS = 9

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
