"""Meters of the tokens and the cost of a running turn, and the moments at which an agent reports them."""

from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from agentdash.sessions.model.session import Usage
from agentdash.sessions.rules.costs.reports import Report
from agentdash.sessions.rules.turn_facts import Facts

_FINAL_LOOKS = 50
"""Maximum number of reads of the agent's own record once it is gone; each takes about a tenth of a second."""


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
    """The calls that were read since :meth:`take` was called, to be recorded."""
    compactions: list[tuple[int | None, int | None]]
    """The compactions that were read since then and that the agent's own output does not show: the time (UTC ms), and
    the tokens before it."""
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

    def take(self, facts: Facts) -> bool:
        """Read new data, and give a turn the figures so far; return whether there is more to read at once."""
        more = self.read_new(facts.agent_session)
        if (self.usage.total_tokens or 0) >= (facts.usage.total_tokens or 0) and self.usage.known:
            facts.usage = self.usage
        if self.thread_usage.known and facts.end is None:  # after the end the agent's own last figure counts
            facts.thread_usage = self.thread_usage
        if self.thread_before.known:
            facts.thread_before = self.thread_before
        facts.cost_about_usd = self.cost_usd
        facts.model = facts.model or self.model
        facts.context_tokens = self.context_tokens or facts.context_tokens
        facts.context_window = self.context_window or facts.context_window
        if facts.reported is not None:
            for report in self.reports:
                facts.reported.add(report)
            for at, before in self.compactions:
                facts.reported.compact(at, None, None, before, None)
        self.reports.clear()
        self.compactions.clear()
        return more

    def take_rest(self, facts: Facts) -> None:
        """Read the rest after the agent is gone, give it to its turn, and close the meter.

        The figures are a lower bound if they miss the call that was under way.
        """
        for _ in range(_FINAL_LOOKS):
            if not self.take(facts):
                break
        self.close()
        if self.misses_call and facts.end != "completed" and facts.reported is not None:
            facts.reported.misses_call = True
