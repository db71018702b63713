"""One turn of a live agent, as its runner sees it: its prompts, its asks, and its end."""

import contextlib
from collections.abc import Callable

from agentdash.sessions.agents.dialogue import Event
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.compaction import BY_AGENT
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.runner.live.adjuster import Adjuster
from agentdash.sessions.runner.live.agent import SEND_SECONDS, LiveAgent
from agentdash.sessions.runner.live.clerk import Clerk
from agentdash.sessions.runner.live.courier import Courier
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Claim
from agentdash.sessions.storage.turns.live_log import LiveLog, Steered


class LiveTurn:
    """Runs one turn on a live agent.

    Args:
        log: the rows of the session's live agent.
        count_denial: counts the tool or program that a rule or the time limit denied.
    """

    def __init__(
        self,
        live: LiveAgent,
        store: Store,
        log: LiveLog,
        session_id: str,
        turn: int,
        claim: Claim,
        count_denial: Callable[[str], None],
    ) -> None:
        self.live = live
        self.clerk = Clerk(
            live, store, session_id, turn, agent=claim.agent, cwd=claim.cwd, launch=claim.launch,
            count_denial=count_denial,
        )  # fmt: skip
        self.adjuster = Adjuster(live, store, session_id, agent_named(claim.agent))
        prompt = log.prompt(turn)
        self._log, self._turn = log, turn
        late = next(iter(log.under_way()), None)
        # The output of the turn so far may have the receipt of a prompt that a dead runner wrote.
        self._steered = self._courier_of(late) if late is not None else None
        """The newest prompt that was written into the turn."""

        def record(state: PromptState, attempt: int | None) -> bool:
            log.prompt_is(turn, state, attempt)
            return True

        self.courier = Courier(
            live,
            record,
            key=claim.run_id if prompt is not None else None,
            # The conversation and changed instructions may go before the user's words.
            text=claim.launch.stdin or "",
            state=prompt.state if prompt is not None else PromptState.SEEN,
            attempt=prompt.attempt if prompt is not None else 1,
            compacts=claim.launch.compacts is not None and claim.launch.compacts.by == BY_AGENT,
        )
        self._compacts = claim.launch.compacts is not None
        self._interrupted = False
        self.interrupted_at: float | None = None
        """Time at which the turn was interrupted, on the monotonic clock."""
        live.listener = self._hear

    @property
    def over(self) -> bool:
        """True if the agent reported the end of the turn, or gave its prompt back before the turn began."""
        return self.courier.over or (self.interrupted_at is not None and self.courier.withdrawn)

    def begin(self) -> None:
        """Write the prompt if no runner has tried to, and the agent is ready.

        Raises:
            StoreError: its state could not be recorded; :meth:`advance` tries again.
        """
        if self.courier.state is not PromptState.QUEUED:
            return
        try:
            self.courier.advance()
        finally:
            self._flush()

    def advance(self) -> None:
        """Write what can be written.

        Raises:
            StoreError: a state could not be recorded; the next call tries again.
        """
        arrived = self.courier.arrived
        try:
            added = self.clerk.advance()
            with contextlib.suppress(StoreError):
                self.adjuster.advance()
            self.courier.advance()
            self._advance_steered()
            if added or (self.courier.arrived and not arrived):
                self.steer()
        finally:
            self._flush()

    def look(self) -> None:
        """Read what front ends requested for the running turn, changes of settings and prompts, and write it.

        Raises:
            StoreError: it cannot be read.
        """
        self.adjuster.look()
        self.steer()
        self.advance()

    def steer(self) -> None:
        """Write the next prompt for the running turn, if the one before has arrived.

        A turn that compacts the conversation reads none: its answer is the summary.

        Raises:
            StoreError: its state could not be recorded.
        """
        if self._steered is not None or self.over or self.interrupted_at is not None or self._compacts:
            return
        if not self.live.dialogue.steers or not self.courier.arrived:
            return
        prompt = self._log.steering()
        if prompt is not None:
            self._steered = self._courier_of(prompt)
            self._advance_steered()
            self._flush()

    def catch_up(self) -> None:
        """Record the states of prompts that could not be recorded before.

        Raises:
            StoreError: they still cannot.
        """
        for courier in (self.courier, self._steered):
            if courier is not None:
                courier.catch_up()

    def _advance_steered(self) -> None:
        steered = self._steered
        if steered is None:
            return
        steered.advance()
        if steered.done:
            if steered.failed is not None:
                self._log.begins_turn(steered.key or "")
            self._steered = None
            self.steer()

    def _flush(self) -> None:
        try:
            self.live.flush()
        except OSError as error:
            self.courier.failed = f"its standard input is broken: {error}"

    def interrupt(self, now: float) -> float:
        """Ask the agent to end the turn, once it can be asked; return the time of the first call.

        codex 0.169.0 refuses it until it has reported the beginning of the turn.  Prompts that it did not read are
        taken back first, and return to the queue: claude would begin a turn with one
        (docs/protocols/claude.md, "Interrupts").
        """
        self.interrupted_at = self.interrupted_at or now
        if self.courier.state is PromptState.QUEUED:
            self.courier.withdraw()
        if not self._interrupted and (lines := self.live.dialogue.interrupt()):
            self._interrupted = True
            # The prompt of the turn, and the one that is on its way into it.
            for courier in (self.courier, self._steered):
                if courier is not None:
                    courier.withdraw()
            for line in lines:
                self.live.send(line)
        return self.interrupted_at

    def delay(self, usual: float) -> float:
        """Return the seconds until the next step that no output triggers; at most ``usual``."""
        if self.live.waits:
            return min(usual, SEND_SECONDS)
        return min(usual, *(due for due in (self.courier.due, self.clerk.due) if due is not None), usual)

    def _courier_of(self, prompt: Steered) -> Courier:
        """Return the courier of a prompt into this turn."""

        def record(state: PromptState, attempt: int | None) -> bool:
            if state is PromptState.SENDING and prompt.state is PromptState.QUEUED and attempt == prompt.attempt:
                return self._log.begin_steering(prompt, self._turn)
            return self._log.steered_is(prompt.id, state, self._turn, attempt)

        return Courier(
            self.live, record, key=prompt.run_id, text=prompt.text, state=prompt.state, attempt=prompt.attempt,
            key_of=prompt.run_id_of,
        )  # fmt: skip

    def _hear(self, event: Event) -> None:
        self.courier.hear(event)
        if self._steered is not None:
            self._steered.hear(event)
        self.clerk.hear(event)
        with contextlib.suppress(StoreError):
            self.adjuster.hear(event)
