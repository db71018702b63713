"""The two clocks: wall time for timestamps, monotonic time for durations."""

import time


def now_ms() -> int:
    """Return the current time in UTC milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def monotonic() -> float:
    """Return seconds on a clock that never goes back; meaningful only as a difference."""
    return time.monotonic()
