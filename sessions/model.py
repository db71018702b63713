"""The shared values of agentdash: sessions, turns, steps, usage, receipts.

Frozen structs without any I/O.  ``None`` always means "not known"; it is never replaced by zero.
Times are UTC milliseconds since the epoch, token counts are whole numbers, money is US dollars.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct, field, structs

from .statuses import ENDED as ENDED
from .statuses import LIVE as LIVE
from .statuses import Status as Status
from .stopped_by import StoppedBy as StoppedBy
from .text.unified_diff import counts
from .text.units import count


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens of a turn or a session.

    ``input_tokens`` includes ``cached_input_tokens``; ``output_tokens`` includes
    ``reasoning_output_tokens`` (the convention of codex, protocols 2.2; other agents are mapped to it).
    """

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None
    total_tokens: int | None = None

    @classmethod
    def of(
        cls,
        input_tokens: int | None,
        cached: int | None = None,
        output: int | None = None,
        reasoning: int | None = None,
    ) -> "Usage":
        """Build a usage whose total is the sum of input and output, if both are known."""
        total = None if input_tokens is None or output is None else input_tokens + output
        return cls(
            input_tokens=input_tokens,
            cached_input_tokens=cached,
            output_tokens=output,
            reasoning_output_tokens=reasoning,
            total_tokens=total,
        )

    @property
    def known(self) -> bool:
        """True if any of the numbers is known."""
        return any(value is not None for value in structs.astuple(self))

    def plus(self, other: "Usage") -> "Usage":
        """Add two usages; an unknown number counts as absent, two unknown numbers stay unknown."""
        return Usage(**{name: known_sum(getattr(self, name), getattr(other, name)) for name in _USAGE_FIELDS})

    def minus(self, earlier: "Usage") -> "Usage":
        """Subtract an earlier reading of a cumulative count; never below zero."""
        return Usage(**{name: _rest(getattr(self, name), getattr(earlier, name)) for name in _USAGE_FIELDS})


_USAGE_FIELDS = tuple(f.name for f in structs.fields(Usage))


