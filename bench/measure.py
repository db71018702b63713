"""Timing for a noisy machine: several runs, the median, and ratios."""

import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


def milliseconds(action: Callable[[], object], runs: int = 7) -> float:
    """Return the median duration of an action in milliseconds, after one run that is not counted."""
    action()
    return statistics.median(once(action) for _ in range(runs))


def once(action: Callable[[], object]) -> float:
    """Return the duration of one run in milliseconds."""
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1000


def all_at_once(folder: str) -> Path:
    """Write a settings file in this folder that lets no session wait in the launch queue; return its path."""
    path = Path(folder) / "all-at-once.toml"
    path.write_text("[queue]\nmax_running = 1000\n")
    return path


def memory(pid: int) -> tuple[float, float]:
    """Return the resident and the proportional memory of a process in MB."""
    fields = _mapped(pid)
    return fields["Rss"], fields["Pss"]


def private_memory(pid: int) -> float:
    """Return the memory in MB that would be free if the process ended."""
    fields = _mapped(pid)
    return fields["Private_Clean"] + fields["Private_Dirty"]


def _mapped(pid: int) -> dict[str, float]:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    return {name: int(value.split()[0]) / 1024 for name, value in (line.split(":", 1) for line in lines)}


class Work(NamedTuple):
    """What a process has done so far."""

    cpu_ms: float
    wakeups: int
    """The times that it waited for something."""

    def __sub__(self, earlier: "Work") -> "Work":
        """Return what it did since an earlier moment."""
        return Work(self.cpu_ms - earlier.cpu_ms, self.wakeups - earlier.wakeups)


def work(pid: int) -> Work:
    """Return what a process has done, over all its threads that live."""
    cpu = wakeups = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it ended after it was listed
            ran = int((task / "schedstat").read_text().split()[0])
            wakeups += int((task / "status").read_text().split("\nvoluntary_ctxt_switches:")[1].split()[0])
            cpu += ran
    return Work(cpu / 1e6, wakeups)


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table with a heading; numbers are right-aligned."""
    cells = [list(head)] + [[f"{c:.2f}" if isinstance(c, float) else str(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    print(f"\n{title}")
    for number, row in enumerate(cells):
        print(
            "  "
            + "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        )
        if number == 0:
            print("  " + "  ".join("-" * w for w in widths))
