"""The parts of the card of an ask and their places: facts, text, questions, decisions; it is drawn once, fitted."""

import asyncio
from collections.abc import Callable
from typing import Protocol, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.rules.asks.answers import taken
from agentdash.sessions.rules.asks.model import Answer, AskKind, Verdict
from agentdash.sessions.rules.asks.recorded import RecordedAsk
from agentdash.sessions.text.sanitize import clean
from agentdash.tui.dialogs.asking.ask_facts import AskFacts, AskText
from agentdash.tui.dialogs.asking.settling import Settling
from agentdash.tui.state.answer_drafts import AnswerDrafts
from agentdash.tui.texts import ask_texts
from agentdash.widgets.asks.choice_list import ChoiceList
from agentdash.widgets.asks.decisions import Decisions
from agentdash.widgets.asks.question_form import QuestionForm
from agentdash.widgets.drawing.spans import wrap
from agentdash.widgets.inputs.choice import Field

DIALOG_COLUMNS = 80
"""On a narrower screen the card takes the whole pane, like a dialog."""

LEAST_CARD = 12
"""Lines that a card may take in a pane of less than twice as many."""

LEAST_STEPS = 4
"""Lines that a card beside the table leaves to the steps above it."""

LEAST_FORM = 5
"""Least lines of the questions on a screen that is too low."""

TICK_SECONDS = 1.0

_BORDERS = 2
_HEADLINE = 2
"""Lines above the card of a narrow screen: the headline, and one of the steps."""
_REMARK_LINES = 3
_TITLE_CELLS = 4
"""Cells of the edge around its title."""


class Answering(Protocol):
    """Reads and answers asks."""

    @property
    def read_only(self) -> bool:
        """True if every answer is refused."""

    @property
    def drafts(self) -> AnswerDrafts:
        """The unfinished answers."""

    async def waiting(self, session_id: str) -> list[RecordedAsk] | None:
        """Return the asks of a session that wait; None after an error, which is shown."""

    async def fate(self, ask_id: int) -> str:
        """Return the end of an ask that no longer waits, as a clause."""

    async def answer(self, ask_id: int, answer: Answer, note: str) -> str | None:
        """Record an answer, and show it with a note; return the reason if it was refused."""

    def show_error(self, reason: str) -> None:
        """Show on the screen on top why an answer was refused."""


