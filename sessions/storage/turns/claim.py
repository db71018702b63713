"""The values of a turn that a runner owns: who owns it, what it took, and how it ended."""

from msgspec import Struct

from ...launch import Launch
from ...model import Left, Receipt, Status
from ...rules.compaction import CompactionMark
from ...rules.prompts.delivery import Fate, PromptState


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
