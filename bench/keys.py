"""The cost of a key in ``agentdash watch``, measured on several session sizes in turn, so that noise affects all."""

import statistics
import sys
import time
from collections.abc import Sequence

from big_sessions import NEEDLE, Home
from msgspec import Struct
from sizes import sized
from terminal import Terminal

PRESSES = sized(15, 1)
A_KEY_SECONDS = sized(0.15, 0.03)
KEYS = (
    ("cursor up", "k", "G", ""),
    ("page up", "\x1b[5~", "G", ""),
    ("page down", "\x1b[6~", "gg", ""),
    ("home", "\x1b[H", "", "G"),
    ("end", "G", "gg", "gg"),
    ("previous failure", "F", "G", ""),
    ("unfold", "l", "Gkkkk", "h"),
    ("only commands", "4", "Gkkkk", "0"),
    ("all kinds", "0", "Gkkkk4", "4"),
)
"""The effect, the key, the keys before all presses, and the keys before each press."""


class Cost(Struct, frozen=True):
    """Milliseconds from a key to the first and to the last byte, number of bytes, and CPU milliseconds."""

    first: float
    last: float
    size: float
    cpu: float


class Watch(Terminal):
    """``agentdash watch`` on the big session, after everything is read."""

    def __init__(self, home: Home) -> None:
        super().__init__([sys.executable, "-m", "agentdash", "watch", home.session], home.env)
        self.home = home
        self.until(home.big.counted, timeout=300)
        while self.read(0.5):  # that text may have been the last one
            pass

    def type(self, keys: str) -> None:
        """Press keys in turn, with ``A_KEY_SECONDS`` after each for the screen to settle."""
        for key in keys:
            self.press(key)
            self.read(A_KEY_SECONDS)

    def cost(self, key: str) -> Cost:
        """Return the cost of one press."""
        cpu, began = self.cpu_ms(), time.perf_counter()
        self.press(key)
        first, last, size = self.until_quiet()
        return Cost((first - began) * 1000, (last - began) * 1000, size, self.cpu_ms() - cpu)

    def resized(self, columns: int) -> Cost:
        """Return the cost of one change of the width."""
        cpu, began = self.cpu_ms(), time.perf_counter()
        self.resize(columns)
        first, last, size = self.until_quiet(0.2)
        return Cost((first - began) * 1000, (last - began) * 1000, size, self.cpu_ms() - cpu)


def costs(watches: Sequence[Watch]) -> list[tuple[str, list[Cost]]]:
    """Return the cost of each key at each size: medians, but the mean of the CPU time, whose clock is coarse."""
    found = []
    for name, key, before_all, before_each in KEYS:
        measured: list[list[Cost]] = [[] for _ in watches]
        for watch in watches:
            watch.type(before_all)
        for _ in range(PRESSES):
            for watch, row in zip(watches, measured, strict=True):
                watch.type(before_each)
                row.append(watch.cost(key))
        for watch in watches:
            watch.type("0")
        found.append((name, [typical(row) for row in measured]))
    return found


def resizes(watches: Sequence[Watch]) -> list[tuple[str, list[Cost]]]:
    """Return the cost of making the terminal narrower and wider again, at the end of the session and further up."""
    found = []
    for where, keys in (("at the end", "G"), ("further up", "G" + "b" * 10)):
        for watch in watches:
            watch.type(keys)
        measured: dict[int, list[list[Cost]]] = {120: [[] for _ in watches], 160: [[] for _ in watches]}
        for _ in range(PRESSES):
            for columns, rows in measured.items():
                for watch, row in zip(watches, rows, strict=True):
                    row.append(watch.resized(columns))
        found += [(f"to {columns} columns, {where}", list(map(typical, rows))) for columns, rows in measured.items()]
    return found


def typical(found: Sequence[Cost]) -> Cost:
    """Return the medians, and the mean of the CPU time."""
    first, last, size = (statistics.median(getattr(cost, name) for cost in found) for name in ("first", "last", "size"))
    return Cost(first, last, size, statistics.fmean(cost.cpu for cost in found))


def searched(watch: Watch) -> tuple[float, float]:
    """Return the milliseconds from Enter to the first hit, and to the end of a search from the beginning."""
    watch.type("\x1bgg/")
    watch.press(NEEDLE)
    watch.read(0.3)
    began = time.perf_counter()
    watch.press("\r")
    since = len(watch.written)
    first = watch.until(watch.home.big.first_hit)
    done = watch.until(watch.home.big.all_searched, timeout=300, since=since)
    watch.read(0.5)
    return (first - began) * 1000, (done - began) * 1000
