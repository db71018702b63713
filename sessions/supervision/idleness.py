"""An agent that prints nothing while nothing of it uses a processor: it hangs, or waits for what may never come.

A child at work (a build, a test run) is only silence.  Looked at once a minute, more often where the time is short,
and only when nothing was printed.
"""

from collections.abc import Callable, Mapping

from ..text import durations

LOOK_SECONDS = 60.0
"""Between two looks at what the processes have used."""

LOOKS = 5
"""At least so many within the time: what is used is counted from the first on."""

BUSY_SHARE = 0.01
"""Of one processor: what a runtime's timers use is less, what somebody waits for is more."""

Used = Mapping[tuple[int, int], float]
"""Seconds of processor time by the identity of the process."""

Look = Callable[[], Used]


class Idleness:
    """Watches one turn; times are seconds of the monotonic clock.

    Args:
        seconds: how long nothing is printed and nothing used until the turn counts as idle.
        used: what the processes of the session have used so far.
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
        """One line while it lasts."""

    def look(self, now: float, printed_at: float) -> float:
        """Look at what the processes use if that is due; in how many seconds to come again at the latest."""
        if printed_at != self._printed_at:
            self._printed_at, self._looked_at = printed_at, printed_at
            self._before, self.evidence = None, None
        due = self._looked_at + self._every
        if now >= due:
            self._compare(now)
            due = now + self._every
        return due - now

    def printed(self, at: float) -> None:
        """It printed something: whatever was concluded from its silence is over."""
        if at != self._printed_at:
            self.evidence = None

    def _compare(self, now: float) -> None:
        used, before = self._used(), self._before
        if before is None or _growth(before, used) > BUSY_SHARE * (now - self._looked_at):
            self._idle_since, self.evidence = now, None
        elif now - self._idle_since >= self._seconds and self.evidence is None:
            self.evidence = f"no event for over {_rounded(now - self._printed_at)} and nothing uses CPU"
        self._before, self._looked_at = used, now


def _rounded(seconds: float) -> str:
    """Whole minutes; it is written down once and has to stay true."""
    return durations.text(seconds // 60 * 60 if seconds >= 60 else int(seconds))


def _growth(before: Used, now: Used) -> float:
    return sum(max(0.0, seconds - before.get(key, 0.0)) for key, seconds in now.items())