def known_sum(*counts: int | None) -> int | None:
    """Return the sum of the known counts; None if none is known."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _rest(a: int | None, b: int | None) -> int | None:
    return None if a is None else max(0, a - (b or 0))


MESSAGE_CHARACTERS = 500
"""Length to which a session row cuts the last message; the whole text is in the turn file."""


SHORT_ID = 8
"""Characters of an id that people read and type."""


def short_id(session_id: str) -> str:
    """Return the beginning of an id that people use."""
    return session_id[:SHORT_ID]


class Session(Struct, frozen=True, kw_only=True):
    """One conversation with one agent, as the table and ``ls --json`` show it."""

    id: str
    agent: str
    title: str
    task: str
    status: Status
    reason: str | None = None
    """One line: the reason for the session's state, if there is a reason to give."""
    cwd: str
    model: str | None = None
    turn: int
    parent: str | None = None
    """Id of the session from inside which this one was started."""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    exit_code: int | None = None
    signal: str | None = None
    """Name of the signal that ended the agent, such as ``SIGKILL``."""
    created_at: int
    updated_at: int
    started_at: int | None = None
    """Start of the newest turn; None before its runner has it."""
    ended_at: int | None = None
    last_event_at: int | None = None
    """Time of the agent's last output."""
    last_message: str | None = None
    agent_session: str | None = None
    """The agent's own id of the conversation (thread or session id)."""
    steps: int = 0
    unknown: int = 0
    """Lines of the newest turn that match no adapter rule."""
    left: int = 0
    """Processes the agent left behind when it ended on its own."""
    left_note: str | None = None
    """Their names, and the ports on which they listen."""
    stopping: "Stopping | None" = None
    """Progress of a stop."""
    source: str = "user"
    host: str = ""
    seen_at: int | None = None
    seen_steps: int | None = None
    """Number of its steps the user has seen; None if the session was never opened, or the count was not recorded."""
    archived_at: int | None = None
    """Time at which the user archived it: kept, but hidden from lists."""
    stuck: str | None = None
    """One line: the reason why the running turn seems to make no progress; None if it does, or if that is not known."""
    stuck_at: int | None = None
    """Time at which that began."""
    denied: int = 0
    """Number of times that the newest turn was refused a permission, or stopped by its sandbox."""
    denied_names: tuple[str, ...] | None = None
    """The first tools and programs refused in that turn, each once; None if they were not recorded."""
    stopped_by: StoppedBy | None = None
    """The requester of the newest turn's stop; None unless it was stopped."""
    pinned_at: int | None = None
    """Time at which the user pinned it above the others."""
    deleted_at: int | None = None
    """Time at which it was moved to the trash, UTC ms; None if it is not there."""

    @property
    def short_id(self) -> str:
        """The beginning of its id that people use."""
        return short_id(self.id)

    @property
    def label(self) -> str:
        """Its title or, without one, its task; not cleaned."""
        return self.title or self.task

    @property
    def is_stuck(self) -> bool:
        """True if it is running and its runner concluded that it makes no progress; ``stuck`` has the evidence."""
        return self.status is Status.RUNNING and self.stuck is not None

    @property
    def put_away(self) -> bool:
        """True if it is archived or in the trash: only a filter that asks for such sessions shows it."""
        return self.archived_at is not None or self.deleted_at is not None

    @property
    def attention(self) -> bool:
        """True if it is waiting, failed, lost or done, and the user has not opened it since.

        :func:`.rules.attention.attention` gives the reason, and also covers running sessions.
        """
        if self.status not in (Status.WAITING, Status.FAILED, Status.DONE, Status.LOST):
            return False
        return self.seen_at is None or self.seen_at < self.updated_at

    @property
    def last_sign_at(self) -> int:
        """Time of its end or, while it runs, of the agent's last output; UTC ms."""
        return self.ended_at or self.last_event_at or self.started_at or self.created_at

    @property
    def unread(self) -> int:
        """Steps since the user last opened it: all if it was never opened, 0 if the number seen is not known."""
        if self.seen_steps is None and self.seen_at is not None:
            return 0
        return max(0, self.steps - (self.seen_steps or 0))

    @property
    def all_seen(self) -> bool:
        """True if the read marker covers every step; otherwise opening the session moves the marker."""
        return not self.attention and self.seen_steps is not None and self.seen_steps >= self.steps


class Stopping(Struct, frozen=True, kw_only=True):
    """Progress of a stop: the last signal sent, the next one, and when it is due."""

    rung: str
    next: str | None = None
    due_at: int | None = None
    """UTC ms; None if no further signal follows on its own."""


class StepKind(StrEnum):
    """The kinds of steps that an agent takes."""

    PROMPT = "prompt"
    START = "start"
    REASONING = "reasoning"
    MESSAGE = "message"
    COMMAND = "command"
    TOOL_CALL = "tool_call"
    FILE_CHANGE = "file_change"
    WEB_SEARCH = "web_search"
    PLAN = "plan"
    SUBAGENT = "subagent"
    ERROR = "error"
    NOTICE = "notice"
    USAGE = "usage"
    UNKNOWN = "unknown"


class StepStatus(StrEnum):
    """The outcome of a step, or that it is still running."""

    RUNNING = "running"
    OK = "ok"
    FAILED = "failed"
    DECLINED = "declined"
    INTERRUPTED = "interrupted"


