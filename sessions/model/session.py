"""The shared values of agentdash: a session, its turns and prompts; it also passes on those of smaller modules.

Frozen structs without any I/O.  ``None`` always means "not known"; it is never replaced by zero.
Times are UTC milliseconds since the epoch, token counts are whole numbers, money is US dollars.
"""

from msgspec import Struct, field

from agentdash.sessions.model.membership import Budget, Led, Lifecycle, Membership
from agentdash.sessions.model.plan_windows import PlanWindow
from agentdash.sessions.model.statuses import ENDED, LIVE, Status
from agentdash.sessions.model.steps import Activity, Change, Plan, PlanItem, Step, StepKind, StepStatus
from agentdash.sessions.model.stops import Ended, Left, Receipt, StoppedBy, left_text
from agentdash.sessions.model.taken_by import BY_HAND, TakenBy
from agentdash.sessions.model.turn_mode import TurnMode
from agentdash.sessions.model.usage import Usage, exact_sum, known_sum

__all__ = [
    "BY_HAND", "ENDED", "LIVE", "MESSAGE_CHARACTERS", "SHORT_ID", "Activity", "Budget", "Change", "Changes",
    "Ended", "Led", "Left", "Lifecycle", "Load", "Membership", "Plan", "PlanItem", "Prompt", "Receipt", "Session",
    "Status", "Step", "StepKind", "StepStatus", "StoppedBy", "Stopping", "TakenBy", "Turn", "TurnMode", "Usage",
    "exact_sum", "known_sum", "left_text", "short_id",
]  # fmt: skip

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
    handled_at: int | None = None
    """Time at which the user marked it read, or dealt with its end, UTC ms; to open it is not enough."""
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
    activity: Activity | None = None
    """The agent's present activity; None before its first step, after its end, or if it was not recorded."""
    plan: Plan | None = None
    """The progress of the newest turn's todo list; None if the agent made none."""
    asks: str | None = None
    """The question of the newest turn's last message, one line; None if it asks nothing, or was not checked."""
    stopped_by: StoppedBy | None = None
    """The requester of the newest turn's stop; None unless it was stopped."""
    pinned_at: int | None = None
    """Time at which the user pinned it above the others."""
    deleted_at: int | None = None
    """Time at which it was moved to the trash, UTC ms; None if it is not there."""
    queued: int = 0
    """Number of prompts that wait for the end of the newest turn."""
    due_at: int | None = None
    """The first time (UTC ms) for which one of its prompts waits; None if none waits for a time."""
    held: str | None = None
    """One line: the reason why they are not sent when it ends; None if they are."""
    unconfirmed: int = 0
    """Number of prompts of which it is not known whether the agent got them."""
    asking: int = 0
    """Number of asks of the agent that wait for an answer."""
    waits_since: int | None = None
    """Time at which the oldest of them was asked, UTC ms; None if none waits."""
    warm_since: int | None = None
    """Time since which its agent's process waits for prompts, UTC ms; None if it works, or there is none."""
    mode: str | None = None
    """The mode that its live agent took since the start of its newest turn; None if it has that of the turn's start."""
    context_tokens: int | None = None
    """Tokens of the newest request to the model."""
    context_window: int | None = None
    """The greatest number of tokens that the model takes."""
    cost_about_usd: float | None = None
    """Estimated cost beyond ``cost_usd``, from the tokens of single calls at list prices."""
    cost_missing: int = 0
    """Number of turns of which a part has no cost: the known cost is a lower bound if it is above 0."""
    tokens_missing: int = 0
    """Number of turns that used an unknown number of tokens."""
    steers: bool = False
    """True if its agent reads prompts in the turn that runs."""
    after: str | None = None
    """Id of the session whose end starts this one; None if it waits for none."""
    blocked: bool = False
    """True if that session ended otherwise than done, so that only the user's decision starts this one."""
    followed: str | None = None
    """Id of the session whose end started it."""
    lead: str | None = None
    """The outside lead that requested it: ``claude:ID``, ``codex:ID`` or ``mcp:ID``."""
    depth: int = 0
    """Number of sessions above it when it was requested."""
    lifecycle: Lifecycle = "detached"
    """Its fate when its lead is stopped."""
    key: str | None = None
    """The name that its lead gave to the task."""
    call: str | None = None
    """Id of the lead's tool call that requested it."""
    budget: Budget | None = None
    """The tokens and the money that it and all sessions below it may use together; None for no limit."""
    reported_turn: int = 0
    """Number of the newest turn of which its lead has read the end."""
    woken_turn: int = 0
    """Number of the newest turn whose end was in a prompt that woke its lead, or is to wake none."""
    led: Led | None = None
    """The state of its lead; None if no session leads it, or it goes on without its lead."""
    escalated: bool = False
    """True if it needs an answer that its lead did not give in time."""
    taken_by: TakenBy | None = None
    """The user who works with it in the agent's own interface; None if no such interface is open."""

    @property
    def short_id(self) -> str:
        """The beginning of its id that people use."""
        return short_id(self.id)

    @property
    def predecessor(self) -> str | None:
        """Id of the session whose answer it waits for or was given; None if it was started on its own."""
        return self.after or self.followed

    @property
    def label(self) -> str:
        """Its title or, without one, its task; not cleaned."""
        return self.title or self.task

    @property
    def is_stuck(self) -> bool:
        """True if it is running and its runner concluded that it makes no progress; ``stuck`` has the evidence."""
        return self.status is Status.RUNNING and self.stuck is not None

    @property
    def has_process(self) -> bool:
        """True if it has a process that works, was left behind, or waits for prompts; a runner supervises it."""
        return not self.status.ended or self.left > 0 or self.warm_since is not None

    @property
    def asks_user(self) -> bool:
        """True if it is done, its last message asks the user something, and the user has not dealt with it since."""
        return self.asks is not None and self.status is Status.DONE and self.attention

    @property
    def put_away(self) -> bool:
        """True if it is archived or in the trash: only a filter that asks for such sessions shows it."""
        return self.archived_at is not None or self.deleted_at is not None

    @property
    def attention(self) -> bool:
        """True if it waits or ended, is new to the user (:attr:`is_new_end`), and is not for its lead.

        :func:`..rules.attention.attention` gives the reason, and also covers running sessions.
        """
        return self.is_new_end and not self.left_to_lead

    @property
    def is_new_end(self) -> bool:
        """True if it waits or ended, and the user has not opened it since; also if its lead can see to it.

        A stop of the user or of its lead is known; one by a limit, the system or agentdash is not.  A failure and a
        question stay new until the user deals with them (:attr:`is_handled`): to open them is not enough.
        """
        if self.status is Status.STOPPED:
            return self.stopped_by is not None and not self.stopped_by.knows and not self.is_handled
        if self.status in (Status.FAILED, Status.LOST) or (self.status is Status.DONE and self.asks is not None):
            return not self.is_handled
        return self.status in (Status.WAITING, Status.DONE) and self.is_unseen

    @property
    def left_to_lead(self) -> bool:
        """True if what it needs is for its lead first; the end of a turn that is done never becomes the user's."""
        is_read = max(self.reported_turn, self.woken_turn) >= self.turn
        return self.led is not None and self.led.comes_first(self.status, escalated=self.escalated, is_read=is_read)

    @property
    def is_unseen(self) -> bool:
        """True if the user has not opened it since its last change."""
        return self.seen_at is None or self.seen_at < self.updated_at

    @property
    def is_handled(self) -> bool:
        """True if the user marked it read, or dealt with it, since its last change."""
        return self.handled_at is not None and self.handled_at >= self.updated_at

    @property
    def standing_since(self) -> int:
        """Time since which it waits, is stuck, works or has ended, UTC ms: from it the age of its row counts."""
        if self.taken_by is not None and not self.put_away:
            return self.taken_by.since
        if self.waits_since is not None and (self.status is Status.WAITING or self.status.ended):
            return self.waits_since
        if self.is_stuck:
            return self.stuck_at or self.updated_at
        if self.status in (Status.STARTING, Status.RUNNING, Status.FINISHING):
            return self.started_at or self.created_at
        return self.last_sign_at

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
        """True if nothing of it is new to the user; otherwise it can be marked read."""
        return not self.is_new_end and self.seen_steps is not None and self.seen_steps >= self.steps

    @property
    def all_opened(self) -> bool:
        """True if the read marker covers every step and its end; otherwise opening the session moves the marker."""
        all_read = self.seen_steps is not None and self.seen_steps >= self.steps
        return all_read and not (self.is_new_end and self.is_unseen)


