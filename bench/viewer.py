"""Read sessions of 1k, 10k and 100k steps, and one of 10 GB: ``python bench/viewer.py [PART ...]``.

The parts are opening, memory, keys, growing, searching and beside; the default is all of them.  The files are
generated, so they are in the kernel's cache when they are measured; the 10 GB are holes and take 10 MB of disk.
"""

import os
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from beside import compared
from big_sessions import Home, dense, replaced, sparse
from growing import IDLE_SECONDS, growth, idle_bytes
from keys import Cost, Watch, costs, resizes, searched
from measure import table
from opening import first_paint, kept_memory, reading
from parts import chosen_parts
from sizes import sized

COUNTS = sized((1_000, 10_000, 100_000), (1_000,))
GROWING = sized((1_000, 100_000), (1_000, 2_000))
SEARCHES = sized(5, 1)
FULL_REDRAW = 22_000
"""Bytes of 160x45 cells in true colour, from the 30,565 that a Textual screen of 200x50 takes."""

CURSOR = 2_000
"""Maximum bytes that a cursor movement may write."""


def opening(_: Path, homes: Sequence[Home]) -> None:
    head = ["session", "MB", "first time, ms", "worst", "again, ms", "worst"]
    table(
        "from the key to the last step on the screen, without and with a kept index",
        head,
        list(map(first_paint, homes)),
    )
    head = ["session", "first time, s", "MB/s", "again, s"]
    table("from the key until everything is read", head, list(map(reading, homes)))


def memory(_: Path, homes: Sequence[Home]) -> None:
    rows = [row for home in homes for row in kept_memory(home)]
    head = ["session", "a small one, MB", "all read, + MB", "and read about in, + MB"]
    table("memory of the dashboard", head, rows)


def keys(_: Path, homes: Sequence[Home]) -> None:
    with watching([home for home in homes if home.big.name != "10k"]) as watches:
        found, resized = costs(watches), resizes(watches)
        idle = [idle_bytes(watch) for watch in watches]
    names = [watch.home.big.name for watch in watches]
    for what, pick in (
        ("ms from a key to the first byte", lambda cost: cost.first),
        ("ms from a key to the last byte (a scrollbar comes a frame after the text)", lambda cost: cost.last),
        ("CPU ms of a key", lambda cost: cost.cpu),
        ("bytes of a key", lambda cost: cost.size),
    ):
        _by_size(what, names, [*found, *resized], pick)
    rules = [("cursor up", CURSOR), ("page up", FULL_REDRAW), ("home", FULL_REDRAW)]
    rows = [[name, *(int(cost.size) for cost in dict(found)[name]), f"<= {most:,}"] for name, most in rules]
    rows.append([f"idle for {IDLE_SECONDS} s", *idle, "0"])
    table("bytes in `agentdash watch` of a session that has ended", ["", *names, "rule"], rows)


def _by_size(
    title: str, names: Sequence[str], found: Sequence[tuple[str, list[Cost]]], pick: Callable[[Cost], float]
) -> None:
    """Print a row per key, a column per size, and the ratios to the first size."""
    rows = []
    for name, measured in found:
        values = [float(pick(cost)) for cost in measured]
        rows.append([name, *values, *(value / max(0.01, values[0]) for value in values[1:])])
    table(title, ["", *names, *(f"{name}/{names[0]}" for name in names[1:])], rows)


def growing(scratch: Path, _: Sequence[Home]) -> None:
    bigs = [dense(scratch / f"growing-{count}", count, done=False) for count in GROWING]
    sizes = [growth(scratch, big) for big in bigs]
    medians = [statistics.median(size.latencies) for size in sizes]
    worst, cpu = [max(size.latencies) for size in sizes], [size.cpu_a_line for size in sizes]
    rows: list[list[object]] = [["append to paint, ms (median)", *medians, medians[1] / medians[0], ""]]
    rows.append(["append to paint, ms (worst)", *worst, worst[1] / worst[0], ""])
    rows.append(["CPU ms a line", *cpu, cpu[1] / cpu[0], ""])
    rows.append(["bytes a line", *(size.bytes_a_line for size in sizes), "", f"<= {FULL_REDRAW:,}"])
    rows.append([f"bytes in {IDLE_SECONDS} s of silence", *(size.idle_bytes for size in sizes), "", "0"])
    table("`agentdash watch` of a session at work", ["", *(big.name for big in bigs), "ratio", "rule"], rows)


def searching(_: Path, homes: Sequence[Home]) -> None:
    rows: list[list[object]] = []
    for home in homes:
        with watching([home]) as (watch,):
            first, done = zip(*(searched(watch) for _ in range(SEARCHES)), strict=True)
        rows.append([home.big.name, statistics.median(first), statistics.median(done)])
    head = ["session", "first place shown, ms", "all searched, ms"]
    table("from Enter, a text that stands only in the last tenth, from the beginning on", head, rows)


def beside(scratch: Path, homes: Sequence[Home]) -> None:
    rows = [row for home in homes if home.big.name != "1k" for row in compared(home, scratch)]
    head = ["session, program", "start to the end on the screen, ms", "resident, MB", "page up, ms", "bytes"]
    table("the same turn file side by side (a start of agentdash is that of Python and Textual)", head, rows)


@contextmanager
def watching(homes: Sequence[Home]) -> Iterator[list[Watch]]:
    watches: list[Watch] = []
    try:
        for home in homes:
            watches.append(Watch(home))  # noqa: PERF401 - those that began are ended if one does not
        yield watches
    finally:
        for watch in watches:
            watch.close()


PARTS = {part.__name__: part for part in (opening, memory, keys, growing, searching, beside)}


def main() -> None:
    chosen = chosen_parts(__doc__ or "", list(PARTS))
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        bigs = [dense(scratch / f"{count}", count) for count in COUNTS]
        homes = [replaced(scratch, big) for big in (*bigs, sparse(scratch / "sparse"))]
        for name in chosen:
            before = os.getloadavg()[0]
            PARTS[name](scratch, homes)
            print(
                f"  load of the machine: {before:.1f} before, {os.getloadavg()[0]:.1f} after; cores: {os.cpu_count()}"
            )


if __name__ == "__main__":
    main()
