"""The contract of a parser: it turns the lines of one turn into steps, and its state can be saved and restored.

Functions that describe an item return the fields of its step that foreign data fill.
"""

import re
from abc import ABC, abstractmethod
from typing import Any, ClassVar, TypedDict, TypeVar, Unpack, cast

import msgspec
from msgspec import Struct, field, structs

from agentdash.sessions.agents.names import PLAIN_NAME
from agentdash.sessions.model.session import Change, PlanItem, Step, StepKind, StepStatus, Usage
from agentdash.sessions.rules.truncate import trimmed
from agentdash.sessions.rules.turn_facts import Facts


class Details(TypedDict, total=False):
    """The fields beside its place, its kind, its text and its time; :class:`Step` describes them."""

    status: StepStatus | None
    ended_at: int | None
    asked_at: int | None
    decided_at: int | None
    sender: str | None
    parent: str | None
    call_id: str | None
    command: str | None
    exit_code: int | None
    output: str | None
    server: str | None
    tool: str | None
    arguments: Any
    changes: tuple[Change, ...]
    items: tuple[PlanItem, ...]
    fatal: bool | None
    usage: Usage | None
    whole_thread: bool
    turn_usage: Usage | None
    cost_usd: float | None
    model: str | None
    agent_session: str | None
    event: str | None
    about_tokens: int | None


class StepFields(Details, total=False):
    """Adds the kind and the text: the description of an item as a whole, or of a change of one."""

    kind: StepKind
    text: str


def changed(step: Step, fields: StepFields, **more: Unpack[StepFields]) -> Step:
    """Return a step with other values of these fields."""
    return structs.replace(step, **(fields | more))


def asked(step: Step, at: int | None) -> Step:
    """Return an open step that waits for the user's decision from a time on."""
    return structs.replace(step, status=StepStatus.WAITING, asked_at=at, decided_at=None)


def decided(step: Step, at: int | None) -> Step:
    """Return a step with the time of the decision that it waited for; the step itself if it waited for none."""
    if step.asked_at is None or step.decided_at is not None:
        return step if step.status is not StepStatus.WAITING else structs.replace(step, status=StepStatus.RUNNING)
    status = StepStatus.RUNNING if step.status is StepStatus.WAITING else step.status
    return structs.replace(step, status=status, decided_at=at)


def known(fields: StepFields) -> StepFields:
    """Return the fields without those that are None."""
    return cast("StepFields", {key: value for key, value in fields.items() if value is not None})


def plan(items: tuple[PlanItem, ...]) -> StepFields:
    """Return the fields of a plan that are made from its items."""
    done = sum(item.status == "completed" for item in items)
    return {"kind": StepKind.PLAN, "text": f"{done} of {len(items)} done", "items": items}


PLAN_STATES = frozenset({"pending", "in_progress", "completed"})
"""The states of a plan's items."""


def mcp_name(name: str) -> tuple[str | None, str]:
    """Return the server and the tool of ``mcp__server__tool``; None for the server of any other tool."""
    parts = name.split("__", 2)
    return (parts[1], parts[2]) if len(parts) == 3 and parts[0] == "mcp" else (None, name)


K = TypeVar("K")
V = TypeVar("V")

MOST_OPEN = 10_000
"""Steps that may be open at once.  No agent needs this many; the limit bounds memory if steps begin and never end."""


def remember(memory: dict[K, V], key: K, value: V, most: int = MOST_OPEN) -> None:
    """Keep a value by its key; drop the oldest one if more than the most are kept."""
    memory[key] = value
    if len(memory) > most:
        del memory[next(iter(memory))]


class ParserState(Struct, kw_only=True):
    """A parser's memory of earlier lines: with it, a resumed parser makes the same steps of the next line.

    The facts are not part of it: they sum up a turn, and no step depends on them.
    """

    next: int = 0
    """The index of the next new step."""
    open: dict[str, Step] = field(default_factory=dict)
    """Open steps, by the agent's own id."""
    conversation: str | None = None
    """The conversation that the turn's lines named first."""