class Stopping(Struct, frozen=True, kw_only=True):
    """Progress of a stop: the last signal sent, the next one, and when it is due."""

    rung: str
    next: str | None = None
    due_at: int | None = None
    """UTC ms; None if no further signal follows on its own."""


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
    (its turn ended first), or ``unconfirmed`` (it is not known whether the agent got it), which the user makes
    ``resent`` or ``dismissed``.
    """
    created_at: int
    sent_at: int | None = None
    seen_at: int | None = None
    steered: int | None = None
    """Its number in the queue, if it was written into a running turn: ``turn`` is that turn."""
    due_at: int | None = None
    """The first turn of its session does not begin before this time (UTC ms)."""


class Turn(Struct, frozen=True, kw_only=True):
    """One prompt and everything that followed until the agent was done: the recorded facts."""

    session: str
    n: int
    status: Status
    reason: str | None = None
    run_id: str
    argv: tuple[str, ...] = ()
    mode: TurnMode | None = None
    """The settings with which it runs; None for a plain command, and if an older version started it."""
    transport: str = ""
    """The protocol of the live agent that runs it, or :data:`.taken_by.BY_HAND`; else empty."""
    compacts: bool = False
    """It was to compact the conversation, and answered no prompt."""
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
    """The requester of its stop, such as ``you`` or ``its limit`` (``StoppedBy``); ``: `` and a reason may follow."""
    rule: str | None = None
    """The rule that gave an ended turn its status."""
    asked_by: str | None = None
    """The session from inside which it was requested."""
    agent_session: str | None = None
    """The agent's own id of the conversation; None if it ended before the agent named it."""
    launches: int = 0
    """Number of runners sent for it; 0 while it waits for a free place."""
    usage: Usage = field(default_factory=Usage)
    thread_usage: Usage = field(default_factory=Usage)
    """The usage of the whole thread as the agent reported it, if the agent counts that way (codex)."""
    cost_usd: float | None = None
    cost_about_usd: float | None = None
    """Estimated cost beyond ``cost_usd``, from its tokens at known prices, if something estimates it."""
    cost_missing: bool = False
    """A part of its cost is not known: the figures are a lower bound."""
    tokens_missing: bool = False
    """A part of its tokens is not known, as of a model call that was under way at its end."""
    steps: int = 0
    unknown: int = 0
    unreadable: dict[str, int] = field(default_factory=dict)
    """Fields of its events that could not be read, with their counts: ``turn.completed: usage.input_tokens``."""
    receipt: Receipt | None = None
    left: tuple[Left, ...] = ()
    stream: int | None = None
    """The turn whose files hold this one's output; None if it has files of its own."""
    begin_byte: int = 0
    """The offset of its output in that file."""
    end_byte: int | None = None
    """The offset behind its output; None for the end of the file."""
    begin_error_byte: int = 0
    """The offset of its stderr in that turn's file of stderr."""

    @property
    def by_hand(self) -> bool:
        """True if the user had it in the agent's own interface."""
        return self.transport == BY_HAND

    @property
    def stream_number(self) -> int:
        """The number in the names of the files that hold its output."""
        return self.n if self.stream is None else self.stream


class Changes(Struct, frozen=True, kw_only=True):
    """The contents of the change feed after some point."""

    seq: int
    """The point to ask from next time."""
    updated: tuple[Session, ...] = ()
    removed: tuple[str, ...] = ()
    fresh: bool = False
    """True if the store was replaced: ``updated`` is complete, and everything known before is void."""
    plans: tuple[PlanWindow, ...] | None = None
    """The windows of the plans of agents; None if they were not read."""
