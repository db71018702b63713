"""Meters of the tokens and the cost of a running turn, and the moments at which an agent reports them."""

from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from agentdash.sessions.model.session import Usage
from agentdash.sessions.rules.costs.reports import Report


class When(StrEnum):
    """The earliest time at which a figure is known."""

    LIVE = "live"
    """After each model call, while the turn runs."""
    END = "end"
    """At the end of the turn."""
    NEVER = "never"


class Measurable(Struct, frozen=True):
    """The time at which one figure is known, and the reason if it is late or uncertain."""

    when: When
    why: str | None = None
    """The reason why a limit on it may not act, and the remedy for the user; None if a limit is certain to act."""


class Measures(Struct, frozen=True, kw_only=True):
    """The times at which the figures of one start are known."""

    tokens: Measurable
    cost: Measurable


class TranscriptEnd(Struct, frozen=True):
    """The end of a conversation's transcript when a turn began: what is before it belongs to earlier turns."""

    path: Path
    size: int
    """Bytes."""


class Meter:
    """Follows the use of one running turn, for the limits of its session or for an estimate of its cost.

    No method raises: data that cannot be read is not counted.
    """

    usage = Usage()
    """The turn's own tokens so far; unknown if the parser's facts hold them."""
    thread_usage = Usage()
    """The conversation's running total of tokens, if the agent keeps one."""
    thread_before = Usage()
    """That total at the beginning of the turn; unknown if the conversation begins with the turn."""
    cost_usd: float | None = None
    """The estimated cost of the turn beyond the agent's own figure, US dollars; None if nothing was priced."""
    reports: list[Report]
    """The calls that were read since the last time, to be recorded; the reader of the meter empties the list."""
    compactions: list[tuple[int | None, int | None]]
    """The compactions that were read since the last time and that the agent's own output does not show: the time (UTC
    ms), and the tokens before it; the reader of the meter empties the list."""
    earlier: TranscriptEnd | None = None
    """None if it is not known: the times of the lines then decide, which are wrong if the clock was set back."""
    unpriced: str | None = None
    """A model that was called and has no price."""
    path: Path | None = None
    """A file of the agent that grows when there is new data; None if there is none, or it is not found yet."""
    seeks = False
    """True if :attr:`path` is not found yet: a later search may find it."""

    model: str | None = None
    """The model that was called last; None if the data does not name it, or the stream does."""
    context_tokens: int | None = None
    """The tokens of the newest request to the model, and of its answer; None if only the stream has them."""
    context_window: int | None = None
    """The greatest number of tokens that the model takes; None if only the stream has it."""

    def __init__(self) -> None:
        self.reports = []
        self.compactions = []

    @property
    def trouble(self) -> str | None:
        """The reason why a limit cannot act, for the user; None if it can."""
        return f"its cost limit ignores {self.unpriced}, which has no price" if self.unpriced else None

    @property
    def misses_call(self) -> bool:
        """True if a model call is under way, of which the figures have nothing yet."""
        return False

    def feed(self, line: bytes) -> None:
        """Count one line of the agent's own output."""

    def read_new(self, agent_session: str | None) -> bool:  # noqa: ARG002
        """Read new data from other files; return whether there is more.  ``agent_session`` is the conversation's id."""
        return False

    def close(self) -> None:
        """Close the open files."""
