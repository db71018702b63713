"""The steps of an agent: one thing that it did, the files that it changed, the plan that it made and how far it is."""

from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from agentdash.sessions.model.usage import Usage
from agentdash.sessions.text.unified_diff import counts


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
    """The outcome of a step, or that it is still running or waits for the user's decision."""

    RUNNING = "running"
    WAITING = "waiting"
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
    """Lines of the whole diff, if ``diff`` is only a part of it."""
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


OTHER_PROGRAM = "another program"
"""The sender of a prompt that reached a live agent past agentdash, by a way of the agent's own."""


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
    asked_at: int | None = None
    """Time at which the agent last asked whether it may do this, UTC ms; None if it did not ask."""
    decided_at: int | None = None
    """Time of the decision about that, UTC ms: the step began then; None if there was none."""
    sender: str | None = field(default=None, name="from")
    """``agentdash`` if it wrote the prompt, such as one that wakes a lead, :data:`OTHER_PROGRAM` if the prompt did not
    come through agentdash; None for other prompts and other steps."""
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
    """This turn's own use by its record: its share of such a ``usage``, or more than its only report names."""
    cost_usd: float | None = None
    model: str | None = None
    agent_session: str | None = None
    event: str | None = None
    """The event's own type, for ``unknown`` and ``notice``."""
    about_tokens: int | None = None
    """The estimated tokens of a thought, if the agent reports them while it thinks (claude)."""
    cut: int = 0
    """Characters omitted from its texts, because a list does not need them."""

    @property
    def is_open(self) -> bool:
        """True if it runs, or waits for the user's decision."""
        return self.status in (StepStatus.RUNNING, StepStatus.WAITING)

    @property
    def began_at(self) -> int | None:
        """Time from which its duration counts, UTC ms: that of the decision, if it asked; None if it is not known."""
        return self.at if self.asked_at is None else self.decided_at

    @property
    def lacks_diffs(self) -> bool:
        """True if it changed files, has ended, and no diff of any of them is known."""
        return (
            bool(self.changes)
            and not self.is_open
            and not any(change.diff or change.added is not None for change in self.changes)
        )


class Plan(Struct, frozen=True):
    """The progress of the agent's own todo list."""

    done: int
    total: int
    item: str
    """The item in progress or, without one, the first that is not done; "" if all are done.  One line."""


class Activity(Struct, frozen=True):
    """The present activity of an agent."""

    kind: StepKind
    text: str
    """One line: the command, the path, the query, the beginning of a thought."""
    since: int
    """Time at which it began, UTC ms."""
    running: bool
    """False if the step has ended and no other has begun: the agent thinks, or waits for its model."""
