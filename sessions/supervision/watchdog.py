"""A turn against its limits: what was crossed, and when to look again."""

import time

from ..limits import Limits, Measured, crossed, seconds_left
from ..model import Session
from .follow import Follower


class Watchdog:
    """Measures one turn.

    Args:
        limits: what the turn was started with.
        age_s: how long it has run already, where another runner began it.
    """

    def __init__(self, limits: Limits, age_s: float = 0.0) -> None:
        self.limits = limits
        self._began = time.monotonic() - max(0.0, age_s)

    @property
    def counts(self) -> bool:
        """Whether tokens or money are limited: only then need anybody ask the store."""
        return self.limits.tokens is not None or self.limits.cost_usd is not None

    def look(self, follower: Follower, session: Session | None) -> tuple[tuple[str, ...], float | None]:
        """What was crossed, and in how many seconds time alone will cross the next limit."""
        now = time.monotonic()
        measured = Measured(
            wall_s=now - self._began,
            silence_s=None if follower.facts.waiting is not None else now - follower.grown_at,
            output_bytes=follower.size,
            tokens=session.usage.total_tokens if session else None,
            cost_usd=session.cost_usd if session else None,
        )
        return crossed(self.limits, measured), seconds_left(self.limits, measured)
