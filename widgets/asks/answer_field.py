"""One question of an agent with the widgets that answer it: choices, yes or no, words."""

from collections.abc import Iterator

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from ...sessions.asks.model import Question
from ...sessions.text.sanitize import clean, shorten
from ..drawing.glyphs import UNICODE, Signs
from ..drawing.roles import MUTED
from ..inputs.choice import Choice
from ..inputs.field import Field
from .answers import NO, UNSET, YES, boolean, combined, kind, problem
from .ask_document import brief
from .choice_list import ChoiceList


class AnswerDraft(Struct, frozen=True):
    """An unfinished answer to one question."""

    words: str = ""
    marked: tuple[str, ...] = ()
    """The labels of the marked choices."""
    chosen: str = ""
    """Yes or no."""


_READ = 2_000
"""Most characters of a question on the screen."""


class AnswerField(Vertical):
    """Shows a question; a wrong answer is named below it.

    Args:
        question: the question, whose texts are hostile.
        draft: the unfinished answer with which it begins.
        signs: the characters to draw with.
    """

    DEFAULT_CSS = """
    AnswerField { height: auto; margin-top: 1; }
    AnswerField .question { max-height: 6; }
    AnswerField .problem { color: $text-error; display: none; }
    """

    class Entered(Message):
        """The user pressed Enter in the field."""

    def __init__(self, question: Question, *, draft: AnswerDraft | None = None, signs: Signs = UNICODE) -> None:
        super().__init__()
        self.question = question
        self._signs = signs
        choices, draft = question.choices, draft or AnswerDraft()
        self._list = (
            ChoiceList(choices, several=question.several, marked=draft.marked, signs=signs) if choices else None
        )
        is_boolean = question.type == "boolean" and not choices
        self._boolean = Choice([UNSET, YES, NO], draft.chosen or UNSET) if is_boolean else None
        takes_words = not is_boolean and (question.free or not choices)
        self._words = Input(draft.words, password=question.secret, compact=True) if takes_words else None
        if self._words is not None:
            self._words.cursor_blink = False
        self._problem = Static("", markup=False, classes="problem")

    def compose(self) -> ComposeResult:
        """Yield the question, the widgets that answer it, and the error."""
        yield Static(self._heading(), markup=False, classes="question")
        if self._list is not None:
            yield self._list
        if self._boolean is not None:
            yield Field("answer", self._boolean)
        if self._words is not None:
            yield Field("in words" if self._list is not None else "answer", self._words)
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

    def give_keys(self) -> None:
        """Focus the first widget of the field."""
        first = next(self._inputs(), None)
        if first is not None:
            first.focus()

    def _inputs(self) -> Iterator[Widget]:
        yield from (widget for widget in (self._list, self._boolean, self._words) if widget is not None)

    def _heading(self) -> Content:
        question, note = self.question, kind(self.question)
        header = brief(question.header)
        text = clean(shorten(question.text, _READ)).strip()
        parts = [(f"{header}: ", "bold")] if header and header != text else []
        parts.append((text or brief(question.key), "bold"))
        content = Content.assemble(*parts, (f"  ({note})" if note else "", MUTED))
        return Content(self._signs.plain(content.plain), spans=list(content.spans))

    @on(ChoiceList.Taken)
    @on(Input.Submitted)
    def _entered(self, event: Message) -> None:
        event.stop()
        self.post_message(self.Entered())

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
