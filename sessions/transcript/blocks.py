"""A step as a name, an ending and a few blocks: the one description that lists, panes, logs and exports draw.

Pure, and lazy: a block refers to the texts of its step and reads none of them, so a huge output costs nothing here.
All texts are untrusted: a renderer cleans what it draws.
"""

import json
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from msgspec import Struct

from agentdash.sessions.model.compaction import SUMMARY_EVENT
from agentdash.sessions.model.session import Change, PlanItem, Step, StepKind, StepStatus, Usage
from agentdash.sessions.rules.conversation.shown import FOR_PEOPLE, is_interrupted
from agentdash.sessions.rules.step_outcome import failed, told_by_program
from agentdash.sessions.text.json_text import json_text
from agentdash.sessions.text.units import age, duration, tokens
from agentdash.sessions.transcript import questions

ENDINGS = {
    StepStatus.OK: "✓",
    StepStatus.FAILED: "✗",
    StepStatus.DECLINED: "⊘ declined",
    StepStatus.INTERRUPTED: "■ interrupted",
    StepStatus.RUNNING: "● running",
    StepStatus.WAITING: "? waits for you",
}
"""The endings of steps as marks, and as words where a mark is not enough."""


class Voice(StrEnum):
    """The origin of a prose text."""

    USER = "user"
    AGENT = "agent"
    THOUGHT = "thought"


class Prose(Struct, frozen=True):
    """A text that a person or a model wrote, usually Markdown."""

    text: str
    voice: Voice
    note: str = ""
    """The estimated size of a thought; "" if it is not known."""


class Code(Struct, frozen=True):
    """A shell command."""

    text: str
    of_failed_start: bool = False
    """True for the command line of an agent that could not be started; False for a command of the agent."""
    exit_note: str = ""
    """The exit code of a failed start, because its error has none; that of a command is its step's."""


class Call(Struct, frozen=True):
    """A call of a tool, a search, or a task for a sub-agent."""

    tool: str
    """The name with its server; "" if the agent gives none."""
    purpose: str
    """The text of the step, unless it only repeats the name."""
    arguments: Any
    task: Any = None
    """The prompt of a sub-agent, usually a text."""
    repeated: tuple[Any, ...] = ()
    """Values of arguments that need not be shown beside purpose and task: empty values, and these two."""

    @property
    def given(self) -> str:
        """The arguments on one line, an only text without its name; the purpose if there are no arguments."""
        if isinstance(self.arguments, dict) and len(self.arguments) == 1:
            (value,) = self.arguments.values()
            if isinstance(value, str):
                return json.dumps(value, ensure_ascii=False)
        return json_text(self.arguments) or self.purpose

    @property
    def other_arguments(self) -> Any:
        """The arguments without the repeated values; None if no others are left."""
        if not self.repeated or not isinstance(self.arguments, dict):
            return self.arguments
        return {key: value for key, value in self.arguments.items() if value not in self.repeated} or None


class Origin(StrEnum):
    """The source of an output."""

    COMMAND = "command"
    FAILED_START = "failed start"
    """The short beginning of the stderr of an agent that could not be started."""
    TOOL = "tool"
    SUBAGENT = "sub-agent"
    """The answer of a sub-agent is prose."""
    EDITOR = "editor"
    """A success that the change shows better: only an export needs it."""


class Output(Struct, frozen=True):
    """The output of a command, or the answer of a tool."""

    text: str
    origin: Origin
    ended: bool
    """True once no more can come: an empty text then means that there was no output."""
    of_program: bool = False
    """True for words of the agent's program about a call that was declined or interrupted; the ending says as much."""

    @property
    def name(self) -> str:
        """``output`` or ``result``."""
        return "output" if self.origin in (Origin.COMMAND, Origin.FAILED_START) else "result"


class Files(Struct, frozen=True):
    """The files that a step changed."""

    changes: tuple[Change, ...]
    text: str
    """The text of the step, for a step without file names."""


