"""The results of the tools: what is not known or zero is left out, because a result is a prompt.

Words of a worker are only in ``title``, ``answer``, ``message``, ``reason``, ``wants``, ``why``, ``choices``,
``branch`` and the names in ``did``; JSON quotes them, and control characters are removed.
"""

from msgspec import Struct


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
