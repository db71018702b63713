"""The common parser of transcripts: files that an agent keeps for itself, with all turns of a conversation.

A turn file holds one turn and no clock; a transcript holds many turns, and each of its lines has a time.  Its readers
start nothing: a :class:`.base.TranscriptFormat` leads to each.
"""

from collections.abc import Mapping
from datetime import datetime
from hashlib import blake2b
from typing import Any, TypeVar

from msgspec import Raw, field, structs

from ..model import Step, StepKind, StepStatus, Usage
from .event_parser import EventParser, EventState
from .json_lines import UNREADABLE, declared_type
from .tolerant_decoder import Reading, TolerantDecoder, Unread

T = TypeVar("T")

_DECODERS: dict[Any, TolerantDecoder[Any]] = {}
"""By what they decode."""

NOT_SHOWN = "(not shown)"
"""Stands for reasoning that the agent keeps encrypted, or leaves out of its transcript."""


def milliseconds(stamp: str | None) -> int | None:
    """A time such as ``2026-11-20T23:49:30.653Z`` as UTC milliseconds; None if it is none."""
    try:
        return round(datetime.fromisoformat(stamp).timestamp() * 1000) if stamp else None
    except (ValueError, OverflowError, OSError):
        return None


def digest(text: str) -> str:
    """A short name for a text that is the same in every process."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


class TranscriptState(EventState, kw_only=True):
    """What every reader of transcripts remembers."""

    turn: int = 1
    prompted: bool = False
    """Whether the turn has had its prompt."""
    session: str | None = None
    start: Step | None = None
    """The step of the conversation's beginning, until the model is known that it names."""
    settings: dict[str, str] = field(default_factory=dict)
    """Model, folder and the like, as they were told last."""
    spent: Usage = field(default_factory=Usage)
    """Tokens of the turn so far."""
    cost: float | None = None
    """What the turn cost so far, US dollars."""


class TranscriptParser(EventParser):
    """Reads all turns of a transcript, and numbers them by their prompts.

    The indices of its steps go on from turn to turn: they are places in the file.
    """

    state: TranscriptState
    state_type = TranscriptState

    def __init__(self, turn: int = 1) -> None:
        super().__init__(turn)
        self.state.turn = turn
        self._odd: list[Unread] = []
        """Fields of the line at hand that could not be read."""

    def parse(self, line: bytes, at: int | None) -> list[Step]:
        """One line, in as many parts as its event asks for; each part is read as far as it can be."""
        self._odd.clear()
        try:
            steps = self.event(self._read(line, self.decoder), line, at)
        except UNREADABLE:
            return [self._unknown(line, at, declared_type(line))]
        if self._odd:
            steps += self._name_unread(Reading(kind=declared_type(line), unread=tuple(self._odd)), at)
        return steps

    def decoded(self, data: bytes | Raw, kind: type[T]) -> T:
        """A part of a line as one of the structs of its format.

        Raises:
            msgspec.MsgspecError, UnicodeDecodeError, RecursionError: it is none; see :data:`.json_lines.UNREADABLE`.
        """
        decoder: TolerantDecoder[T] | None = _DECODERS.get(kind)
        if decoder is None:
            decoder = _DECODERS[kind] = TolerantDecoder(kind)
        return self._read(data, decoder)

    def _read(self, data: bytes | Raw, decoder: TolerantDecoder[T]) -> T:
        try:
            return decoder.decode(data)
        except UNREADABLE:
            reading = decoder.read(bytes(data))
            if reading.event is None:
                raise
            self._odd += reading.unread
            return reading.event

    def resume(self, checkpoint: bytes) -> None:
        """Go on from a state, in the turn that it was in."""
        super().resume(checkpoint)
        self.turn = self.state.turn

    def close(self, at: int | None = None) -> list[Step]:
        """The file ends: open steps were interrupted, and the tokens of an unfinished turn are told."""
        return [*super().close(at), *self._spent(at)]

    def _begin_turn(self, at: int | None) -> list[Step]:
        """Another turn begins: the tokens of the one before it."""
        steps = self._spent(at)
        self.state.turn += 1
        self.turn = self.state.turn
        self.state.prompted = False
        return steps

    def _prompt(self, text: str, at: int | None, *, parent: str | None = None) -> Step:
        """What the user said."""
        if parent is None:
            self.state.prompted = True
        return self._new(StepKind.PROMPT, text, at=at, parent=parent)

    def _note(self, text: str, at: int | None, event: str) -> Step:
        return self._new(StepKind.NOTICE, text, at=at, event=event)

    def _spent(self, at: int | None) -> list[Step]:
        """The tokens and the cost of the turn, if any are known."""
        usage, self.state.spent = self.state.spent, Usage()
        cost, self.state.cost = self.state.cost, None
        self.facts.usage = self.facts.usage.plus(usage)
        if not usage.known and cost is None:
            return []
        return [self._new(StepKind.USAGE, at=at, usage=usage, cost_usd=cost)]

    def _interrupted(self, at: int | None) -> list[Step]:
        """Steps that nothing will end any more."""
        steps = [structs.replace(s, status=StepStatus.INTERRUPTED, ended_at=at) for s in self.state.open.values()]
        self.state.open.clear()
        return steps

    def _session(self, session: str | None, at: int | None) -> list[Step]:
        """A conversation begins, unless it is the one that goes on already."""
        state = self.state
        if session is None or session == state.session:
            return []
        # A file may hold several conversations, one behind the other.
        steps = [*self._interrupted(None), *self._begin_turn(at)] if state.prompted else []
        state.session = self.facts.agent_session = session
        state.settings.clear()
        state.start = self._new(StepKind.START, at=at, agent_session=session)
        return [*steps, state.start]

    def _settings(self, told: Mapping[str, str | None], at: int | None) -> list[Step]:
        """What is told about model, folder and the like: shown where it changes."""
        steps: list[Step] = []
        known = self.state.settings
        for name, value in told.items():
            earlier = known.get(name)
            if value is None or value == earlier:
                continue
            known[name] = value
            if name == "model":
                self.facts.model = value
                steps += self._named_model(value)
            if earlier is not None:
                steps.append(self._note(f"{name} changed from {earlier} to {value}", at, "settings"))
        return steps

    def _named_model(self, model: str) -> list[Step]:
        start, self.state.start = self.state.start, None
        return [structs.replace(start, model=model)] if start is not None else []
