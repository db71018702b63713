"""Timing for a noisy machine: several runs, the median, and ratios."""

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path


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
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    return tuple(int(fields[name].split()[0]) / 1024 for name in ("Rss", "Pss"))  # type: ignore[return-value]


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
