"""A running session in ``agentdash watch``: latency from the agent's write to the screen, and cost in bytes and CPU."""

import statistics
import time
from pathlib import Path

from big_sessions import Written, live
from keys import Watch
from msgspec import Struct
from sample import message
from sizes import sized

APPENDS, IDLE_SECONDS = sized((15, 10), (2, 1))
SETTLED_SECONDS = sized(1.5, 0.3)
"""Time after which the counts and the headline are up to date with the line, too."""


class Growth(Struct, frozen=True):
    """The costs of following a session."""

    latencies: list[float]
    """Milliseconds from the agent's write until the line is on the screen."""
    bytes_a_line: float
    cpu_a_line: float
    """CPU milliseconds per line."""
    idle_bytes: int
    """Bytes written in ten seconds without output of the session."""


def growth(scratch: Path, big: Written) -> Growth:
    """Measure following a session that already has these steps."""
    with live(scratch, big) as (home, pipe):
        watch = Watch(home)
        try:
            idle = idle_bytes(watch)
            cpu, latencies, sizes = watch.cpu_ms(), [], []
            with pipe.open("wb", buffering=0) as agent:
                for number in range(APPENDS):
                    before, began, token = len(watch.written), time.perf_counter(), f"token-{number:04}-x"
                    agent.write(message(big.steps + 1 + number, token))
                    latencies.append((watch.until(token) - began) * 1000)
                    watch.read(SETTLED_SECONDS)
                    sizes.append(len(watch.written) - before)
            cpu = watch.cpu_ms() - cpu
        finally:
            watch.close()
    return Growth(latencies, statistics.median(sizes), cpu / APPENDS, idle)


def idle_bytes(watch: Watch) -> int:
    """Return the bytes written in ten seconds in which nothing happens."""
    watch.read(2 * SETTLED_SECONDS)
    return watch.read(IDLE_SECONDS)