class TurnParser(ABC):
    """Turns the lines of one turn into steps, and keeps the facts.

    The state is bounded: only steps that are still open are remembered.  It can be saved and restored, so that a
    reader can begin in the middle of a file.
    """

    state: ParserState
    state_type: ClassVar[type[ParserState]] = ParserState
    conversation_ids: ClassVar[re.Pattern[str]] = PLAIN_NAME
    """The form of the agent's conversations (:attr:`..capabilities.Conversations.ids`)."""

    def __init__(self, turn: int = 1) -> None:
        self.turn = turn
        self.facts = Facts()
        self.state = self.state_type()

    def checkpoint(self) -> bytes | None:
        """Return the state as bytes, without the middle of very long texts; None if it cannot be encoded."""
        opened = {key: trimmed(step) for key, step in self.state.open.items()}
        try:
            return msgspec.msgpack.encode(structs.replace(self.state, open=opened))
        except (UnicodeEncodeError, OverflowError, RecursionError):
            return None

    def resume(self, checkpoint: bytes) -> None:
        """Continue from the checkpoint of a parser of the same kind."""
        self.state = msgspec.msgpack.decode(checkpoint, type=self.state_type)

    def feed(self, line: bytes, at: int | None = None) -> list[Step]:
        """Parse one line without its newline; never raises, whatever the agent prints.

        Returns new steps, and steps that replace an earlier step of the same index.  A blank line gives none.
        """
        if not line.strip():
            return []
        self.facts.lines += 1
        steps = self.parse(line, at)
        for step in steps:
            if step.kind is StepKind.MESSAGE and step.parent is None:
                self.facts.message_step = step.index
        return steps

    @abstractmethod
    def parse(self, line: bytes, at: int | None) -> list[Step]:
        """Turn one non-blank line into steps."""

    def close(self, at: int | None = None) -> list[Step]:
        """Return the open steps as interrupted, after the agent's process has ended."""
        return self._interrupted(at)

    def _interrupted(self, at: int | None) -> list[Step]:
        """Return the open steps as interrupted: no later line will end them."""
        steps = [structs.replace(s, status=StepStatus.INTERRUPTED, ended_at=at) for s in self.state.open.values()]
        self.state.open.clear()
        return steps

    def too_long(self, beginning: bytes, size: int, at: int | None = None) -> list[Step]:
        """Return an unknown step that shows the beginning of a line of ``size`` bytes, too long to be read."""
        self.facts.lines += 1
        return [self._unknown(beginning, at, f"a line of {size:,} bytes")]

    def _new(self, kind: StepKind, text: str = "", *, at: int | None = None, **more: Unpack[Details]) -> Step:
        step = Step(turn=self.turn, index=self.state.next, kind=kind, text=text, at=at, **more)
        self.state.next += 1
        return step

    def _made(self, fields: StepFields, *, at: int | None, **more: Unpack[StepFields]) -> Step:
        """Return a new step of a description."""
        return self._new(at=at, **(fields | more))

    def _converses(self, name: str, at: int | None, *, model: str | None = None) -> Step:
        """Keep the conversation that a line names, and return its step.

        The first one of a turn is kept.  A later line with another one, or with text that is not an id, may be another
        program's: it becomes a notice.
        """
        if name and not self._is_conversation(name):
            what = "is not that of the turn" if self.conversation_ids.fullmatch(name) else "is not a valid id"
            text = f"a conversation was named that {what}: {name}"
            return self._new(StepKind.NOTICE, text, at=at, event="conversation")
        if name:
            self.state.conversation = self.facts.agent_session = name
        return self._new(StepKind.START, at=at, agent_session=name or None, model=model)

    def _is_conversation(self, name: str) -> bool:
        """Return whether a name is a valid id, and that of the turn if its lines have named one."""
        return self.conversation_ids.fullmatch(name) is not None and self.state.conversation in (None, name)

    def _remember(self, key: str, step: Step) -> None:
        """Keep an open step until its end; drop the oldest if more than `MOST_OPEN` are open."""
        remember(self.state.open, key, step)

    def _unknown(self, line: bytes, at: int | None, event: str) -> Step:
        """Count an unrecognized line, and return a step that shows its raw text."""
        self.facts.unknown += 1
        kinds = self.facts.unknown_kinds
        if event in kinds or len(kinds) < 100:
            kinds[event] = kinds.get(event, 0) + 1
        return self._new(StepKind.UNKNOWN, line.decode("utf-8", "replace"), at=at, event=event)
