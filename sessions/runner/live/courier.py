"""A prompt on its way to a live agent: it is written once, and its arrival ends in a receipt.

The state is recorded before the line is written and after it.  A runner that adopts the agent therefore knows whether
its predecessor may have written the prompt, and finds out from the agent's answers if it did
(docs/protocols/claude.md, "Receipts"; docs/protocols/codex.md, "Receipts").
"""

import contextlib
import time
from collections.abc import Callable
from enum import Enum

from agentdash.sessions.agents.dialogue import Delivery, Event, Failed, Ready, Received, TurnBegan, TurnEnded
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.runner.live.agent import LiveAgent
from agentdash.sessions.runner.live.channel import LineTooLongError

HANDSHAKE_SECONDS = 10.0
"""Time in which an agent must answer the handshake."""

Record = Callable[[PromptState, int | None], bool]


class _Way(Enum):
    """The progress of a prompt."""

    UNWRITTEN = "unwritten"
    UNSURE = "a runner died while it wrote the prompt"
    PROBED = "the agent is asked whether it has the prompt"
    WRITING = "the line waits until the agent has read those before"
    WRITTEN = "written"
    NONE = "the agent began the turn by itself"


class Courier:
    """Sends a prompt, and concludes when the turn that it begins is over.

    Args:
        record: records the state of the prompt, and the number of the attempt to write it; returns False if the prompt
            was cancelled.
        key: names the prompt for the agent; None for a turn that the agent began by itself.
        compacts: the turn compacts the conversation; the prompt is sent if the agent has no request for that.
        attempt: how often it was sent, this time included.
        key_of: returns the key of an attempt; None if all have the same.
    """

    def __init__(
        self,
        live: LiveAgent,
        record: Record,
        *,
        key: str | None,
        text: str,
        state: PromptState,
        attempt: int,
        compacts: bool = False,
        key_of: Callable[[int], str] | None = None,
    ) -> None:
        self._live = live
        self._record = record
        self.key = key
        """Names the prompt for the agent."""
        self._text = text
        self._compacts = compacts
        self._attempt = attempt
        self._key_of = key_of
        self._way = _beginning(key, state)
        self._deadline = time.monotonic() + HANDSHAKE_SECONDS
        self._unrecorded: PromptState | None = None
        self.seen = state is PromptState.SEEN
        """True if the prompt is part of the conversation."""
        self.over = False
        """True if the line that ends the turn was read."""
        self.agent_session: str | None = None
        """The conversation, as the handshake named it."""
        self.withdrawn = False
        """True if the prompt was taken back before it was read."""
        self.cancelled = False
        """True if the prompt was cancelled before it was written."""
        self.failed: str | None = None
        """The reason why the agent cannot be used."""
        self._began = self._way is _Way.NONE

    @property
    def state(self) -> PromptState | None:
        """The recorded state of the prompt; None for a turn without one."""
        if self.seen:
            return PromptState.SEEN
        if self.withdrawn:
            return PromptState.QUEUED
        return _STATES[self._way]

    def hear(self, event: Event) -> None:
        """Conclude from an event of the agent."""
        match event:
            case Ready(agent_session=agent_session):
                self.agent_session = agent_session
            case Failed(reason=reason):
                self.failed = reason
            case TurnBegan(own=own):
                self._began = self._began or (self._way is _Way.WRITTEN and not own)
            case TurnEnded():
                # A turn that the agent began by itself may end before ours begins.
                self.over = self.over or self._began or self.seen
            case Received(key=key, delivery=delivery, reason=reason) if key == self.key:
                self._receive(delivery, reason)

    def advance(self) -> None:
        """Take the next step that is possible; call this after each read.

        Raises:
            StoreError: a state could not be recorded; the next call tries again.
        """
        self.catch_up()
        if self.failed is not None or self.key is None or self.cancelled or self.withdrawn:
            return
        if not self._live.dialogue.ready:
            self._live.repeat_handshake()
            if time.monotonic() > self._deadline:
                self.failed = f"the agent did not answer the handshake in {HANDSHAKE_SECONDS:.0f} s"
        elif self._way is _Way.UNWRITTEN:
            self._begin()
        elif self._way is _Way.UNSURE:
            self._ask()
        elif self._way is _Way.PROBED:
            self._weigh()

    def withdraw(self) -> None:
        """Take the prompt back if the agent has not read it, and can give it back."""
        if self.key is None or self.done:
            return
        if self._way is _Way.UNWRITTEN:
            self.withdrawn = True
        else:
            self._live.send(self._live.dialogue.withdraw(self.key))

    @property
    def arrived(self) -> bool:
        """True if the agent has the prompt; also for a turn without one."""
        return self.seen or self._way in (_Way.WRITTEN, _Way.NONE)

    @property
    def done(self) -> bool:
        """True if nothing more will become of the prompt in this turn."""
        over = self.seen or self.cancelled or self.withdrawn or self.failed is not None
        return over and self._unrecorded is None

    def catch_up(self) -> None:
        """Record the state that could not be recorded before.

        Raises:
            StoreError: it still cannot.
        """
        if self._unrecorded is not None:
            self._record(self._unrecorded, None)
            self._unrecorded = None

    @property
    def due(self) -> float | None:
        """Seconds until the next step that no output of the agent triggers; None if there is none."""
        if self._live.dialogue.ready and not self._live.changing:
            return None
        left = max(0.0, self._deadline - time.monotonic())
        repeat = self._live.repeat_due
        return left if repeat is None else min(left, repeat)

    def _receive(self, delivery: Delivery, reason: str) -> None:
        if delivery is Delivery.SEEN:
            self.seen = True
            self._way = _Way.WRITTEN
            self._note(PromptState.SEEN)
        elif delivery is Delivery.WITHDRAWN:
            self.withdrawn = not self.seen
            if self.withdrawn:
                self._note(PromptState.QUEUED)
        elif delivery is Delivery.REFUSED:
            self.failed = reason or "the agent refused the prompt"
        elif self._way is _Way.UNSURE:
            self._way = _Way.WRITTEN

    def _begin(self) -> None:
        """Write the prompt, once the agent has the settings of its turn."""
        if self._live.refusal is not None:
            self.failed = self._live.refusal
        elif not self._live.changing:
            self._write()
        elif time.monotonic() > self._deadline:
            self.failed = f"the agent did not confirm the settings of the turn in {HANDSHAKE_SECONDS:.0f} s"

    def _write(self) -> None:
        key = self.key or ""
        # The first attempt is refused if the prompt no longer waits; a repetition is the same attempt.
        attempt = None if self._way is _Way.UNSURE else self._attempt
        if not self._record(PromptState.SENDING, attempt):
            self.cancelled = True
            return
        self._way = _Way.WRITING
        line = self._live.dialogue.compact(key, self._attempt) if self._compacts else None
        line = line or self._live.prompt(key, self._attempt, self._text)
        self._live.send(line, self._written, self._too_long)

    def _written(self) -> None:
        self._way = _Way.WRITTEN
        self._note(PromptState.SENT)

    def _too_long(self, error: LineTooLongError) -> None:
        self.failed, self._way = f"the prompt is too long for it ({error})", _Way.UNWRITTEN

    def _note(self, state: PromptState) -> None:
        """Record what the agent made of the prompt, now or with the next call of :meth:`advance`."""
        self._unrecorded = state
        with contextlib.suppress(StoreError):
            self.catch_up()

    def _ask(self) -> None:
        """Find out whether a dead runner wrote the prompt, or write it again if that does no harm."""
        probe = self._live.dialogue.probe(self.key or "", self._attempt)
        if probe is None:
            self._write()
        else:
            self._live.send(probe)
            self._way = _Way.PROBED

    def _weigh(self) -> None:
        arrived = self._live.dialogue.arrived(self.key or "", self._attempt)
        if arrived is False:
            self._attempt += 1
            self.key = self._key_of(self._attempt) if self._key_of is not None else self.key
            self._write()
        elif arrived:
            self._written()


_STATES = {
    _Way.UNWRITTEN: PromptState.QUEUED,
    _Way.UNSURE: PromptState.SENDING,
    _Way.PROBED: PromptState.SENDING,
    _Way.WRITING: PromptState.SENDING,
    _Way.WRITTEN: PromptState.SENT,
    _Way.NONE: None,
}


def _beginning(key: str | None, state: PromptState) -> _Way:
    if key is None:
        return _Way.NONE
    if state is PromptState.SENDING:
        return _Way.UNSURE
    return _Way.UNWRITTEN if state is PromptState.QUEUED else _Way.WRITTEN
