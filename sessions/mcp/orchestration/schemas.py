"""The arguments and the results of the tools: each struct is a schema that a model reads.

In a result what is not known or zero is left out, because a result is a prompt.  Words of a worker are only in
``title``, ``answer``, ``message``, ``reason``, ``wants``, ``why``, ``choices``, ``branch`` and the names in ``did``;
JSON quotes them, and control characters are removed.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from agentdash.sessions.model.membership import Lifecycle

LONGEST_READ = 40_000
"""The most characters of one call of ``read``."""

Worker = Annotated[str, Meta(description="Worker id, or a unique beginning of it with at least 4 characters.")]
Wait = Annotated[
    float, Meta(ge=0, le=86_400, description="Seconds to wait for the worker, as wait_for does; 0 returns at once.")
]


class Delegate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of ``delegate``."""

    task: Annotated[str, Meta(description="The whole task. The worker sees nothing else of your conversation.")]
    title: Annotated[str, Meta(description="Short name for lists.")] = ""
    agent: Annotated[str, Meta(description="claude, codex or another installed agent; default: the settings'.")] = ""
    model: Annotated[str, Meta(description="Model of the agent; default: its own.")] = ""
    preset: Annotated[str, Meta(description="Preset of the settings that completes the start.")] = ""
    working_dir: Annotated[
        str, Meta(description="Folder of the worker; default and root of relative paths: yours.")
    ] = ""
    mode: Annotated[
        str, Meta(description="read-only, edit, full, or a mode of the agent; never more than your own.")
    ] = ""
    lifecycle: Annotated[
        Lifecycle,
        Meta(
            description="linked: stopped with you. detached: goes on. ephemeral: linked, archived when done and read."
        ),
    ] = "linked"
    budget_usd: Annotated[
        Annotated[float, Meta(gt=0)] | None, Meta(description="Dollars that it and its own workers may use.")
    ] = None
    budget_tokens: Annotated[
        Annotated[int, Meta(gt=0)] | None, Meta(description="Tokens that it and its own workers may use.")
    ] = None
    key: Annotated[
        str,
        Meta(max_length=200, description="Your name for the task: a repeated call with it returns the same worker."),
    ] = ""
    wait_s: Wait = 0.0