class Change(Struct, frozen=True, kw_only=True):
    """One file that a step touched; ``diff`` is unified text if the agent provides it."""

    path: str
    kind: str
    """``add``, ``update`` or ``delete``."""
    diff: str | None = None
    added: int | None = None
    """Lines of the whole diff, if ``diff`` is only a part of it; see :attr:`lines`."""
    removed: int | None = None
    cut: bool = False
    """``diff`` is not the whole diff."""
    moved_to: str | None = None
    """The path of the file after the step, if the step moved it and the agent reports that."""
    no_diff: str | None = None
    """The reason why no diff is known, if one was searched for."""

    @property
    def lines(self) -> tuple[int, int] | None:
        """The number of lines that the change added and that it removed; None if its diff is not known."""
        if self.added is not None and self.removed is not None:
            return self.added, self.removed
        return counts(self.diff) if self.diff else None


class PlanItem(Struct, frozen=True, kw_only=True):
    """One line of an agent's todo list."""

    text: str
    status: str
    """``pending``, ``in_progress`` or ``completed``."""


class Step(Struct, frozen=True, kw_only=True):
    """One thing an agent did.

    ``index`` restarts at 0 in every turn; a later event about the same thing (a command that ended)
    yields a step with the same index, which replaces the earlier one.
    """

    turn: int = 1
    index: int = 0
    kind: StepKind
    text: str = ""
    """The text for the user: the message, the command, the error, the raw line of an unknown event."""
    status: StepStatus | None = None
    at: int | None = None
    """Arrival of its first line, UTC ms; None if no clock was running."""
    ended_at: int | None = None
    parent: str | None = None
    """Tool call id of the sub-agent that did it; None for the main agent."""
    call_id: str | None = None
    command: str | None = None
    exit_code: int | None = None
    output: str | None = None
    server: str | None = None
    tool: str | None = None
    arguments: Any = None
    changes: tuple[Change, ...] = ()
    items: tuple[PlanItem, ...] = ()
    fatal: bool | None = None
    usage: Usage | None = None
    whole_thread: bool = False
    """``usage`` counts all turns of the agent's conversation so far, not only this one (codex)."""
    turn_usage: Usage | None = None
    """This turn's share of such a ``usage``, if it is known."""
    cost_usd: float | None = None
    model: str | None = None
    agent_session: str | None = None
    event: str | None = None
    """The event's own type, for ``unknown`` and ``notice``."""
    cut: int = 0
    """Characters omitted from its texts, because a list does not need them."""

    @property
    def lacks_diffs(self) -> bool:
        """True if it changed files, has ended, and no diff of any of them is known."""
        return (
            bool(self.changes)
            and self.status is not StepStatus.RUNNING
            and not any(change.diff or change.added is not None for change in self.changes)
        )


class Ended(Struct, frozen=True, kw_only=True):
    """One process that a stop ended."""

    pid: int
    command: str
    signal: str | None
    """The signal that ended it; None if it exited on its own (its exit code is in ``exit_code``)."""
    exit_code: int | None = None
    observed: bool = False
    """True if the runner could not reap it: ``signal`` is then the last one sent before it was gone."""


class Left(Struct, frozen=True, kw_only=True):
    """One process that is still running, and the reason."""

    pid: int
    command: str
    reason: str
    ports: tuple[int, ...] = ()
    """TCP ports on which it listens."""


def left_text(left: Sequence[Left]) -> str | None:
    """Name the remaining processes briefly: ``python3 :8000, node, sleep x4``; None if there are none."""
    names: dict[str, int] = {}
    for process in left:
        program = process.command.split(" ", 1)[0].rstrip(":").rpartition("/")[2]
        name = " ".join([program, *(f":{port}" for port in process.ports)])
        names[name] = names.get(name, 0) + 1
    told = [name if count == 1 else f"{name} x{count}" for name, count in names.items()]
    more = f" +{len(told) - _NAMED}" if len(told) > _NAMED else ""
    return ", ".join(told[:_NAMED]) + more if told else None


_NAMED = 3
"""Kinds of processes that are named; the others are only counted."""


_RUNGS = ("SIGINT", "SIGTERM", "SIGKILL")


