"""Detection of loops: a command that keeps failing, or the same call again and again.  Pure.

It judges the agent's actions, never its messages.  Other commands may run between two failures of one, because an agent
that searches for the cause runs them.  ``repeats`` others in a row mean that it has moved on.
"""

from collections import OrderedDict
from collections.abc import Set
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from agentdash.sessions.model.session import Step, StepKind, StepStatus
from agentdash.sessions.rules.step_outcome import failed
from agentdash.sessions.text.sanitize import one_line

_CALLS = frozenset({StepKind.TOOL_CALL, StepKind.WEB_SEARCH, StepKind.SUBAGENT})
_MOST_SPEAKERS = 32
"""The most sub-agents that are watched at once."""

_MOST_COMMANDS = 64
_SHOWN_CELLS = 60
_PRIME = (1 << 61) - 1
_READ_CHARACTERS = 400
"""Characters of a command or its arguments: more than any evidence shows."""


class Loop(Struct, frozen=True):
    """A loop that has not ended."""

    key: str
    """The id of the loop: it does not change while the loop lasts."""
    evidence: str
    """One line for people."""


class Loops:
    """Watches the steps of one turn as they come; it keeps only hashes and one line, for any number of steps.

    Args:
        repeats: the number of repetitions that make a loop.
        polling_tools: tools that are meant to be called again with the same arguments.
    """

    def __init__(self, repeats: int, polling_tools: Set[str] = frozenset()) -> None:
        self._repeats = repeats
        self._polling_tools = polling_tools
        self._speakers: dict[str | None, _Speaker] = {}

    @property
    def found(self) -> Loop | None:
        """The current loop of the main agent, or of one of its sub-agents; None if there is none."""
        return next((speaker.loop for speaker in self._speakers.values() if speaker.loop is not None), None)

    def feed(self, step: Step) -> None:
        """Take a step into account; a running one is ignored."""
        if step.is_open or (step.kind is not StepKind.COMMAND and step.kind not in _CALLS):
            return
        if step.call_id is not None:
            self._speakers.pop(step.call_id, None)  # the loop of a sub-agent ends with it
        if step.parent not in self._speakers and len(self._speakers) >= _MOST_SPEAKERS:
            return
        speaker = self._speakers.setdefault(step.parent, _Speaker(self._repeats))
        if step.kind is StepKind.COMMAND:
            speaker.ran(step)
        elif step.tool and step.tool not in self._polling_tools:
            speaker.called(step)


class _Failures(Struct):
    """The failures of one command, and the number of other actions since the last failure."""

    count: int = 0
    others: int = 0


class _Speaker:
    """The actions of one agent: the main agent, or one sub-agent."""

    def __init__(self, repeats: int) -> None:
        self._repeats = repeats
        self._failures: OrderedDict[str, _Failures] = OrderedDict()
        self._failing: tuple[str, Loop] | None = None
        self._call: str | None = None
        self._calls = 0
        self._calling: Loop | None = None

    @property
    def loop(self) -> Loop | None:
        """The current loop: of commands, else of calls."""
        return self._failing[1] if self._failing is not None else self._calling

    def ran(self, step: Step) -> None:
        """Record a command that has ended."""
        text = (step.command or step.text).strip()
        key = _digest(text.encode("utf-8", "replace"))
        self._call, self._calls, self._calling = None, 0, None
        self._pass_over(key)
        if failed(step) and text:
            self._count(key, text)
        elif step.status is StepStatus.OK or step.exit_code == 0:
            self._forget(key)

    def called(self, step: Step) -> None:
        """Record the call of a tool."""
        self._pass_over(None)
        arguments = _canonical(step.arguments)
        call = _call(step, arguments) if arguments is not None else None
        if call is None or call != self._call:
            self._call, self._calls, self._calling = call, 0, None
        self._calls += 1
        if self._calls >= self._repeats:
            self._calling = Loop(f"call:{call}", f"the same call {_told(step)} {self._calls} times")

    def _count(self, key: str, text: str) -> None:
        failures = self._failures.setdefault(key, _Failures())
        self._failures.move_to_end(key)
        failures.count, failures.others = failures.count + 1, 0
        if failures.count >= self._repeats:
            command = one_line(text[:_READ_CHARACTERS], _SHOWN_CELLS)
            self._failing = key, Loop(f"command:{key}", f"`{command}` failed {failures.count} times in a row")
        if len(self._failures) > _MOST_COMMANDS:
            self._forget(next(iter(self._failures)))

    def _pass_over(self, key: str | None) -> None:
        """Count an action since the failures of other commands; forget old failures."""
        # A copy, because forgetting changes the mapping.
        for other, failures in list(self._failures.items()):
            failures.others += other != key
            if failures.others >= self._repeats:
                self._forget(other)

    def _forget(self, key: str) -> None:
        self._failures.pop(key, None)
        if self._failing is not None and self._failing[0] == key:
            self._failing = None


def _call(step: Step, arguments: bytes) -> str:
    name = msgspec.json.encode([text.encode("utf-8", "replace") for text in (step.server or "", step.tool or "")])
    return _digest(name + arguments)


def _digest(data: bytes) -> str:
    """Return a digest that is the same in every process, so that a runner that takes over a turn knows its loop.

    It is the remainder by a prime number.  A cryptographic one would load OpenSSL, 3.6 MB in each runner, and an agent
    that makes two commands look alike deceives no one but itself.
    """
    return format(int.from_bytes(b"\x01" + data) % _PRIME, "016x")


def _canonical(arguments: Any) -> bytes | None:
    """Return the same bytes for the same arguments in any order; None if they cannot be encoded."""
    try:
        return msgspec.json.encode(arguments, order="sorted")
    except _UNTOLD:
        return None


def _told(step: Step) -> str:
    """Return the call as code: ``docs.lookup(query="tick")``."""
    name = ".".join(part[:_READ_CHARACTERS] for part in (step.server, step.tool) if part)
    given = step.arguments if isinstance(step.arguments, dict) else {}
    pairs = (f"{str(key)[:_READ_CHARACTERS]}={_json(value)}" for key, value in islice(given.items(), 5))
    return f"{one_line(name, _SHOWN_CELLS)}({one_line(', '.join(pairs), _SHOWN_CELLS)})"


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value)[:_READ_CHARACTERS].decode("utf-8", "ignore")
    except _UNTOLD:
        return "…"


_UNTOLD = (TypeError, ValueError, OverflowError, RecursionError)
"""The errors of arguments that are not valid JSON: lone surrogates, numbers out of range, endless nesting."""
