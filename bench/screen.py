"""The dashboard in a pseudo-terminal of 160x45: start, append to pixel, idle cost.

``python bench/screen.py``.  A line counts as on the screen when its bytes have left the program.
"""

import os
import statistics
import tempfile
import time
from pathlib import Path

from first_paint import BARE, DASHBOARD, first_paint
from measure import all_at_once, table
from sizes import sized
from terminal import Terminal

from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager

STARTS, APPENDS, PRESSES, IDLE_SECONDS = sized((9, 15, 20, 10), (1, 2, 1, 1))
SETTLED_SECONDS = sized(2, 0.5)
LIVE = sized((1, 50), (1, 2))
"""Numbers of running sessions."""

KEYS = (("Enter", "\r"), ("Esc", "\x1b"), ("j", "j"), ("k", "k"))
"""Keys in an order in which each has an effect."""

DIALOGS = sized(
    (("none", ""), ("?", "?"), ("n", "n"), ("L", "L"), (":", ":"), (";", ";"), ("x (asks)", "x"), ("$", "$")),
    (("none", ""), ("?", "?")),
)
OPEN_SECONDS = sized(6, 1)

PHASES = sized((("first minute", 8), ("later", 60)), (("first minute", 1),))
"""Phases of idling, and the seconds to wait before each."""


def start_up(manager: SessionManager) -> None:
    for number in range(10):
        manager.run(["true"], title=f"session number {number}")
    manager.wait([s.id for s in manager.reader.sessions()], timeout=60)
    bare, ours = [], []
    for _ in range(STARTS):
        bare.append(first_paint(BARE, "ready"))
        ours.append(first_paint(DASHBOARD, "session number 9"))
    a, b = statistics.median(bare), statistics.median(ours)
    table(
        "start to first paint, ms (median)",
        ["", "ms", "ratio"],
        [["bare Textual app", a, 1.0], ["agentdash", b, b / a]],
    )


def keys() -> None:
    """Print CPU milliseconds (means, because that clock is coarse) and bytes of opening the steps and of moving."""
    terminal = Terminal(DASHBOARD)
    costs: dict[str, list[tuple[float, int]]] = {name: [] for name, _ in KEYS}
    try:
        terminal.until("session number 9")
        terminal.read(SETTLED_SECONDS)
        for _ in range(PRESSES):
            for name, key in KEYS:
                cpu = terminal.cpu_ms()
                terminal.press(key)
                *_, size = terminal.until_quiet(0.3)
                costs[name].append((terminal.cpu_ms() - cpu, size))
    finally:
        terminal.close()
    rows = [[name, *map(statistics.fmean, zip(*row, strict=True))] for name, row in costs.items()]
    table("keys of the dashboard", ["key", "CPU ms", "bytes"], rows)


def silent(manager: SessionManager, count: int) -> None:
    """Start ``count`` running sessions without output."""
    ids = [manager.run(["sleep", "600"], title=f"silent {number}").id for number in range(count)]
    while not all(manager.reader.get(session).status == "running" for session in ids):
        time.sleep(0.1)


def dialogs(manager: SessionManager) -> None:
    """Print the bytes of dialogs that open, stay open and close over a session that prints a line a second."""
    session = manager.run(["sh", "-c", "while echo line; do sleep 1; done"], title="the printing one")
    terminal = Terminal(DASHBOARD)
    rows: list[list[object]] = []
    try:
        terminal.until("the printing one")
        terminal.read(SETTLED_SECONDS)
        for name, key in DIALOGS:
            terminal.press(key)
            opened = terminal.read(SETTLED_SECONDS)
            stays = terminal.read(OPEN_SECONDS)
            terminal.press("\x1b" if key else "")
            rows.append([name, opened, stays, terminal.read(SETTLED_SECONDS)])
    finally:
        terminal.close()
        manager.stop(session.id, NOW)
    head = ["dialog", f"open, {SETTLED_SECONDS} s", f"stays, {OPEN_SECONDS} s", f"close, {SETTLED_SECONDS} s"]
    table("bytes while a session prints a line a second", head, rows)


def append_to_pixel(manager: SessionManager, scratch: Path) -> list[float]:
    """Return the milliseconds from the agent's write to the line on the screen."""
    pipe = scratch / f"pipe{time.time_ns()}"
    os.mkfifo(pipe)
    manager.run(["sh", "-c", f"exec cat <> {pipe}"], title="the talking one")
    terminal = Terminal(DASHBOARD)
    taken = []
    try:
        terminal.until("the talking one")
        terminal.read(SETTLED_SECONDS)
        with pipe.open("wb", buffering=0) as agent:
            for number in range(APPENDS):
                began = time.perf_counter()
                agent.write(f"token-{number:04}-x\n".encode())
                taken.append((terminal.until(f"token-{number:04}-x") - began) * 1000)
                terminal.read(0.37)
    finally:
        terminal.close()
    manager.stop("@last", NOW)
    return taken


def idle() -> list[list[object]]:
    """Return the bytes and CPU milliseconds of ten idle seconds, in the first minute and after it."""
    terminal = Terminal(DASHBOARD)
    rows: list[list[object]] = []
    try:
        terminal.until("silent")
        for when, wait in PHASES:
            terminal.read(wait)
            cpu = terminal.cpu_ms()
            written = terminal.read(IDLE_SECONDS)
            used = terminal.cpu_ms() - cpu
            rows.append([when, written, used, used / IDLE_SECONDS / 10])
    finally:
        terminal.close()
    return rows


def main() -> None:
    latencies, costs = [], []
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["AGENTDASH_CONFIG"] = str(all_at_once(scratch))
        os.environ["AGENTDASH_HOME"] = f"{scratch}/starts"
        with SessionManager() as manager:
            start_up(manager)
            keys()
            dialogs(manager)
        for live in LIVE:
            os.environ["AGENTDASH_HOME"] = f"{scratch}/{live}"
            with SessionManager() as manager:
                try:
                    silent(manager, live - 1)
                    taken = append_to_pixel(manager, Path(scratch))
                    latencies.append([f"{live} live", statistics.median(taken), min(taken), max(taken)])
                    silent(manager, 1)
                    costs += [[f"{live} silent, {when}", *cost] for when, *cost in idle()]
                finally:
                    for session in manager.reader.sessions():
                        manager.stop(session.id, NOW)
    table("append to pixel, ms", ["sessions", "median", "least", "most"], latencies)
    table(f"idle for {IDLE_SECONDS} s", ["sessions", "bytes", "CPU ms", "CPU %"], costs)


if __name__ == "__main__":
    main()
