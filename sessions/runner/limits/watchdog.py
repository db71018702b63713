"""Compare a turn with its limits: which were crossed, and when the next check is due."""

import contextlib
import time

from agentdash.sessions.rules.costs.usage_totals import Spent
from agentdash.sessions.rules.limits.limits import Limits, Measured, crossed, seconds_left, used_up
from agentdash.sessions.runner.follow import Follower
from agentdash.sessions.storage.turns.turn_output import TurnOutput


class Watchdog:
    """Measures one turn.

    Args:
        limits: the limits with which the turn was started.
        output: its stdout and its stderr on disk.
        age_s: the turn's age in seconds without what it waited for answers, if another runner started it.
    """

    def __init__(self, limits: Limits, output: TurnOutput, age_s: float = 0.0) -> None:
        self.limits = limits
        self._output = output
        self._size = 0
        self.grown_at = time.monotonic()
        """Time at which growth of the output was last noticed, on the monotonic clock."""
        self._began = time.monotonic() - max(0.0, age_s)
        self._waits_since: float | None = None
        """Time since which the turn waits for an answer, on the monotonic clock."""

    @property
    def counts(self) -> bool:
        """True if tokens or money are limited: only then is the session's use followed."""
        return self.limits.tokens is not None or self.limits.cost_usd is not None

    def note(self, *, waits: bool) -> None:
        """Follow whether the turn waits for an answer of the user: that time is not the agent's, and does not count."""
        now = time.monotonic()
        if self._waits_since is not None:
            self._began += now - self._waits_since
        self._waits_since = now if waits else None

    def check(self, follower: Follower, spent: Spent) -> tuple[dict[str, str], float | None]:
        """Return the limits crossed, and the seconds until time alone crosses the next one; None if there is none."""
        now = time.monotonic()
        size = self._printed()
        if size != self._size:
            # Both streams count, but writes to stderr do not wake the runner, so its size is checked when needed.
            self._size, self.grown_at = size, now
        grown_at = max(self.grown_at, follower.grown_at)
        measured = Measured(
            wall_s=(self._waits_since or now) - self._began,
            silence_s=None if follower.facts.waiting is not None else now - grown_at,
            output_bytes=size,
            tokens=spent.tokens,
            cost_usd=spent.cost_usd,
            estimated=spent.estimated,
        )
        return crossed(self.limits, measured), seconds_left(self.limits, measured)

    def floods(self) -> bool:
        """Return whether too much was printed; called between two checks, because a disk fills up in seconds."""
        return self.limits.output_mb is not None and self._printed() > self.limits.output_mb * 10**6

    def overspent(self, spent: Spent) -> bool:
        """Return whether too much was used; called after each output, so that one model call is enough."""
        return bool(used_up(self.limits, spent.tokens, spent.cost_usd))

    def _printed(self) -> int:
        """Size of the turn's stdout and stderr on disk in bytes, read or not."""
        size = 0
        for part in (self._output.stdout, self._output.stderr):
            with contextlib.suppress(OSError):
                size += part.size
        return size
