"""The card of a session's asks below its steps: it shows one after the other, and takes the user's decisions."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on, work
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.widgets import Input

from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.asks.model import Answer, Verdict
from agentdash.sessions.rules.asks.recorded import RecordedAsk
from agentdash.tui.dialogs.asking.ask_view import Answering, AskView
from agentdash.tui.texts import ask_texts
from agentdash.widgets.asks.decisions import Decisions
from agentdash.widgets.asks.question_form import AnswerDraft, QuestionForm

UNREAD_SECONDS = 0.3
"""A key that was typed within this time after an ask appeared decides nothing: it was meant for something else."""


class AskCard(AskView):
    """Follows the asks of one session at a time; leaving it decides nothing.

    Args:
        session: the session that is shown first.
        ask: its first ask.
        desk: reads and answers asks.
        clock: returns the time in UTC ms.
        typed: returns the time at which the key that is being handled was typed, on the monotonic clock.
        others: returns the number of asks of other sessions than the one with this id.
        following: returns the number of asks after those of a session's turn, the next session, and the key for it;
            its second argument are the session's own asks that are left.
        left: leaves the card.
        finished: goes on after the last ask of the session was answered.
        rolled: scrolls the steps above by lines and pages.
    """

    DECIDING: ClassVar[frozenset[str]] = frozenset({"y", "s", "d", "D", "enter", *"123456789"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", show=False),
        Binding("q", "leave", "leave", show=False),
        Binding("y", "decide('allow')", "allow", show=False),
        Binding("s", "decide('always')", "always", show=False),
        Binding("d", "decide('deny')", "deny", show=False),
        Binding("D", "decide('stop')", "deny and stop", show=False),
        Binding("enter", "enter", "go on", show=False),
        Binding("tab", "next_field(1)", "next field", show=False),
        Binding("shift+tab", "next_field(-1)", "previous field", show=False),
        Binding("j", "roll(1)", "line down", show=False),
        Binding("k", "roll(-1)", "line up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False, priority=True),  # also in a list of choices
        Binding("pageup", "page(-1)", "page up", show=False, priority=True),
        Binding("space,ctrl+d", "page(1)", "page down", show=False),
        Binding("b,ctrl+u", "page(-1)", "page up", show=False),
        Binding("home", "edge('beginning')", "top", show=False),
        Binding("G,end", "edge('ending')", "bottom", show=False),
    ]

    def __init__(
        self,
        session: Session,
        ask: RecordedAsk,
        desk: Answering,
        *,
        clock: Callable[[], int],
        typed: Callable[[], float],
        others: Callable[[str], int],
        following: Callable[[str, Sequence[RecordedAsk]], tuple[int, str, str]],
        left: Callable[[], object],
        finished: Callable[[], object],
        rolled: Callable[[int, int], object],
    ) -> None:
        super().__init__(ask, desk, clock=clock)
        self.session = session
        self._typed = typed
        self._others = others
        self._following = following
        self._left, self._finished, self._rolled = left, finished, rolled
        self._waiting: Sequence[RecordedAsk] = ()
        self._seen: list[int] = []
        """The ids of all asks of the session that waited while the card was open, in their order."""
        self._passed = 0
        """The number of asks of other sessions that were shown before."""
        self._answered: int | None = None
        """The id of the last ask that was answered here."""
        self._ended: int | None = None
        """The id of the last ask that no longer waited."""
        self._sent: int | None = None
        """The id of the last ask for which an answer was sent from here."""
        self._reported: int | None = None
        """The id of the last ask with which a session was finished."""
        self._reading = self._outdated = False
        self._pressed_early = False
        """True if a key was to decide before the next ask appeared."""

    @classmethod
    def binds(cls, key: str) -> bool:
        """Return whether the card takes a key."""
        return any(isinstance(one, Binding) and key in one.key.split(",") for one in cls.BINDINGS)

    async def open(self, session: Session, waiting: Sequence[RecordedAsk], *, goes_on: bool = False) -> None:
        """Show the first ask of a session; return when it is on the screen and has the keys.

        Args:
            waiting: its asks that wait, at least one.
            goes_on: the card goes on from the asks of another session.
        """
        self._passed = self._passed + len(self._seen) if goes_on else 0
        self.keep_drafts()
        self.session, self._waiting = session, waiting
        self._seen = [one.id for one in waiting]
        if not self.is_open:
            self._pressed_early = False
            self.add_class("-opening")
            self.display = True
        await self._show(waiting[0], takes_keys=True)
        await self._drawn.wait()

    def close(self) -> None:
        """Give the place back to the prompt."""
        self.keep_drafts()
        self._pane.remove_class("-answering")
        self.display = False
        self._drawn.set()

    def give_keys(self) -> None:
        """Focus what answers the shown ask."""
        self._focus_first()

    @property
    def is_finished(self) -> bool:
        """True if the shown ask was answered here, and the session has no other."""
        return self._answered == self._ask.id

    def position(self) -> tuple[int, int]:
        """Return the position of the shown ask among those of all sessions, and their number."""
        at = self._passed + (self._seen.index(self._ask.id) + 1 if self._ask.id in self._seen else 1)
        return at, self._passed + len(self._seen) + self._others(self.session.id)

    def keep_drafts(self) -> None:
        """Keep the unfinished answers for the next time that this ask is shown."""
        if self._form is not None and not self._over:
            self._desk.drafts.keep(self._ask.id, self._form.drafts)

    def on_unmount(self) -> None:
        """Keep the unfinished answers."""
        self.keep_drafts()

    def changed(self) -> None:
        """Read the asks again, after the read that is under way: it must not be cut off between two asks."""
        self._outdated = True
        if self.is_open and not self._reading:
            self._reading = True
            self._read_on()

    @work(group="asks")
    async def _read_on(self) -> None:
        try:
            while self._outdated and self.is_open:
                self._outdated, session_id = False, self.session.id
                waiting = await self._desk.waiting(session_id)
                if waiting is not None and self.is_open and session_id == self.session.id:
                    await self._go_on(waiting)
        finally:
            self._reading = False

    async def _go_on(self, waiting: Sequence[RecordedAsk]) -> None:
        """Keep the shown ask while it waits; else show the next one, or the end of this one."""
        self._waiting = waiting
        self._seen += [one.id for one in waiting if one.id not in self._seen]
        same = next((one for one in waiting if one.id == self._ask.id), None)
        if same is not None and same.ask == self._ask.ask:
            self._ask = same
            self.show_title()
            self._tick()
        elif same is not None:
            await self._show(same)
        elif self._answered == self._ask.id and not waiting:
            if self._reported != self._ask.id:
                self._reported = self._ask.id
                self._finished()
        elif self._sent == self._ask.id and self._answered != self._ask.id:
            return  # its answer is being recorded, after which the asks are read again
        elif waiting or self._ended != self._ask.id:
            await self._pass_on(waiting)

    async def _pass_on(self, waiting: Sequence[RecordedAsk]) -> None:
        """Go on from an ask that no longer waits; an end that the user did not decide here is named."""
        former = self._ended = self._ask.id
        self._disable()
        words = "" if self._answered == former else await self._desk.fate(former)
        if waiting:
            await self._show(waiting[0])
            self._say(ask_texts.former_ended(words) if words else "")
        else:
            self._say(ask_texts.ended(words) if words else "")

    def _appeared(self) -> None:
        super()._appeared()
        if self._pressed_early:
            self._pressed_early = False
            self._say(ask_texts.TOO_EARLY)

    def _may_decide(self, decision: Verdict) -> bool:
        """Return whether the key that is being handled decides about the ask that is shown; if not, say why."""
        if self._over or self._desk.read_only:
            self._pressed_early = self._sent == self._ask.id
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

    def action_decide(self, verdict: str) -> None:
        """Decide; a denial first asks for words."""
        decision = Verdict(verdict)
        if self._words_field.display or not self._may_decide(decision):
            return
        if decision is Verdict.DENY:
            self._write(True)
            self._words.focus(scroll_visible=False)
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
    def _words_given(self, event: Input.Submitted) -> None:
        event.stop()
        if self._words_field.display and self._may_decide(Verdict.DENY):
            self._answer(Answer(verdict=Verdict.DENY, message=self._words.value.strip()))

    @on(QuestionForm.Entered)
    def _entered(self, event: QuestionForm.Entered) -> None:
        event.stop()
        if event.form is self._form:
            self.action_enter()

    def action_enter(self) -> None:
        """Accept the answer in the focused field."""
        if self._form is not None and self._form.has_focus_within and self._may_decide(Verdict.ANSWER):
            self._form.go_on()
            self.fit()

    @on(QuestionForm.Complete)
    def _complete(self, event: QuestionForm.Complete) -> None:
        event.stop()
        if event.form is self._form and not self._over:
            self._answer(Answer(verdict=Verdict.ANSWER, values=event.form.values))

    def _answer(self, answer: Answer) -> None:
        """Answer the ask that is shown at this moment, once."""
        self._over = True
        drafts = self._form.drafts if self._form is not None else ()
        self._sent = self._ask.id
        # The app owns the worker: an answer under way is recorded although the user leaves the card.
        self.app.run_worker(self._record(self._ask.id, answer, drafts), group="answer")

    async def _record(self, ask_id: int, answer: Answer, drafts: Sequence[AnswerDraft]) -> None:
        """Record an answer; the next ask is shown.

        The drafts of its form are kept if the answer is refused after the user left the card.
        """
        left = [one for one in self._waiting if one.id != ask_id]
        note = ask_texts.more_asks(*self._following(self.session.id, left))
        reason = await self._desk.answer(ask_id, answer, note)
        if not self.is_attached or not self.is_open:
            if reason is not None:
                self._desk.drafts.keep(ask_id, drafts)
                self._desk.show_error(reason)
            return
        if reason is None:
            self._answered = ask_id
        elif ask_id == self._ask.id and self._ended != ask_id:
            self._over, self._sent = False, None
            self._say(reason)
        self.changed()

    def action_back(self) -> None:
        """Leave the words of a denial or a question, one at a time; else leave the card."""
        if self._words_field.display:
            self._write(False)
            self._focus_first()
            self._fit()
        elif self._form is None or not self._form.has_focus_within or not self._form.back():
            self.action_leave()

    def action_leave(self) -> None:
        """Leave the card."""
        self._left()

    def action_next_field(self, direction: int) -> None:
        """Go to the next field of a form, round and round; without fields, to the next part of the screen."""
        if self._form is None and not self._words_field.display:
            raise SkipAction
        chain = [one for one in self.screen.focus_chain if self in one.ancestors]
        if chain:
            at = chain.index(self.screen.focused) if self.screen.focused in chain else -1
            self.screen.set_focus(chain[(at + direction) % len(chain)], scroll_visible=False)

    def action_roll(self, lines: int) -> None:
        """Scroll the text by lines; the steps above, if all of the text is on the screen."""
        if self._scrolls:
            self._facts.text.action_roll(lines)
        else:
            self._rolled(lines, 0)

    def action_page(self, pages: int) -> None:
        """Scroll the text by pages; the steps above, if all of the text is on the screen."""
        if self._scrolls:
            self._facts.text.action_page(pages)
        else:
            self._rolled(0, pages)

    @property
    def _scrolls(self) -> bool:
        text = self._facts.text
        return text.display and (text.top != (0, 0) or text.lines_below(1) > 0)

    def action_edge(self, edge: str) -> None:
        """Go to the beginning or the end of the text."""
        text = self._facts.text
        text.action_beginning() if edge == "beginning" else text.action_ending()
