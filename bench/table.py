"""The dashboard's table with 100, 1,000 and 10,000 sessions, and our widget compared with DataTable.

``python bench/table.py``.  In a pseudo-terminal of 160x45; a change counts as painted when its bytes are written.
"""

import os
import random
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path

from data_table import beside
from first_paint import BARE, DASHBOARD, first_paint
from many_sessions import fill
from measure import memory, table
from sizes import sized
from terminal import Terminal

COUNTS = sized((100, 1_000, 10_000), (10, 20))
STARTS, CHANGES, KEYS = sized((7, 15, 9), (1, 2, 1))
SETTLED_SECONDS = sized(3, 0.5)
STREAM_SECONDS, A_SECOND = sized((10, 50), (1, 10))


class Writer:
    """Changes rows as runners do: one transaction per change."""

    def __init__(self, home: Path) -> None:
        self._database = sqlite3.connect(home / "agentdash.db", isolation_level=None)

    def say(self, session_id: str, title: str) -> None:
        self._database.execute("UPDATE sessions SET title = ? WHERE id = ?", (title, session_id))

    def wait(self, session_id: str) -> None:
        self._database.execute(
            "UPDATE sessions SET status = 'waiting', ended_at = NULL, waits_since = 1 WHERE id = ?", (session_id,)
        )

    def count(self, session_id: str, tokens: int) -> None:
        self._database.execute("UPDATE sessions SET total_tokens = ? WHERE id = ?", (tokens, session_id))

    def close(self) -> None:
        self._database.close()


def key(terminal: Terminal, keys: str) -> float:
    """Return the milliseconds from a key to the last byte that it caused."""
    began = time.perf_counter()
    terminal.press(keys)
    _, last, _ = terminal.until_quiet(0.15)
    return (last - began) * 1000


def change_to_paint(terminal: Terminal, writer: Writer, session_id: str) -> float:
    taken = []
    for number in range(CHANGES):
        word = f"token-{number:04}"
        began = time.perf_counter()
        writer.say(session_id, word)
        taken.append((terminal.until(word) - began) * 1000)
        terminal.read(0.23)
    return statistics.median(taken)


def stream(terminal: Terminal, writer: Writer, ids: list[str]) -> tuple[float, float]:
    """Return the CPU percentage and the bytes per second while rows change all the time."""
    dice, cpu, written = random.Random(1), terminal.cpu_ms(), 0
    began = time.perf_counter()
    for number in range(STREAM_SECONDS * A_SECOND):
        writer.count(dice.choice(ids), dice.randrange(100_000))
        written += terminal.read(max(0.0, began + (number + 1) / A_SECOND - time.perf_counter()))
    passed = time.perf_counter() - began
    return (terminal.cpu_ms() - cpu) / passed / 10, written / passed


def measure(home: Path, count: int) -> list[object]:
    os.environ["AGENTDASH_HOME"] = str(home)
    ids = fill(home, count)
    writer, visible = Writer(home), ids[0]
    writer.wait(visible)  # so that it is in the first row
    writer.say(visible, "the first one")
    starts = [first_paint(DASHBOARD, "the first one") for _ in range(STARTS)]
    terminal = Terminal(DASHBOARD)
    try:
        terminal.until("the first one")
        terminal.read(SETTLED_SECONDS)
        paint = change_to_paint(terminal, writer, visible)
        busy = stream(terminal, writer, ids)
        terminal.press("s")
        terminal.until_quiet(0.15)
        terminal.press("t")
        moving = stream(terminal, writer, ids)
        terminal.press("s")
        terminal.until_quiet(0.15)
        terminal.press("a")
        quiet = idle(terminal)
        moves = statistics.median(key(terminal, "j") for _ in range(KEYS))
        sorts = statistics.median(key(terminal, "S") for _ in range(KEYS))
        terminal.press("/")
        terminal.until_quiet(0.15)
        filters = statistics.median(key(terminal, letter) for letter in "terraform")
        resident, _ = memory(terminal.process.pid)
    finally:
        terminal.close()
        writer.close()
    return [f"{count:,}", statistics.median(starts), paint, *busy, *moving, *quiet, moves, sorts, filters, resident]


def idle(terminal: Terminal) -> tuple[float, int]:
    """Return the CPU percentage and the bytes while nothing changes."""
    terminal.read(SETTLED_SECONDS)
    cpu = terminal.cpu_ms()
    written = terminal.read(STREAM_SECONDS)
    return (terminal.cpu_ms() - cpu) / STREAM_SECONDS / 10, written


def main() -> None:
    bare = statistics.median(first_paint(BARE, "ready") for _ in range(STARTS))
    with tempfile.TemporaryDirectory() as scratch:
        rows = [measure(Path(scratch) / str(count), count) for count in COUNTS]
    head = [
        "sessions", "start, ms", "change, ms", f"{A_SECOND}/s: CPU %", "bytes/s", "by tok: CPU %",
        "bytes/s", "idle: CPU %", "bytes", "cursor, ms",
        "reverse, ms", "filter key, ms", "MB",
    ]  # fmt: skip
    table("the dashboard, 160x45 (medians)", head, rows)
    print(f"  a bare Textual app shows its first text after {bare:.0f} ms")
    few, many = rows[0], rows[-1]
    pairs = [(float(a), float(b)) for a, b in zip(few[1:], many[1:], strict=True)]  # type: ignore[arg-type]
    ratios = [f"{name} {b / max(0.01, a):.2f}x" for name, (a, b) in zip(head[1:], pairs, strict=True)]
    print(f"  {COUNTS[-1]:,} against {COUNTS[0]:,} sessions: {', '.join(ratios)}")
    beside()


if __name__ == "__main__":
    main()
