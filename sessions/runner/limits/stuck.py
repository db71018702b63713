"""Detect a stuck turn, in a loop or idle: the runner writes the result into the session's row.

An idle agent prints nothing while its processes use no CPU: it hangs, or waits for what may never come.  A busy child
(a build, a test run) is only silence.  CPU time is checked once a minute, more often for a short limit, and only if
nothing was printed.
"""

import re
from collections.abc import Callable, Mapping, Set

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.session import Step
from agentdash.sessions.rules.attention import AttentionSettings, Stuck, silence
from agentdash.sessions.rules.limits.loop_detector import Loops
from agentdash.sessions.rules.turn_facts import Facts

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
        grown = sum(max(0.0, seconds - (before or {}).get(key, 0.0)) for key, seconds in used.items())
        if before is None or grown > BUSY_SHARE * (now - self._looked_at):
            self._idle_since, self.evidence = now, None
        elif now - self._idle_since >= self._seconds and self.evidence is None:
            self.evidence = f"{silence(int(1000 * (now - self._printed_at)))}, CPU idle"
        self._before, self._looked_at = used, now


class StuckWatch:
    """Watches one turn: its steps as they come, and its silence.

    Args:
        settings: thresholds from which a turn counts as stuck.
        used: returns the CPU time of the session's processes.
        recorded: the record of the turn's earlier runner: the evidence, and since when (UTC ms).
        polling_tools: tools that are meant to be called again with the same arguments.
    """

    def __init__(
        self,
        settings: AttentionSettings,
        used: Look,
        recorded: tuple[str, int] | None = None,
        polling_tools: Set[str] = frozenset(),
    ) -> None:
        self._recorded = recorded
        self._loops = Loops(settings.repeats, polling_tools)
        self._idleness = Idleness(settings.idle_seconds, used)
        self._episode: Stuck | None = None

    def feed(self, step: Step) -> None:
        """Add a step to the loop detection."""
        self._loops.feed(step)

    def check(self, facts: Facts, now: float, printed_at: float) -> float | None:
        """Check for idleness; return the seconds until the next check, None while the turn waits for an answer."""
        return self._idleness.check(now, printed_at) if facts.waiting is None else None

    def episode(self, facts: Facts, printed_at: float) -> Stuck | None:
        """Return the present episode, if any; a waiting or ended turn is not stuck, whatever it did before."""
        self._idleness.printed(printed_at)
        loop, idle = self._loops.found, self._idleness.evidence
        if facts.waiting is not None or facts.end is not None:
            self._episode = None
        elif loop is not None:
            self._episode = self._going_on(loop.key, loop.evidence)
        else:
            self._episode = self._going_on("idle", idle) if idle is not None else None
        return self._episode

    def _going_on(self, key: str, evidence: str) -> Stuck:
        if self._episode is not None and self._episode.key == key:
            return Stuck(key, evidence, self._episode.since)
        if self._recorded is not None and _kind(self._recorded[0]) == _kind(evidence):
            since, self._recorded = self._recorded[1], None
            return Stuck(key, evidence, since)
        return Stuck(key, evidence, now_ms())


def _kind(evidence: str) -> str:
    """Evidence without its numbers, which grow during one episode."""
    return re.sub(r"\d+", "", evidence)
