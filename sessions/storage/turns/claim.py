"""A turn that a runner owns: who owns it, what it took, how it ended, and its times after a step of the wall clock."""

from msgspec import Struct

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.session import Left, Receipt, Status
from agentdash.sessions.rules.compaction import CompactionMark
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.prompts.delivery import Fate, PromptState
from agentdash.sessions.storage.database import Database
from agentdash.sessions.storage.rows import LIVE_ONES


class Owner(Struct, frozen=True, kw_only=True):
    """The identity of a runner: unique among all processes, on any host that sees the folder."""

    pid: int
    start: int
    boot_id: str
    pid_ns: str


class Claim(Struct, frozen=True, kw_only=True):
    """A turn that now belongs to this runner."""

    run_id: str
    launch: Launch
    agent: str
    cwd: str
    started_at: int | None = None
    agent_pid: int | None = None
    agent_start: int | None = None
    stop_requested_at: int | None = None
    stop_by: str | None = None
    stream: int | None = None
    begin_byte: int = 0


class Outcome(Struct, frozen=True, kw_only=True):
    """The outcome of a turn."""

    status: Status
    reason: str | None
    rule: str | None = None
    stop_by: str | None = None
    """The author of the stop that ended it; recorded here if that failed before the first signal."""
    exit_code: int | None = None
    signal: str | None = None
    duration_ms: int | None = None
    rusage: dict[str, float] | None = None
    receipt: Receipt | None = None
    left: tuple[Left, ...] = ()
    asks: str | None = None
    """The question of the agent's last message (:mod:`...rules.prompts.questions`)."""
    prompt: Fate = Fate(PromptState.SEEN)
    """The fate of the turn's prompt."""
    end_byte: int | None = None
    """The offset behind its output; None if it reaches to the end of the file."""
    warm: bool = False
    """The agent's process lives on and waits for prompts."""
    compaction: CompactionMark | None = None
    """The compaction of the conversation, if the turn was to compact it and did."""
    clears: bool = False
    """The prompt was the agent's own command that begins a new conversation."""


def move_times(database: Database, session_id: str, n: int, step_ms: int) -> None:
    """Move the times of a turn, and those of its open asks, with the clock; nothing if the turn has ended.

    Durations and ages are differences of these times and of the present, and stay what they were.
    """
    with database.transaction() as db:
        changed = db.execute(
            "UPDATE turns SET started_at = started_at + ?1, stop_requested_at = stop_requested_at + ?1"  # noqa: S608
            f" WHERE session = ?2 AND n = ?3 AND status IN ({LIVE_ONES})",
            (step_ms, session_id, n),
        ).rowcount
        if not changed:
            return
        now = now_ms()
        db.execute(
            "UPDATE sessions SET started_at = started_at + ?1, last_event_at = min(last_event_at + ?1, ?3),"
            " stuck_at = stuck_at + ?1, updated_at = ?3 WHERE id = ?2",
            (step_ms, session_id, now),
        )
        db.execute(
            "UPDATE asks SET asked_at = asked_at + ? WHERE session = ? AND state = 'open'", (step_ms, session_id)
        )
