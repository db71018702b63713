"""The card of a session's asks: what the agent asks for, and the decisions of the user."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.asks.answers import taken
from agentdash.sessions.rules.asks.model import Answer, AskKind, Verdict
from agentdash.sessions.rules.asks.recorded import RecordedAsk
from agentdash.sessions.text.sanitize import cell_width, clean
from agentdash.tui.dialogs.asking.ask_facts import AskFacts, AskText
from agentdash.tui.dialogs.asking.settling import Settling
from agentdash.tui.messages import SessionsChanged
from agentdash.tui.state.answer_drafts import AnswerDrafts
from agentdash.tui.texts import ask_texts
from agentdash.widgets.asks.choice_list import ChoiceList
from agentdash.widgets.asks.decisions import Decisions
from agentdash.widgets.asks.question_form import AnswerDraft, QuestionForm
from agentdash.widgets.drawing.text_lines import Line
from agentdash.widgets.inputs.choice import Field

UNREAD_SECONDS = 0.3
"""A key that was typed within this time after an ask appeared decides nothing: it was meant for something else."""

TICK_SECONDS = 1.0

LEAST_FORM = 5
"""Least lines of the questions on a screen that is too low."""

SHARE = 0.9
"""The share of the screen's lines that a card may take, as the style sheet has it."""

_BORDERS = 2
_GAP = "   "


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

    async def answer(self, ask_id: int, answer: Answer) -> str | None:
        """Record an answer; return the reason if it was refused."""

    def show_error(self, reason: str) -> None:
        """Show on the screen on top why an answer was refused."""


