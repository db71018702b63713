"""Detect an agent that prints nothing while its processes use no CPU: it hangs, or waits for what may never come.

A busy child (a build, a test run) is only silence.  CPU time is checked once a minute, more often for a short limit,
and only if nothing was printed.
"""

from collections.abc import Callable, Mapping

from agentdash.sessions.rules.attention import silence

LOOK_SECONDS = 60.0
"""Maximum time between two checks of the processes' CPU time."""

LOOKS = 5
"""Minimum number of checks within the limit: use is measured from the first check on."""

BUSY_SHARE = 0.01
"""Share of one processor above which a turn is busy: a runtime's timers use less, real work uses more."""

Used = Mapping[tuple[int, int], float]
"""Seconds of CPU time by process identity."""

Look = Callable[[], Used]


class Idleness:
    """Watches one turn; times are seconds of the monotonic clock.

    Args:
        seconds: time without output or CPU use after which the turn counts as idle.
        used: returns the CPU time of the session's processes so far.
    """

    def __init__(self, seconds: float, used: Look) -> None:
        self._seconds = seconds
        self._used = used
        self._every = min(LOOK_SECONDS, seconds / LOOKS)
        self._printed_at = 0.0
        self._idle_since = 0.0
        self._looked_at = 0.0
        self._before: Used | None = None
        self.evidence: str | None = None
        """One line while the turn is idle, else None."""

    def check(self, now: float, printed_at: float) -> float:
        """Check the processes' CPU time if a check is due; return the seconds until the next one."""
        if printed_at != self._printed_at:
            self._printed_at, self._looked_at = printed_at, printed_at
            self._before, self.evidence = None, None
        due = self._looked_at + self._every
        if now >= due:
            self._compare(now)
            due = now + self._every
        return due - now

    def printed(self, at: float) -> None:
        """Drop the evidence if the agent has printed something since."""
        if at != self._printed_at:
            self.evidence = None

    def _compare(self, now: float) -> None:
        used, before = self._used(), self._before
        if before is None or _growth(before, used) > BUSY_SHARE * (now - self._looked_at):
            self._idle_since, self.evidence = now, None
        elif now - self._idle_since >= self._seconds and self.evidence is None:
            self.evidence = f"{silence(int(1000 * (now - self._printed_at)))}, CPU idle"
        self._before, self._looked_at = used, now


def _growth(before: Used, now: Used) -> float:
    return sum(max(0.0, seconds - before.get(key, 0.0)) for key, seconds in now.items())
