"""The asks of a live agent: recorded, answered by a rule or the time limit, and the answers written."""

import contextlib
import time
from collections.abc import Callable

import msgspec

from agentdash.sessions.agents.dialogue import Asked, Event, Settled
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.model.stops import StoppedBy
from agentdash.sessions.rules.asks.model import Answer, Ask, Verdict
from agentdash.sessions.rules.asks.recorded import AskState, RecordedAsk
from agentdash.sessions.rules.launch import Launch, TurnPlan, plan_like, with_mode
from agentdash.sessions.runner.live.agent import LiveAgent
from agentdash.sessions.runner.live.channel import LineTooLongError
from agentdash.sessions.storage.prompts.queued_prompt import Request
from agentdash.sessions.storage.store import Store

TIME_LIMIT = "the time limit"
"""The author of an answer that the settings gave."""

TOO_LONG = "agentdash"
"""The author of a denial in place of an answer that cannot be written."""

CHECK_SECONDS = 5.0
"""Interval between checks that the rows of open asks exist."""


class Clerk:
    """Records the asks of a turn, or of the time after it, and answers them.

    An ask may outlive the turn in which it came, so a clerk goes on with those that are not over.

    An answer is recorded first and then written; a runner that adopts the agent writes it again if the agent has not
    confirmed it, because a second answer does no harm
    (docs/protocols/claude.md, "Approvals"; docs/protocols/codex.md, "Approvals").

    Args:
        turn: the turn, or the newest one if none runs.
        agent: the name of the agent.
        launch: the start of the turn, with the settings for asks.
        count_denial: counts the tool or program that a rule or the time limit denied; between turns nothing counts it.
    """

    def __init__(
        self,
        live: LiveAgent,
        store: Store,
        session_id: str,
        turn: int,
        *,
        agent: str,
        cwd: str,
        launch: Launch,
        count_denial: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._live = live
        self._store = store
        self._session = session_id
        self._turn = turn
        self._agent = agent
        self._cwd = cwd
        self._launch = launch
        self._settings = launch.asks
        self._count_denial = count_denial
        self._open: dict[str, int] = {}
        """The row of each ask that is not settled, by its key."""
        self._asks: dict[str, Ask] = {}
        """The asks that were heard here and are not settled, by their keys; those without a row wait for the disk."""
        self._checked_at = time.monotonic()
        """Time at which their rows were last checked, on the monotonic clock."""
        self._written: set[int] = set()
        self._answered: set[int] = set()
        """The open asks that have an answer."""
        self._due_at: int | None = None
        self._closed = False
        self.stopped_by: str | None = None
        """The author of the answer that ended the turn (:meth:`...storage.turns.turn_log.TurnLog.stopping`)."""
        with contextlib.suppress(AgentdashError):
            unwritten = {recorded.id for recorded in store.asks.answered(session_id)}
            for recorded in store.asks.unsettled(session_id, live.stream):
                self._open[recorded.ask.key] = recorded.id
                if recorded.answer is not None:
                    self._answered.add(recorded.id)
                self._note_due(recorded)
                if recorded.answer is not None and recorded.id not in unwritten:
                    self._written.add(recorded.id)

    @property
    def waits(self) -> bool:
        """True if an ask waits for its answer, or the answer for being written."""
        return self._unrecorded or any(row not in self._written for row in self._open.values())

    @property
    def _unrecorded(self) -> bool:
        return not self._asks.keys() <= self._open.keys()

    def close(self) -> None:
        """Record no further ask: the process is being ended, and takes no answer."""
        self._closed = True

    def hear(self, event: Event) -> None:
        """Record an ask, or its end."""
        match event:
            case Asked(ask=ask):
                if not self._closed:
                    self._ask(ask)
            case Settled(key=key, answered=answered):
                if key not in self._open and key in self._asks:
                    self._ask(self._asks[key])
                self._asks.pop(key, None)
                number = self._open.pop(key, None)
                if self._closed and number is None:
                    return  # it was not recorded
                with contextlib.suppress(AgentdashError):
                    # A turn hears again what was settled before it.
                    fresh = self._store.asks.settle(self._session, self._live.stream, key, answered)
                    if fresh and answered and number is not None:
                        self._note_end(number)

    def advance(self) -> bool:
        """Write the answers that were given, and those of the settings for asks whose time is over.

        Return whether words for the agent were added to the queue.
        """
        adds = False
        if not self._open and not self._asks:
            return adds
        with contextlib.suppress(AgentdashError):
            self._restore()
            self._expire()
            for recorded in self._store.asks.answered(self._session):
                if recorded.id not in self._written and recorded.stream == self._live.stream:
                    adds = self._say(recorded) or adds
                    self._write(recorded)
        return adds

    @property
    def due(self) -> float | None:
        """Seconds until the settings decide an ask; None if they decide none."""
        return None if self._due_at is None or not self._open else max(0.0, (self._due_at - now_ms()) / 1000)

    def unanswered(self) -> int | None:
        """Return the number of the oldest open ask that waits for the user; None if all of them have answers.

        0 if that one could not be recorded.
        """
        waiting = next((number for number in self._open.values() if number not in self._answered), None)
        return 0 if waiting is None and (self._unrecorded or not self._open) else waiting

    def _ask(self, ask: Ask) -> None:
        from agentdash.sessions.rules.asks.dangerous import only_the_user  # only a process whose agent asks needs them
        from agentdash.sessions.rules.asks.rules import decide

        self._asks[ask.key] = ask
        with contextlib.suppress(AgentdashError):
            ask = msgspec.structs.replace(ask, for_user=only_the_user(ask, self._cwd))
            due_at = self._settings.due_at(ask, now_ms())
            recorded = self._store.asks.record(self._session, self._turn, self._live.stream, ask, due_at)
            self._open[ask.key] = recorded.id
            for numbers in (self._written, self._answered):
                numbers.discard(recorded.id)  # in a database that was rebuilt, another ask had this number
            self._note_due(recorded)
            remembered = self._store.asks.remembered(self._session)
            decision = decide(self._settings.rules, ask, agent=self._agent, cwd=self._cwd, remembered=remembered)
            if decision.answer is not None:
                self._store.asks.answer(recorded.id, decision.answer, decision.by)
            if decision.answer is not None or recorded.answer is not None:
                self._answered.add(recorded.id)

    def _note_end(self, number: int) -> None:
        """Count a denial that no person gave, and note who ended the turn, if the answer does that."""
        recorded = self._store.asks.one(number)
        if recorded is None:
            return
        if recorded.refused_by_settings:
            self._count_denial(recorded.ask.tool or recorded.ask.title)
        if recorded.answer is None or recorded.answer.verdict is not Verdict.STOP:
            return
        late = recorded.answered_by == TIME_LIMIT
        why = recorded.answer.message.rstrip(".")
        self.stopped_by = StoppedBy.LIMIT.because(why[:1].lower() + why[1:]) if late else StoppedBy.YOU

    def _restore(self) -> None:
        """Record the asks that could not be recorded, and those whose rows were lost with the database."""
        if time.monotonic() - self._checked_at < CHECK_SECONDS:
            return
        self._checked_at = time.monotonic()
        known = {one.ask.key for one in self._store.asks.of_session(self._session) if one.stream == self._live.stream}
        for key, ask in list(self._asks.items()):
            if key.encode("utf-8", "replace").decode() not in known:
                self._ask(ask)
                if key not in self._open:
                    return  # a database that is locked holds up the turn once, not once for each ask

    def _note_due(self, recorded: RecordedAsk) -> None:
        if recorded.due_at is not None and recorded.answer is None:
            self._due_at = min(recorded.due_at, self._due_at or recorded.due_at)

    def _expire(self) -> None:
        if self._due_at is None or now_ms() < self._due_at:
            return
        self._due_at = None
        for recorded in self._store.asks.open(self._session):
            if recorded.due_at is None or recorded.stream != self._live.stream:
                continue
            if recorded.due_at > now_ms():
                self._note_due(recorded)
            elif (answer := self._settings.overdue(recorded.ask)) is not None:
                self._store.asks.answer(recorded.id, answer, TIME_LIMIT, AskState.EXPIRED)

    def _write(self, recorded: RecordedAsk) -> None:
        from agentdash.sessions.rules.asks.rules import for_agent

        self._written.add(recorded.id)
        self._answered.add(recorded.id)
        if recorded.answer is None:
            return
        line = self._live.dialogue.answer(recorded.ask.key, for_agent(recorded.ask, recorded.answer))
        self._live.send(line, lambda: self._sent(recorded.id), lambda error: self._deny(recorded, error))

    def _deny(self, recorded: RecordedAsk, error: LineTooLongError) -> None:
        """Deny an ask whose answer is too long for the agent's input: claude gets the whole edit that it may make."""
        denial = Answer(verdict=Verdict.DENY, message=f"The answer cannot be passed on: {error}.")
        with contextlib.suppress(AgentdashError):
            self._store.asks.overrule(recorded.id, denial, TOO_LONG)
        line = self._live.dialogue.answer(recorded.ask.key, denial)
        self._live.send(line, lambda: self._sent(recorded.id))

    def _say(self, recorded: RecordedAsk) -> bool:
        """Add the words of a denial to the queue if the agent does not read them there; False if they are in it.

        They are added before the answer is written, so that a runner that is killed in between loses neither.
        """
        answer = recorded.answer
        if answer is None or not answer.message or answer.verdict not in (Verdict.DENY, Verdict.STOP):
            return False
        if self._live.dialogue.hears_denial(recorded.ask) or not self._launch.settings:
            return False
        key = f"words of the denial of ask {recorded.id}"
        steers, text = answer.verdict is Verdict.DENY, answer.message
        if recorded.answered_by != StoppedBy.YOU:  # an agent's words
            text = agent_named(self._agent).expands.inert(text, at_first=True)
        return self._store.queue.add_waiting(
            Request(session=self._session, key=key, text=text, plan=self._plan(), first=True, steers=steers)
        )

    def _plan(self) -> TurnPlan:
        """Return the plan of a prompt that is added here, with the mode that the agent has."""
        own, modes = self._live.launch.mode, agent_named(self._agent).modes
        plan = plan_like(self._launch)
        if own is None or own.permissions is None or modes is None or own.permissions not in modes.names:
            return plan
        return with_mode(plan, modes.options(own.permissions), own.permissions, dangerous=own.dangerous)

    def _sent(self, ask_id: int) -> None:
        with contextlib.suppress(AgentdashError):
            self._store.asks.sent(ask_id)