def diff_remark(change: Change) -> str:
    """Return why a diff is missing, or that it is only a part; "" if it is whole, or no reason is known."""
    if change.diff:
        return "the rest of this diff was not stored" if change.cut else ""
    if change.cut or any(change.lines or ()):
        return "the diff is too long to store"
    return f"no diff: {change.no_diff}" if change.no_diff else ""


class Plan(Struct, frozen=True):
    """A todo list."""

    items: tuple[PlanItem, ...]
    text: str

    @property
    def done(self) -> int:
        """The number of completed items."""
        return sum(item.status == "completed" for item in self.items)


class Facts(Struct, frozen=True):
    """Names and values, and a remark."""

    pairs: tuple[tuple[str, str], ...]
    text: str

    @property
    def line(self) -> str:
        """All values in one line; the remark if there are none."""
        return " ".join(value for _, value in self.pairs) or self.text


class Tokens(Struct, frozen=True):
    """The tokens and the cost of a turn."""

    own: Usage | None
    """The counts of this turn; None if they are not known."""
    thread: Usage | None
    """The counts of the whole conversation, if they are known and differ from those of this turn."""
    cost_usd: float | None
    remark: str


class Notice(Struct, frozen=True):
    """An error, or a remark of the agent's program."""

    text: str
    is_error: bool
    fatal: bool | None
    of_program: bool = False
    """True for words of the agent's program that are no part of the conversation."""

    @property
    def fatality(self) -> str:
        """``fatal`` or ``not fatal``; "" if that is not known."""
        return "" if self.fatal is None else "fatal" if self.fatal else "not fatal"


class Raw(Struct, frozen=True):
    """An event that no adapter knows."""

    event: str
    text: str


Block = Prose | Code | Call | Output | Files | Plan | Facts | Tokens | Notice | Raw


_ACTS = (Code, Call, Files)


class Description(Struct, frozen=True):
    """A step for every renderer."""

    step: Step
    body: tuple[Block, ...]
    """At least one block."""

    @property
    def name(self) -> str:
        """The tool of the step, or the event's own name; "" if there is none."""
        return _tool(self.step) if isinstance(self.body[0], Call | Files | Plan) else self.step.event or ""

    @property
    def failed(self) -> bool:
        """True if the step failed, or was declined."""
        return _failed(self.step)

    @property
    def is_act(self) -> bool:
        """True if the first line has the ending: an act of the agent, and a plan that was not taken."""
        kind = type(self.body[0])
        return kind in _ACTS or (kind is Plan and self.failed)

    @property
    def exit_note(self) -> str:
        """The exit code, if it is not 0."""
        return _exit_note(self.step)

    @property
    def remark(self) -> str:
        """The words for a call without a result; "" if it has one, or may still get it."""
        return FOR_PEOPLE if is_interrupted(self.step) else ""

    @property
    def took(self) -> str:
        """The duration of the step as a text, without its wait for a decision; "" if it is not known."""
        at, ended_at = self.step.began_at, self.step.ended_at
        return "" if at is None or ended_at is None else duration(max(0, ended_at - at))


def lasts(step: Step, now: int) -> str:
    """Return for how long an open step has run, or has waited for the user, as a text; "" if that is not known."""
    since = step.asked_at if step.status is StepStatus.WAITING else step.began_at
    return age(now - since) if step.is_open and since is not None else ""


def describe(step: Step) -> Description:
    """Describe a step."""
    return Description(step, _BODIES[step.kind](step))


def _called(step: Step) -> tuple[Block, ...]:
    if step.tool == questions.TOOL and (text := questions.written(step.arguments, step.output or "")):
        asked = Prose(text, Voice.AGENT)
        has_answers = step.status is StepStatus.RUNNING or questions.are_answered(step.arguments, step.output or "")
        return (asked,) if has_answers else (asked, _output(step, Origin.TOOL))
    return _call(step), _output(step, Origin.SUBAGENT if step.kind is StepKind.SUBAGENT else Origin.TOOL)


def _plan(step: Step) -> tuple[Block, ...]:
    plan = Plan(step.items, step.text)
    return (plan, _output(step, Origin.TOOL)) if _failed(step) else (plan,)


