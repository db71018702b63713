"""The two clocks: wall time for what is recorded, monotonic time for how long something takes."""

import time


def now_ms() -> int:
    """The current time in UTC milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def monotonic() -> float:
    """Seconds on a clock that never goes back; meaningful only as a difference."""
    return time.monotonic()
