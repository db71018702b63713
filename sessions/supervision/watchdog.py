"""A turn against its limits: what was crossed, and when to look again."""

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path

from ..costs.session_usage import Spent
from ..rules.limits import Limits, Measured, crossed, seconds_left, used_up
from .follow import Follower


class Watchdog:
    """Measures one turn.

    Args:
        limits: what the turn was started with.
        files: what it prints into: its stdout and its stderr.
        age_s: how long it has run already, where another runner began it.
    """

    def __init__(self, limits: Limits, files: Sequence[Path], age_s: float = 0.0) -> None:
        self.limits = limits
        self._files = files
        self._size = 0
        self.grown_at = time.monotonic()
        """When the files were last seen to have grown, on the monotonic clock."""
        self._began = time.monotonic() - max(0.0, age_s)

    @property
    def counts(self) -> bool:
        """Whether tokens or money are limited: only then is the use of the session followed."""
        return self.limits.tokens is not None or self.limits.cost_usd is not None

    def look(self, follower: Follower, spent: Spent) -> tuple[dict[str, str], float | None]:
        """What was crossed, and in how many seconds time alone will cross the next limit."""
        now = time.monotonic()
        size = self._printed()
        if size != self._size:
            # Both files count, and stderr wakes nobody: it is looked at when it matters.
            self._size, self.grown_at = size, now
        grown_at = max(self.grown_at, follower.grown_at)
        measured = Measured(
            wall_s=now - self._began,
            silence_s=None if follower.facts.waiting is not None else now - grown_at,
            output_bytes=size,
            tokens=spent.tokens,
            cost_usd=spent.cost_usd,
            estimated=spent.estimated,
        )
        return crossed(self.limits, measured), seconds_left(self.limits, measured)

    def floods(self) -> bool:
        """Whether more was printed than may be: asked for between two looks, because a disk is filled in seconds."""
        return self.limits.output_mb is not None and self._printed() > self.limits.output_mb * 10**6

    def overspent(self, spent: Spent) -> bool:
        """Whether more was used than may be: asked for after each piece of output, so that one model call is enough."""
        return bool(used_up(self.limits, spent.tokens, spent.cost_usd))

    def _printed(self) -> int:
        """Bytes on disk, read or not."""
        size = 0
        for path in self._files:
            with contextlib.suppress(OSError):
                size += path.stat().st_size
        return size