class Receipt(Struct, frozen=True, kw_only=True):
    """The processes that a stop ended, and those that it could not end."""

    session: str
    status: Status
    ended: tuple[Ended, ...] = ()
    left: tuple[Left, ...] = ()
    duration_ms: int | None = None
    note: str | None = None

    def by_signal(self) -> dict[str, list[Ended]]:
        """Ended processes by signal, gentlest first; processes that exited on their own (``by itself``) come last."""
        groups: dict[str, list[Ended]] = {}
        for process in self.ended:
            groups.setdefault(process.signal or "by itself", []).append(process)
        order = sorted(groups, key=lambda how: _RUNGS.index(how) if how in _RUNGS else len(_RUNGS))
        return {how: groups[how] for how in order}

    def summary(self) -> str:
        """Summarise in one line: ``7 processes ended (SIGINT 6, SIGKILL 1), 0 left``."""
        detail = ", ".join(f"{how} {len(processes)}" for how, processes in self.by_signal().items())
        ended = count(len(self.ended), "process", "processes")
        return f"{ended} ended{f' ({detail})' if detail else ''}, {len(self.left)} left"


class Load(Struct, frozen=True, kw_only=True):
    """The cost of one session's processes."""

    processes: int
    rss_bytes: int
    """Resident memory; memory shared by processes is counted for each."""
    cpu: float | None = None
    """Processors used since the previous measurement, 1.0 for one of them; None at the first measurement."""


class Prompt(Struct, frozen=True, kw_only=True):
    """One prompt to a session, and its delivery state."""

    id: int
    session: str
    turn: int
    text: str
    state: str
    """``queued``, ``sent`` (the agent was started with it), ``seen`` (the agent printed something since), ``unsent``
    (its turn ended first), or ``unconfirmed`` (it is not known whether the agent got it).
    """
    created_at: int
    sent_at: int | None = None
    seen_at: int | None = None


class Turn(Struct, frozen=True, kw_only=True):
    """One prompt and everything that followed until the agent was done: the recorded facts."""

    session: str
    n: int
    status: Status
    reason: str | None = None
    run_id: str
    argv: tuple[str, ...] = ()
    created_at: int
    started_at: int | None = None
    ended_at: int | None = None
    duration_ms: int | None = None
    runner_pid: int | None = None
    runner_start: int | None = None
    agent_pid: int | None = None
    agent_start: int | None = None
    boot_id: str | None = None
    pid_ns: str | None = None
    end: str | None = None
    """The proper end that the adapter saw: ``completed`` or ``failed``; None if there was none."""
    error: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    stop_requested_at: int | None = None
    stop_by: str | None = None
    """Requested by: ``you``, ``the system``, or a limit."""
    rule: str | None = None
    """The rule that gave an ended turn its status."""
    asked_by: str | None = None
    """The session from inside which it was requested."""
    launches: int = 0
    """Number of runners sent for it; 0 while it waits for a free place."""
    usage: Usage = field(default_factory=Usage)
    thread_usage: Usage = field(default_factory=Usage)
    """The usage of the whole thread as the agent reported it, if the agent counts that way (codex)."""
    cost_usd: float | None = None
    cost_about_usd: float | None = None
    """Estimated cost beyond ``cost_usd``, from its tokens at known prices; only if its cost is limited."""
    steps: int = 0
    unknown: int = 0
    unreadable: dict[str, int] = field(default_factory=dict)
    """Fields of its events that could not be read, with their counts: ``turn.completed: usage.input_tokens``."""
    receipt: Receipt | None = None
    left: tuple[Left, ...] = ()


class Changes(Struct, frozen=True, kw_only=True):
    """The contents of the change feed after some point."""

    seq: int
    """The point to ask from next time."""
    updated: tuple[Session, ...] = ()
    removed: tuple[str, ...] = ()
    fresh: bool = False
    """True if the store was replaced: ``updated`` is complete, and everything known before is void."""