class AskScreen(ModalScreen[None]):
    """Shows the asks of one session, one after the other; closing it decides nothing.

    Args:
        waiting: its asks that wait, at least one.
        desk: reads and answers them.
        clock: returns the time in UTC ms.
        typed: returns the time at which the key that is being handled was typed, on the monotonic clock.
    """

    DECIDING: ClassVar[frozenset[str]] = frozenset({"y", "a", "d", "D", "enter"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", show=False),
        Binding("q", "dismiss(None)", "close", show=False),
        Binding("y", "decide('allow')", "allow", show=False),
        Binding("a", "decide('always')", "always", show=False),
        Binding("d", "decide('deny')", "deny", show=False),
        Binding("D", "decide('stop')", "deny and stop", show=False),
        Binding("enter", "enter", "go on", show=False),
        Binding("j", "roll(1)", "line down", show=False),
        Binding("k", "roll(-1)", "line up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False, priority=True),  # also in a list of choices
        Binding("pageup", "page(-1)", "page up", show=False, priority=True),
        Binding("space,ctrl+d", "page(1)", "page down", show=False),
        Binding("b,ctrl+u", "page(-1)", "page up", show=False),
        Binding("g,home", "edge('beginning')", "top", show=False),
        Binding("G,end", "edge('ending')", "bottom", show=False),
    ]

    def __init__(
        self,
        session: Session,
        waiting: Sequence[RecordedAsk],
        desk: Answering,
        *,
        clock: Callable[[], int],
        typed: Callable[[], float],
    ) -> None:
        super().__init__()
        self._session = session
        self._desk = desk
        self._clock = clock
        self._typed = typed
        self._seen = [one.id for one in waiting]
        """The ids of all asks that waited while the card was open, in their order."""
        self._ask = waiting[0]
        """The ask that is shown."""
        self._shown_at = monotonic()
        self._over = False
        """True if the shown ask takes no answer: it has one, or one is being recorded."""
        self._answered: int | None = None
        """The id of the last ask that was answered here."""
        self._ended: int | None = None
        """The id of the last ask that no longer waited."""
        self._reading = self._outdated = False
        self._form: QuestionForm | None = None
        self._dialog = Vertical(classes="dialog")
        self.settling = Settling(self._dialog, self._fit, self._focus_first, self._appeared)
        self._remarked = ""
        self._facts = AskFacts(self._ask, questions=desk.read_only)
        self._questions = Vertical(id="ask-questions")
        self._remark = Static("", markup=False, id="ask-remark")
        self._decisions = Decisions(id="ask-decisions")
        self._words = Input(placeholder=ask_texts.DENY_HINT, compact=True, id="ask-words")
        self._words.cursor_blink = False
        self._words_field = Field("deny", self._words)
        self._keys = Line()
        self._keys.add_class("keys")

    def compose(self) -> ComposeResult:
        """Yield the facts, the whole text, the questions, the decisions and the keys."""
        with self._dialog:
            yield self._facts
            yield self._questions
            yield self._remark
            yield self._decisions
            yield self._words_field
            yield self._keys

    async def on_mount(self) -> None:
        """Show the first ask, and its age every second; nothing is drawn before everything has its place."""
        self.add_class("-opening")
        self._words_field.display = False
        self.set_interval(TICK_SECONDS, self._tick)
        await self._show(self._ask)

    def on_unmount(self) -> None:
        """Keep the unfinished answers for the next card of this ask."""
        if self._form is not None and not self._over:
            self._desk.drafts.keep(self._ask.id, self._form.drafts)

    def on_resize(self) -> None:
        """Fit the lines into the new size."""
        self.call_after_refresh(self._fit)

    @on(AskText.Placed)
    def _placed(self) -> None:
        self.settling.begin()  # before the first layout nothing has a size

    @on(SessionsChanged)
    def _reread(self) -> None:
        """Read the asks again, after the read that is under way: it must not be cut off between two asks."""
        self._outdated = True
        if not self._reading:
            self._reading = True
            self._read_on()

    @work(group="asks")
    async def _read_on(self) -> None:
        try:
            while self._outdated and self.is_current:
                self._outdated = False
                waiting = await self._desk.waiting(self._session.id)
                if waiting is not None and self.is_current:
                    await self._go_on(waiting)
        finally:
            self._reading = False

    async def _go_on(self, waiting: Sequence[RecordedAsk]) -> None:
        """Keep the shown ask while it waits; else show the next one, or the end of this one."""
        self._seen += [one.id for one in waiting if one.id not in self._seen]
        same = next((one for one in waiting if one.id == self._ask.id), None)
        if same is not None and same.ask == self._ask.ask:
            self._ask = same
            self._show_title()
            self._tick()
        elif same is not None:
            await self._show(same)
        elif self._answered == self._ask.id and not waiting:
            self.dismiss(None)
        elif waiting or self._ended != self._ask.id:
            await self._leave(waiting)

    async def _leave(self, waiting: Sequence[RecordedAsk]) -> None:
        """Go on from an ask that no longer waits; an end that the user did not decide here is named."""
        former = self._ended = self._ask.id
        self._disable()
        words = "" if self._answered == former else await self._desk.fate(former)
        if waiting:
            await self._show(waiting[0])
            self._say(ask_texts.former_ended(words) if words else "")
        else:
            self._say(ask_texts.ended(words) if words else "")

    async def _show(self, recorded: RecordedAsk) -> None:
        """Show an ask; keys that were typed before it appeared decide nothing."""
        self._ask, self._over = recorded, False
        self._shown_at = monotonic()
        ask = recorded.ask
        self._facts.show(recorded)
        self._words.value = ""
        self._write(False)
        self._decisions.display = not self._desk.read_only
        self._decisions.offer(ask_texts.decisions(ask))
        self._say(ask_texts.READ_ONLY if self._desk.read_only else "")
        self._show_title()
        await self._ask_questions()
        self._fit()
        self.settling.restart()

    async def _ask_questions(self) -> None:
        ask = self._ask.ask
        await self._questions.remove_children()
        self._form = None
        if ask.questions and Verdict.ANSWER in taken(ask) and not self._desk.read_only:
            self._form = QuestionForm(
                ask.questions, all_at_once=ask.kind is AskKind.FORM, drafts=self._desk.drafts.get(self._ask.id)
            )
            await self._questions.mount(self._form)
        self._questions.display = self._form is not None

    def _appeared(self) -> None:
        """Draw the card; count the time, and what was seen, from this picture."""
        self._show_keys()
        self.remove_class("-opening")
        self._facts.appeared()
        self._shown_at = monotonic()

    def _focus_first(self) -> None:
        if self._form is not None and self._decisions.takes(Verdict.ANSWER):
            self._form.give_keys()
        elif self._decisions.display:
            self._decisions.focus(scroll_visible=False)

    def _show_title(self) -> None:
        at = self._seen.index(self._ask.id) + 1
        title = ask_texts.card_title(self._session, at, len(self._seen), self._dialog.content_size.width - 2)
        self._dialog.border_title = Content(title)

    def _tick(self) -> None:
        """Show the age; it is drawn only if its words changed."""
        self._facts.show_age(None if self._over else self._ask, self._clock())

    def _fit(self) -> None:
        """Fit the facts into the width, and the whole text into the lines that are left."""
        width = self._dialog.content_size.width
        if not width:
            return
        self._show_title()
        self._tick()
        self._show_keys()
        below = [widget for widget in self._dialog.children if widget.display]
        others = [widget for widget in below if widget not in (self._facts, self._questions)]
        taken = sum((widget.outer_size.height or 1) + widget.styles.margin.height for widget in others)
        room = int(self.size.height * SHARE) - _BORDERS - taken
        if self._form is not None:
            # The text leaves the questions at least half of the room, but never less than they need.
            wanted = min(self._facts.wanted(width), room // 2)
            self._form.fit(max(LEAST_FORM, room - wanted))
            room -= min(self._form.lines, max(LEAST_FORM, room - wanted))
        self._facts.fit(width, room)

    def on_descendant_focus(self) -> None:
        """Show the keys of the widget that has the focus."""
        self._show_keys()

    @on(QuestionForm.Moved)
    def _show_keys(self) -> None:
        at, total = self._form.place if self._form is not None else (1, 1)
        last = self._form is None or self._form.at_last
        in_form = self._form is not None and self._form.has_focus_within
        keys = ask_texts.keys(
            decides=not self._over and not self._desk.read_only,
            writes=self._words_field.display,
            fields=in_form,
            marks=isinstance(self.focused, ChoiceList),
            last=last,
            back=in_form and at > 1,
        )
        place = [ask_texts.question_place(at, total)] if in_form and total > 1 else []
        shown = [*place, *keys]
        while len(shown) > 2 and cell_width(_GAP.join(shown)) > self._dialog.content_size.width > 0:
            shown.pop()
        self._keys.show_text(_GAP.join(shown))

    def _say(self, words: str) -> None:
        if words != self._remarked:
            self._remarked = words
            self._remark.update(clean(words))
            self._remark.display = bool(words)
            self.call_after_refresh(self._fit)

    def _may_decide(self, decision: Verdict) -> bool:
        """Return whether the key that is being handled decides about the ask that is shown; if not, say why."""
        if self._over or self._desk.read_only:
            return False  # the remark says so
        reason = ""
        if not self._decisions.takes(decision):
            reason = ask_texts.not_taken(self._ask.ask, decision)
        elif not self.settling.is_drawn or self._typed() - self._shown_at < UNREAD_SECONDS:
            reason = ask_texts.TOO_EARLY
        elif decision not in (Verdict.DENY, Verdict.STOP) and not self._facts.read_to_end:
            reason = ask_texts.UNREAD
        self._say(reason)
        return not reason

    @on(AskFacts.ReadToEnd)
    def _read_to_end(self) -> None:
        if self._remarked == ask_texts.UNREAD:
            self._say("")

    def action_decide(self, verdict: str) -> None:
        """Decide; a denial first asks for words."""
        decision = Verdict(verdict)
        if self._words_field.display or not self._may_decide(decision):
            return
        if decision is Verdict.DENY:
            self._write(True)
            self._words.focus()
            self._fit()
        elif decision is Verdict.ANSWER:
            if self._form is not None:
                self._form.finish()
        else:
            self._answer(Answer(verdict=decision))

    @on(Decisions.Chosen)
    def _chosen(self, event: Decisions.Chosen) -> None:
        self.action_decide(event.verdict.value)

    @on(Input.Submitted, "#ask-words")
    def _words_given(self) -> None:
        if self._words_field.display and self._may_decide(Verdict.DENY):
            self._answer(Answer(verdict=Verdict.DENY, message=self._words.value.strip()))

    @on(QuestionForm.Entered)
    def _entered(self, event: QuestionForm.Entered) -> None:
        if event.form is self._form:
            self.action_enter()

    def action_enter(self) -> None:
        """Accept the answer in the focused field."""
        if self._form is not None and self._form.has_focus_within and self._may_decide(Verdict.ANSWER):
            self._form.go_on()
            self.call_after_refresh(self._fit)

    @on(QuestionForm.Complete)
    def _complete(self, event: QuestionForm.Complete) -> None:
        if event.form is self._form and self._may_decide(Verdict.ANSWER):
            self._answer(Answer(verdict=Verdict.ANSWER, values=event.form.values))

    def _answer(self, answer: Answer) -> None:
        """Answer the ask that is shown at this moment, once."""
        self._over = True
        drafts = self._form.drafts if self._form is not None else ()
        # The app owns the worker: an answer under way is recorded although the user closes the card.
        self.app.run_worker(self._record(self._ask.id, answer, drafts), group="answer")

    async def _record(self, ask_id: int, answer: Answer, drafts: Sequence[AnswerDraft]) -> None:
        """Record an answer; the next ask is shown, or the card closes.

        The drafts of its form are kept if the answer is refused after the card was closed.
        """
        reason = await self._desk.answer(ask_id, answer)
        if not self.is_attached:
            if reason is not None:
                self._desk.drafts.keep(ask_id, drafts)
                self._desk.show_error(reason)
            return
        if reason is None:
            self._answered = ask_id
        elif ask_id == self._ask.id and self._ended != ask_id:
            self._over = False
            self._say(reason)
        self._reread()

    def _write(self, shown: bool) -> None:
        """Show or hide the field for the words of a denial; while it is shown, nothing else has the keys.

        It takes the blank line before the keys.
        """
        self._words_field.display = shown
        self._decisions.disabled = self._questions.disabled = shown
        self.set_class(shown, "-writing")

    def _disable(self) -> None:
        """Refuse decisions about the shown ask."""
        self._over = True
        self._write(False)
        self._decisions.disable()
        self.set_focus(self._decisions if self._decisions.display else None)
        self._tick()
        self._show_keys()

    def action_back(self) -> None:
        """Leave the words of a denial or a question, one at a time; else close the card."""
        if self._words_field.display:
            self._write(False)
            self._focus_first()
            self._fit()
        elif self._form is None or not self._form.has_focus_within or not self._form.back():
            self.dismiss(None)

    def action_roll(self, lines: int) -> None:
        """Scroll the text by lines."""
        self._facts.text.action_roll(lines)

    def action_page(self, pages: int) -> None:
        """Scroll the text by pages."""
        self._facts.text.action_page(pages)

    def action_edge(self, edge: str) -> None:
        """Go to the beginning or the end of the text."""
        text = self._facts.text
        text.action_beginning() if edge == "beginning" else text.action_ending()
