"""The common parser of transcripts: an agent's own files, with all turns of a conversation.

A turn file holds one turn and no times.  A transcript holds many turns, and each of its lines has a time.  The readers
start nothing; each belongs to a :class:`..base.TranscriptFormat`.
"""

import re
from collections.abc import Container, Mapping
from hashlib import blake2b
from typing import Any, TypeVar

from msgspec import Raw, field, structs

from agentdash.sessions.agents.parsing.event_parser import EventParser, EventState
from agentdash.sessions.agents.parsing.json_lines import UNREADABLE, declared_type
from agentdash.sessions.agents.parsing.line_parts import parts
from agentdash.sessions.agents.parsing.tolerant_decoder import Reading, TolerantDecoder, Unread
from agentdash.sessions.model.session import Step, StepKind, Usage

T = TypeVar("T")

_DECODERS: dict[Any, TolerantDecoder[Any]] = {}
"""By the type that they decode."""


def digest(text: str) -> str:
    """Return a short hash of a text; it is the same in every process."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


class TranscriptState(EventState, kw_only=True):
    """The state that every reader of transcripts has."""

    turn: int = 1
    prompted: bool = False
    """True if the turn has had its prompt."""
    session: str | None = None
    start: Step | None = None
    """The conversation's start step, kept until the model that it names is known."""
    settings: dict[str, str] = field(default_factory=dict)
    """The last known model, folder and so on."""
    spent: Usage = field(default_factory=Usage)
    """Tokens of the turn so far."""
    cost: float | None = None
    """The cost of the turn so far, US dollars."""


class TranscriptParser(EventParser):
    """Parses all turns of a transcript, and numbers them by their prompts.

    The indices of the steps continue from turn to turn: they are positions in the file.

    Args:
        one_turn: all steps have this number: the lines are a part of a transcript that is one turn of a session.
    """

    state: TranscriptState
    state_type = TranscriptState

    def __init__(self, turn: int = 1, *, one_turn: bool = False) -> None:
        super().__init__(turn)
        self.state.turn = turn
        self._one_turn = one_turn
        self._odd: list[Unread] = []
        """Fields of the current line that could not be read."""

    def parse(self, line: bytes, at: int | None) -> list[Step]:
        """Return the steps of one line; each part of its event is read as far as possible."""
        self._odd.clear()
        try:
            steps = self.event(self._read(line, self.decoder), line, at)
        except UNREADABLE:
            found = parts(line)
            return [self._unknown(line, at, declared_type(line))] if found == [line] else self._each(found, at)
        if self._odd:
            steps += self._name_unread(Reading(kind=declared_type(line), unread=tuple(self._odd)), at)
        return steps

    def decoded(self, data: bytes | Raw, kind: type[T]) -> T:
        """Decode a part of a line as one of the structs of its format.

        Raises:
            msgspec.MsgspecError, UnicodeDecodeError, RecursionError: the part is not such a struct; see
                :data:`.json_lines.UNREADABLE`.
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
        """Continue from a checkpoint, in its turn."""
        super().resume(checkpoint)
        self.turn = self.state.turn

    def close(self, at: int | None = None) -> list[Step]:
        """Return the open steps as interrupted at the file's end, and the tokens of an unfinished turn."""
        return [*super().close(at), *self._spent(at)]

    def _begin_turn(self, at: int | None) -> list[Step]:
        """Begin the next turn; return the tokens of the previous turn."""
        steps = self._spent(at)
        self.state.turn += not self._one_turn
        self.turn = self.state.turn
        self.state.prompted = False
        return steps

    def _prompt(self, text: str, at: int | None, *, parent: str | None = None) -> Step:
        """Return the step of a prompt; with a ``parent`` it is a sub-agent's task."""
        if parent is None:
            self.state.prompted = True
        return self._new(StepKind.PROMPT, text, at=at, parent=parent)

    def _note(self, text: str, at: int | None, event: str) -> Step:
        return self._new(StepKind.NOTICE, text, at=at, event=event)

    def _spent(self, at: int | None) -> list[Step]:
        """Return the tokens and the cost of the turn, if known, and reset them."""
        usage, self.state.spent = self.state.spent, Usage()
        cost, self.state.cost = self.state.cost, None
        self.facts.usage = self.facts.usage.plus(usage)
        if not usage.known and cost is None:
            return []
        return [self._new(StepKind.USAGE, at=at, usage=usage, cost_usd=cost)]

    def _session(self, session: str | None, at: int | None) -> list[Step]:
        """Begin a conversation, unless it is the current one; return its steps."""
        state = self.state
        if session is None or session == state.session:
            return []
        # A file may hold several conversations, one after the other.
        steps = [*self._interrupted(None), *self._begin_turn(at)] if state.prompted else []
        state.session = self.facts.agent_session = session
        state.settings.clear()
        state.start = self._new(StepKind.START, at=at, agent_session=session)
        return [*steps, state.start]

    def _settings(self, values: Mapping[str, str | None], at: int | None) -> list[Step]:
        """Record the model, the folder and so on; return a notice for each that changed."""
        steps: list[Step] = []
        known = self.state.settings
        for name, value in values.items():
            earlier = known.get(name)
            if value is None or value == earlier:
                continue
            known[name] = value
            if name == "model":
                self.facts.model = value
                start, self.state.start = self.state.start, None
                steps += [structs.replace(start, model=value)] if start is not None else []
            if earlier is not None:
                steps.append(self._note(f"{name} changed from {earlier} to {value}", at, "settings"))
        return steps


_OPENED = re.compile(r"\s*<([A-Za-z][A-Za-z0-9_-]{0,60})(?:\s[^<>]{0,200})?>")


def is_wrapped(text: str, names: Container[str], trailed: Container[str] = ()) -> bool:
    """Return whether an agent wrote a text: it is nothing but closed elements with these names, one after the other.

    A prompt of the user may begin with any tag; so only whole texts in known tags count.

    Args:
        trailed: those of them behind which the agent writes more text.
    """
    at = 0
    while (opened := _OPENED.match(text, at)) is not None and opened[1] in names:
        closed = text.find(f"</{opened[1]}", opened.end())
        end = text.find(">", closed) + 1 if closed >= 0 else 0
        if end == 0:
            return False
        if opened[1] in trailed:
            return True
        at = end
    return at > 0 and not text[at:].strip()