class AskView(Vertical):
    """Shows one ask; it is out of sight until everything has its place.

    Args:
        ask: the ask that is shown first.
        desk: reads and answers asks.
        clock: returns the time in UTC ms.
    """

    def __init__(self, ask: RecordedAsk, desk: Answering, *, clock: Callable[[], int]) -> None:
        super().__init__()
        self._desk = desk
        self._clock = clock
        self._ask = ask
        """The ask that is shown."""
        self._shown_at = monotonic()
        self._over = False
        """True if the shown ask takes no answer: it has one, or one is being recorded."""
        self._form: QuestionForm | None = None
        self._takes_keys = False
        self.settling = Settling(self, self._fit, self._fitted, self._appeared)
        self._drawn = asyncio.Event()
        self._remarked = ""
        self._facts = AskFacts(ask, questions=desk.read_only)
        self._questions = Vertical(id="ask-questions")
        self._remark = Static("", markup=False, id="ask-remark")
        self._decisions = Decisions(id="ask-decisions")
        self._words = Input(placeholder=ask_texts.DENY_HINT, compact=True, id="ask-words")
        self._words.cursor_blink = False
        self._words_field = Field("deny", self._words)
        self.display = False

    def compose(self) -> ComposeResult:
        """Yield the facts and the text, the questions, the remark and the decisions."""
        yield self._facts
        yield self._questions
        yield self._remark
        yield self._decisions
        yield self._words_field

    def on_mount(self) -> None:
        """Show the age of the ask every second."""
        self._words_field.display = False
        self.set_interval(TICK_SECONDS, self._tick)

    @property
    def is_open(self) -> bool:
        """True if the card is on the screen, or about to appear there."""
        return self.display

    def position(self) -> tuple[int, int]:
        """Return the position of the shown ask among all that wait, and their number."""
        return 1, 1

    def on_resize(self) -> None:
        """Fit the lines into the new size."""
        self.fit()
        if self.is_open:
            self.settling.begin()  # a card that opens again has a size again, but its text has the former one

    def fit(self) -> None:
        """Fit the lines into the pane, which may have another size."""
        if self.is_open:
            self.call_after_refresh(self._fit)

    @on(AskText.Placed)
    def _placed(self) -> None:
        if self.is_open:
            self.settling.begin()  # before the first layout nothing has a size

    async def _show(self, recorded: RecordedAsk, *, takes_keys: bool = False) -> None:
        """Show an ask; keys that were typed before it appeared decide nothing.

        Args:
            takes_keys: True if the card gets the keys, False if it only keeps them.
        """
        self._takes_keys = takes_keys or self.has_focus_within
        self._ask, self._over = recorded, False
        self._shown_at = monotonic()
        ask = recorded.ask
        self._facts.show(recorded)
        self._words.value = ""
        self._write(False)
        self._decisions.display = not self._desk.read_only
        self._decisions.offer(ask_texts.decisions(ask))
        self._say(ask_texts.READ_ONLY if self._desk.read_only else "")
        await self._ask_questions()
        self.show_title()
        self._fit()
        self._drawn.clear()
        self.settling.restart()

    async def _ask_questions(self) -> None:
        ask = self._ask.ask
        if self._form is not None:
            await self._questions.remove_children()
        self._form = None
        if ask.questions and Verdict.ANSWER in taken(ask) and not self._desk.read_only:
            self._form = QuestionForm(
                ask.questions, all_at_once=ask.kind is AskKind.FORM, drafts=self._desk.drafts.get(self._ask.id)
            )
            await self._questions.mount(self._form)
        self._questions.display = self._form is not None

    def _appeared(self) -> None:
        """Draw the card in the place of the prompt; count the time, and what was seen, from this picture."""
        self.remove_class("-opening")
        self._pane.add_class("-answering")
        self._facts.appeared()
        self._shown_at = monotonic()
        self._drawn.set()

    @property
    def _pane(self) -> Widget:
        return cast("Widget", self.parent)

    def _fitted(self) -> None:
        if self._takes_keys:
            self._focus_first()

    def _focus_first(self) -> None:
        if self._words_field.display:
            self._words.focus(scroll_visible=False)
        elif self._form is not None and self._decisions.takes(Verdict.ANSWER):
            self._form.give_keys()
        elif self._decisions.display:
            self._decisions.focus(scroll_visible=False)

    def show_title(self) -> None:
        """Show what is asked for, and the position of the ask."""
        page = self._form.place if self._form is not None else (1, 1)
        width = self.size.width - _TITLE_CELLS if self.size.width else 60
        self.border_title = Content(ask_texts.card_title(self._ask.ask, *self.position(), page, width))

    def _tick(self) -> None:
        """Show the age; it is drawn only if its words changed."""
        if self.is_open:
            self._facts.show_age(None if self._over else self._ask, self._clock())

    @property
    def _room(self) -> int:
        """The lines inside the card: about half of the pane's, on a narrow screen all but the headline."""
        lines = self._pane.size.height
        if self.app.size.width < DIALOG_COLUMNS:
            return lines - _HEADLINE - _BORDERS
        return max(lines // 2, min(LEAST_CARD, lines - LEAST_STEPS)) - _BORDERS

    def _fit(self) -> None:
        """Fit the facts into the width, and the whole text into the lines that are left."""
        width = self.content_size.width
        if not width:
            return
        self.show_title()
        self._tick()
        self._show_keys()
        room = self._room - self._lines_below(width)
        if self._form is not None:
            # The text leaves the questions at least half of the room, but never less than they need.
            wanted = min(self._facts.wanted(width), room // 2)
            self._form.fit(max(LEAST_FORM, room - wanted))
            room -= min(self._form.lines, max(LEAST_FORM, room - wanted))
        self._facts.fit(width, room)

    def _lines_below(self, width: int) -> int:
        """The lines of the remark, the decisions and the words for a denial."""
        remark = min(_REMARK_LINES, len(wrap(clean(self._remarked), width))) if self._remark.display else 0
        decisions = self._decisions.lines(width) if self._decisions.display else 0
        return remark + decisions + self._words_field.display

    def on_descendant_focus(self) -> None:
        """Show that the card has the keys, and those of the widget that has them."""
        self.add_class("-active")
        self._show_keys()

    def on_descendant_blur(self) -> None:
        """Show the key that gives the keys back."""
        if not self.has_focus_within:
            self.remove_class("-active")
            self._show_keys()

    @on(QuestionForm.Moved)
    def _page_turned(self) -> None:
        """Show the next question; keys that were typed before it appeared do not answer it."""
        if self._form is not None and self._form.place[1] > 1:
            self._shown_at = monotonic()
        self.show_title()
        self._show_keys()

    def _show_keys(self) -> None:
        self.border_subtitle = ask_texts.key_words(self._valid_keys(), self.size.width - _TITLE_CELLS)

    def _valid_keys(self) -> list[tuple[str, str]]:
        if not self.has_focus_within:
            return []
        at, _ = self._form.place if self._form is not None else (1, 1)
        in_form = self._form is not None and self._form.has_focus_within
        return list(
            ask_texts.keys(
                decides=not self._over and not self._desk.read_only,
                writes=self._words_field.display,
                fields=in_form,
                marks=isinstance(self.screen.focused, ChoiceList),
                last=self._form is None or self._form.at_last,
                back=in_form and at > 1,
            )
        )

    def _say(self, words: str) -> None:
        if words != self._remarked:
            self._remarked = words
            self._remark.update(clean(words))
            self._remark.display = bool(words)
            self.fit()

    @on(AskFacts.ReadToEnd)
    def _read_to_end(self) -> None:
        if self._remarked == ask_texts.UNREAD:
            self._say("")

    def _write(self, shown: bool) -> None:
        """Show or hide the field for the words of a denial; while it is shown, nothing else has the keys."""
        self._words_field.display = shown
        self._decisions.disabled = self._questions.disabled = shown

    def _disable(self) -> None:
        """Refuse decisions about the shown ask."""
        self._over = True
        self._write(False)
        self._decisions.disable()
        if self.has_focus_within:
            self.screen.set_focus(self._decisions if self._decisions.display else None)
        self._tick()
        self._show_keys()
