"""Open a session of any size in the dashboard: time until its end is shown and until all is read, and memory."""

import statistics
import sys
import time

from big_sessions import NEEDLE, SMALL_END, Home
from measure import memory
from sizes import sized
from terminal import Terminal

DASHBOARD = [sys.executable, "-m", "agentdash"]
OPENINGS, PAGES, JUMPS = sized((9, 200, 10), (1, 3, 1))
DOWN, UP, ENTER, PAGE_UP = "j", "k", "\r", "\x1b[5~"
FIRST_READING_SECONDS = 300.0
SETTLED_SECONDS = 0.5
"""The time in which a screen with the awaited text is completed; often nothing follows."""


class Dashboard(Terminal):
    """The dashboard of a state folder, with the cursor on the small session."""

    def __init__(self, home: Home) -> None:
        super().__init__(DASHBOARD, home.env)
        self.home = home
        self.until(SMALL_END)
        self.read(SETTLED_SECONDS)

    def open_big(self) -> float:
        """Return the milliseconds from the key until the big session's last step is on the screen."""
        began = time.perf_counter()
        self.press(DOWN)
        return (self.until(self.home.big.end) - began) * 1000

    def read_big(self) -> float:
        """Return the milliseconds from the key until all of the big session is read."""
        since, began = len(self.written), time.perf_counter()
        self.press(DOWN)
        return (self.until(self.home.big.counted, FIRST_READING_SECONDS, since=since) - began) * 1000

    def leave_big(self) -> None:
        """Go back to the small session; the index of the big one is stored by then."""
        self.press(UP)
        self.until(SMALL_END)
        self.read(SETTLED_SECONDS)


def first_paint(home: Home) -> list[object]:
    """Return the row of a size: ms to the last step, without and with a kept index."""
    dashboard = Dashboard(home)
    try:
        cold = []
        for _ in range(OPENINGS):
            home.forget_indexes()
            cold.append(dashboard.open_big())
            dashboard.leave_big()
        dashboard.read_big()
        dashboard.leave_big()
        warm = []
        for _ in range(OPENINGS):
            warm.append(dashboard.open_big())
            dashboard.leave_big()
    finally:
        dashboard.close()
    return [home.big.name, home.big.megabytes, statistics.median(cold), max(cold), statistics.median(warm), max(warm)]


def reading(home: Home) -> list[object]:
    """Return the row of a size: seconds until all is read, without and with a kept index, and MB per second."""
    home.forget_indexes()
    dashboard = Dashboard(home)
    try:
        taken = dashboard.read_big()
        dashboard.leave_big()
        again = dashboard.read_big()
    finally:
        dashboard.close()
    return [home.big.name, taken / 1000, home.big.megabytes / taken * 1000, again / 1000]


def kept_memory(home: Home) -> list[list[object]]:
    """Return the MB in addition to those with a small session: after all was read, and after moving and searching."""
    home.forget_indexes()
    dashboard = Dashboard(home)
    pid = dashboard.process.pid
    try:
        small = memory(pid)
        dashboard.read_big()
        dashboard.read(SETTLED_SECONDS)
        read = memory(pid)
        _read_about(dashboard)
        moved = memory(pid)
    finally:
        dashboard.close()
    rows = []
    for name, n in (("resident", 0), ("proportional", 1)):
        rows.append([f"{home.big.name}, {name}", small[n], read[n] - small[n], moved[n] - small[n]])
    return rows


def _read_about(dashboard: Dashboard) -> None:
    """Page up, jump to both ends and back, and search everything."""
    for keys, times in ((ENTER, 1), (PAGE_UP, PAGES), ("ggG", JUMPS), ("gg", 1), ("/", 1)):
        for _ in range(times):
            dashboard.press(keys)
            dashboard.read(0.06)
    dashboard.press(f"{NEEDLE}\r")
    dashboard.until(dashboard.home.big.all_searched, FIRST_READING_SECONDS)