class WaitFor(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of ``wait_for``."""

    sessions: Annotated[
        Annotated[list[str], Meta(min_length=1, max_length=200)] | None,
        Meta(description="Worker ids; default: all your workers."),
    ] = None
    until: Annotated[
        Literal["any", "all"],
        Meta(description="any: until one ends or needs you. all: until all have ended, or one needs you."),
    ] = "any"
    seconds: Annotated[
        float, Meta(ge=0, le=86_400, description="Longest wait. It returns earlier if your client would give up.")
    ] = 240.0


class ListSessions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of ``list_sessions``."""

    status: Annotated[str, Meta(description="Only workers with this status, in any case.")] = ""
    all: Annotated[bool, Meta(description="Also archived workers.")] = False


class Read(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of ``read``."""

    session: Worker
    part: Annotated[
        Literal["answer", "steps", "changes", "stderr", "prompt"],
        Meta(
            description="answer: its last message. steps: what it did. changes: edits of files; without turn, first "
            "all that differs since its start."
        ),
    ] = "answer"
    turn: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="Number of the turn; default: the newest.")] = (
        None
    )
    offset: Annotated[int, Meta(ge=0, description="First character, as the last line of the part before names it.")] = 0
    limit: Annotated[int, Meta(ge=200, le=LONGEST_READ, description="Most characters to return.")] = 12_000
    full: Annotated[bool, Meta(description="steps, changes: whole outputs and diffs instead of their beginnings.")] = (
        False
    )


class SendMessage(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of ``send_message``."""

    session: Worker
    message: Annotated[str, Meta(description="The next prompt. The worker remembers its conversation.")]
    interrupt: Annotated[bool, Meta(description="End its running turn first, instead of waiting for it.")] = False
    wait_s: Wait = 0.0


class StopSessions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of ``stop_sessions``."""

    sessions: Annotated[
        list[str], Meta(min_length=1, max_length=200, description="Worker ids. Each can go on with send_message.")
    ]
    reason: Annotated[str, Meta(description="Why: recorded with the stop.")] = ""


class AnswerAsk(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of ``answer``."""

    session: Worker
    decision: Annotated[
        Literal["allow", "deny", "always"] | None,
        Meta(description="About a permission. always: also the same for the rest of its session."),
    ] = None
    text: Annotated[str, Meta(description="Answer to its question, or the reason of a denial.")] = ""
    ask: Annotated[int | None, Meta(description="Number of the ask, if it has several.")] = None


class Result(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The base of every result: defaults are left out."""


class Shared(Result, frozen=True, kw_only=True):
    """A file that several workers changed."""

    file: str
    by: tuple[str, ...]
    """The other workers."""


class Did(Result, frozen=True, kw_only=True):
    """The facts of a worker's newest turn, counted from its own steps, not its words."""

    commands: int = 0
    commands_failed: int = 0
    failed: tuple[str, ...] = ()
    """The first commands that failed, with their exit codes."""
    files_changed: tuple[str, ...] = ()
    more_files: int = 0
    """Changed files that are not named."""
    lines: str = ""
    """Lines added and removed: ``+12 -3``."""
    edits_failed: int = 0
    """Edits of files that failed: the files are as they were."""
    test_runs: int = 0
    test_runs_failed: int = 0
    last_test: str = ""
    """The last test run: ``failed: 2 failed, 3 passed``."""
    tools_failed: int = 0
    declined: int = 0
    """Actions that it was not permitted to do."""
    errors: int = 0
    error: str = ""
    also_changed: tuple[Shared, ...] = ()
    """Files of this turn that other workers changed too."""


class Asked(Result, frozen=True, kw_only=True):
    """An open ask of a worker; the tool ``answer`` decides, if the user alone does not."""

    ask: int
    """Its number."""
    kind: str
    wants: str
    text: str = ""
    """The command, the diff or the arguments, if ``wants`` does not have all of it; ``…`` at its end if it is cut."""
    why: str = ""
    choices: tuple[str, ...] = ()
    """The decisions or the answers that it takes from its lead."""
    decides: str = ""
    """``the user`` and the reason, if a lead can only deny it; the user is asked at once."""


class WorkerResult(Result, frozen=True, kw_only=True):
    """One worker."""

    session: str
    title: str
    agent: str
    status: str
    turn: int = 0
    lead: str = ""
    """The worker that leads it, if it is not the caller's own."""
    key: str = ""
    model: str = ""
    steps: int = 0
    tokens: int = 0
    tokens_missing: int = 0
    """Turns of which a part has no number of tokens: ``tokens`` is a lower bound then."""
    cost_usd: float | None = None
    cost_about_usd: float | None = None
    """The estimated part of its cost, beside ``cost_usd``."""
    cost_missing: int = 0
    """Turns of which a part has no cost: the cost is a lower bound then."""
    reason: str = ""
    needs: str = ""
    """``waiting``, ``stuck``, ``denied``, ``unconfirmed`` or ``blocked``."""
    asks: tuple[Asked, ...] = ()
    unread: bool = False
    """It has ended, and wait_for has not named that end."""
    archived: bool = False
    queued: int = 0
    """Messages that wait for the end of its turn."""
    did: Did | None = None
    message: str = ""
    """The beginning of its last message."""
    answer: str = ""
    answer_left_out: str = ""
    """The missing part of the answer, and the call that reads on."""


class Waited(Result, frozen=True, kw_only=True):
    """Result of ``wait_for``."""

    overview: str
    ended: tuple[WorkerResult, ...] = ()
    needs_you: tuple[WorkerResult, ...] = ()
    at_work: tuple[WorkerResult, ...] = ()
    gone: tuple[str, ...] = ()
    """Deleted while they were waited for."""
    ended_before: tuple[str, ...] = ()
    """Named by an earlier call."""
    more: int = 0
    """Workers that had no room; the next call names them."""
    next: str = ""


class Delegated(Result, frozen=True, kw_only=True):
    """Result of ``delegate``."""

    session: str
    status: str
    agent: str
    cwd: str
    overview: str
    model: str = ""
    place: int = 0
    """Its place in the queue; 0 if it does not wait for one."""
    existing: bool = False
    """The key named a worker that was there before: nothing was started."""
    warnings: tuple[str, ...] = ()
    ended: tuple[WorkerResult, ...] = ()
    needs_you: tuple[WorkerResult, ...] = ()
    next: str = ""


class Listed(Result, frozen=True, kw_only=True):
    """Result of ``list_sessions``."""

    overview: str
    workers: tuple[WorkerResult, ...] = ()
    counts: dict[str, int] = {}
    """By status."""
    more: int = 0
    """Workers that had no room: filter by status."""


class Sent(Result, frozen=True, kw_only=True):
    """Result of ``send_message``."""

    session: str
    delivery: str
    """``sent``, ``queued`` or ``steered``."""
    overview: str
    turn: int = 0
    """The turn that it is; 0 while it waits."""
    held: str = ""
    """The reason why the queue is held."""
    ended: tuple[WorkerResult, ...] = ()
    needs_you: tuple[WorkerResult, ...] = ()
    next: str = ""


class StoppedOne(Result, frozen=True, kw_only=True):
    """One worker that was stopped."""

    session: str
    status: str
    ended: int = 0
    """Processes that the stop ended."""
    left: int = 0
    """Processes that it could not end."""
    turn: int = 0
    tokens: int = 0
    tokens_missing: int = 0
    """Turns of which a part has no number of tokens: ``tokens`` is a lower bound then."""
    receipt: str = ""


class NotStopped(Result, frozen=True, kw_only=True):
    """One worker that was not stopped."""

    session: str
    error: str


class Stopped(Result, frozen=True, kw_only=True):
    """Result of ``stop_sessions``."""

    overview: str
    stopped: tuple[StoppedOne, ...] = ()
    not_stopped: tuple[NotStopped, ...] = ()
    reason: str = ""


class Answered(Result, frozen=True, kw_only=True):
    """Result of ``answer``."""

    session: str
    status: str
    ask: int
    decision: str
    overview: str
    more_asks: int = 0
    """Other asks of the worker that wait."""