def _start(step: Step) -> tuple[Block, ...]:
    known = (("model", step.model), ("conversation", step.agent_session))
    return (Facts(tuple((name, value) for name, value in known if value), step.text),)


def _usage(step: Step) -> tuple[Block, ...]:
    own = None if step.whole_thread else step.usage
    of_turn, total = step.turn_usage or own, step.usage if step.whole_thread else None
    thread = total if total is not None and total.known and total != of_turn else None
    remark = "" if step.whole_thread else step.text
    return (Tokens(of_turn if of_turn is not None and of_turn.known else None, thread, step.cost_usd, remark),)


def _error(step: Step) -> tuple[Block, ...]:
    error = Notice(step.text, is_error=True, fatal=step.fatal)
    if step.command is None:
        return (error,)
    command = Code(step.command, of_failed_start=True, exit_note=_exit_note(step))
    return error, command, _output(step, Origin.FAILED_START)


_TOLD = frozenset({"ask", "error", SUMMARY_EVENT})
"""Events whose notices are shown as far as other texts: what the agent asks, what failed, a summary."""


# A list describes each row that it draws, and a table is up to two microseconds faster than a match.
_BODIES: dict[StepKind, Callable[[Step], tuple[Block, ...]]] = {
    StepKind.PROMPT: lambda step: (Prose(f"{step.sender}: {step.text}" if step.sender else step.text, Voice.USER),),
    StepKind.START: _start,
    StepKind.REASONING: lambda step: (
        Prose(step.text, Voice.THOUGHT, f"~{tokens(step.about_tokens)} tokens" if step.about_tokens else ""),
    ),
    StepKind.MESSAGE: lambda step: (Prose(step.text, Voice.AGENT),),
    StepKind.COMMAND: lambda step: (Code(step.command or step.text), _output(step, Origin.COMMAND)),
    StepKind.TOOL_CALL: _called,
    StepKind.FILE_CHANGE: lambda step: (
        Files(step.changes, step.text),
        _output(step, Origin.TOOL if _failed(step) else Origin.EDITOR),
    ),
    StepKind.WEB_SEARCH: _called,
    StepKind.PLAN: _plan,
    StepKind.SUBAGENT: _called,
    StepKind.ERROR: _error,
    StepKind.NOTICE: lambda step: (
        Notice(step.text, is_error=False, fatal=None, of_program=step.event is not None and step.event not in _TOLD),
    ),
    StepKind.USAGE: _usage,
    StepKind.UNKNOWN: lambda step: (Raw(step.event or "", step.text),),
}


def _call(step: Step) -> Call:
    tool, text = step.tool or "", step.text
    if step.kind is StepKind.TOOL_CALL:
        # Some agents repeat the name with a prefix of their own: mcp__docs__search.
        return Call(_tool(step), "" if tool and text.endswith(tool) else text, step.arguments)
    given = step.arguments if isinstance(step.arguments, dict) and step.kind is StepKind.SUBAGENT else {}
    task = given.get("prompt")
    return Call(_tool(step), "" if text == tool else text, step.arguments, task, repeated=(None, [], text, task))


def _output(step: Step, origin: Origin) -> Output:
    return Output(step.output or "", origin, not step.is_open, told_by_program(step))


def _tool(step: Step) -> str:
    return f"{step.server}.{step.tool}" if step.server and step.tool else step.tool or step.server or ""


def _exit_note(step: Step) -> str:
    return f"exit {step.exit_code}" if step.exit_code else ""


def _failed(step: Step) -> bool:
    return failed(step) or step.status is StepStatus.DECLINED


_NAMES = {
    StepKind.TOOL_CALL: "tool call",
    StepKind.FILE_CHANGE: "file change",
    StepKind.WEB_SEARCH: "web search",
    StepKind.SUBAGENT: "sub-agent",
    StepKind.USAGE: "tokens",
    StepKind.UNKNOWN: "unknown event",
}
"""The names that differ from the kind's value."""


def kind_name(kind: StepKind) -> str:
    """Return the name of a kind in lower case: ``file change``."""
    return _NAMES.get(kind, kind.value)
