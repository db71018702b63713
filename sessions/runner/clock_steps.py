"""Steps of the wall clock, which the uptime does not make: the user, or the network's time, has set it.

Durations on the screen are differences of recorded times.  A runner that notices a step moves the recorded times of its
turn with the clock, so that its duration and its age stay what they were.
"""

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.runner.processes.processes import since_start, uptime

LEAST_MS = 2_000
"""A smaller difference counts as none: clocks drift, and the two readings are not made at one instant."""

_APART_SECONDS = 0.5
_TRIES = 3


class ClockSteps:
    """Compares the wall clock with the uptime of the machine, which goes on while the machine sleeps."""

    def __init__(self) -> None:
        self._offset = _offset()

    def step_ms(self) -> int:
        """Return the step since the last call, forward or back (negative), in milliseconds; 0 if there was none."""
        offset = _offset()
        if offset is None:
            return 0
        if self._offset is None:
            self._offset = offset
        step = offset - self._offset
        if abs(step) < LEAST_MS:
            return 0
        self._offset = offset
        return step


def _offset() -> int | None:
    """Return wall time minus uptime, ms; None if this process was held up between the two readings."""
    for _ in range(_TRIES):
        before, wall, after = uptime(), now_ms(), uptime()
        if after - before < _APART_SECONDS:
            return wall - round(before * 1000)
    return None


SURPLUS_MS = 60_000
"""A turn's processes start this long after the turn at most, also on a loaded machine."""


def surplus_ms(started_at: int | None, start: int | None) -> int:
    """Return the time by which a turn seems older than its process, which is as old as the turn, or older.

    The clock was set forward while no runner followed the turn.  0 if the time is plausible, or one of both is unknown.

    Args:
        started_at: the recorded start of the turn, UTC ms.
        start: the start of its runner or its agent in this boot, clock ticks.
    """
    if started_at is None or start is None:
        return 0
    surplus = now_ms() - started_at - round(since_start(start) * 1000)
    return surplus if surplus >= SURPLUS_MS else 0
