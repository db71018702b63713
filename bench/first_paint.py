"""From the start of a program to its first byte, its first true rows and its whole screen; and keys typed meanwhile.

``python bench/first_paint.py``.  In a pseudo-terminal of 160x45, beside a bare Textual app in the same run.  For a cold
start the files of Python and of the dashboard are dropped from the cache of the disk.
"""

import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from many_sessions import fill
from measure import table, work
from sizes import sized
from terminal import Terminal

import agentdash

DASHBOARD = [sys.executable, "-m", "agentdash"]
BARE = [
    sys.executable,
    "-c",
    """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("ready")
Bare().run(mouse=False)
""",
]

SESSIONS, STARTS, TRIES = sized((50, 20, 100), (12, 1, 2))
ROW = "rename the store 0"
"""A title of the store."""
HEADLINE = "following"
"""A text beside the steps: the first frame does not have it."""
TYPED = "qwertzuiopasdfgh"
TYPING_SECONDS = 1.0

OTHERS = {"htop": ["htop"], "claude agents": ["claude", "agents"]}
"""Other lists on a whole screen, if they are installed."""


def first_paint(argv: list[str], text: str) -> float:
    """Return the milliseconds from the start of the process to its first text."""
    began = time.perf_counter()
    terminal = Terminal(argv)
    try:
        return (terminal.until(text) - began) * 1000
    finally:
        terminal.close()


def moments(argv: list[str], texts: Sequence[str]) -> list[tuple[float, float]]:
    """Return when a program wrote each of these texts: milliseconds since its start, and those of its CPU."""
    began = time.perf_counter()
    terminal = Terminal(argv)
    try:
        return [((terminal.until(text, since=0) - began) * 1000, work(terminal.process.pid).cpu_ms) for text in texts]
    finally:
        terminal.close()


def drop() -> None:
    """Drop the files that a start reads from the cache."""
    for folder in {Path(sys.prefix), Path(os.__file__).parent, *map(Path, agentdash.__path__)}:
        for path in folder.rglob("*"):
            if path.suffix in (".py", ".pyc", ".so", ".tcss", ".sql") and path.is_file():
                descriptor = os.open(path, os.O_RDONLY)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(descriptor)


def starts(name: str, *, cold: bool) -> None:
    """Print the medians of starts."""
    programs = {"bare Textual app, first text": (BARE, ["ready"]), "agentdash": (DASHBOARD, ["\x1b", ROW, HEADLINE])}
    programs |= {name: (argv, ["\x1b"]) for name, argv in OTHERS.items() if shutil.which(argv[0])}
    found: dict[str, list[list[tuple[float, float]]]] = {name: [] for name in programs}
    for _ in range(STARTS):
        for program, (argv, texts) in programs.items():
            if cold:
                drop()
            found[program].append(moments(argv, texts))
    base, rows = None, []
    for program, runs in found.items():
        marks = ["first byte", "first true rows", "real screen"] if program == "agentdash" else [""]
        for mark, times in zip(marks, zip(*runs, strict=True), strict=True):
            ms, cpu = (statistics.median(values) for values in zip(*times, strict=True))
            base = base or (ms, cpu)
            label = f"{program}, {mark}" if mark else program if " " in program else f"{program}, first byte"
            rows.append([label, ms, ms / base[0], cpu, cpu / base[1]])
    table(f"{name} start, medians of {STARTS}", ["", "ms", "ratio", "CPU ms", "ratio"], rows)


def arrives(dice: random.Random) -> bool:
    """Type at random moments of the first second; return whether all of it is in the prompt, in order."""
    terminal = Terminal(DASHBOARD)
    try:
        began = time.perf_counter()
        for key, at in zip("i" + TYPED, sorted(dice.uniform(0, TYPING_SECONDS) for _ in "i" + TYPED), strict=True):
            terminal.read(max(0.0, began + at - time.perf_counter()))
            terminal.press(key)
        terminal.until(HEADLINE, since=0)
        deadline = time.perf_counter() + 10
        while time.perf_counter() < deadline:
            terminal.press("\x0c")  # everything is written again
            before = len(terminal.written)
            terminal.read(0.3)
            if TYPED.encode() in terminal.written[before:]:
                return True
        return False
    finally:
        terminal.close()


def main() -> None:
    """Print the figures of a store of sessions."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        os.environ |= {"AGENTDASH_HOME": str(home), "AGENTDASH_CONFIG": str(Path(folder, "config.toml"))}
        fill(home, SESSIONS)
        first_paint(DASHBOARD, HEADLINE)
        terminal = Terminal(DASHBOARD)  # the picture of this size
        while not list(home.glob("pictures/*.json")):
            terminal.read(0.1)
        terminal.close()
        starts("warm", cold=False)
        starts("cold", cold=True)
        dice = random.Random(11)
        lost = sum(not arrives(dice) for _ in range(TRIES))
        table("keys typed in the first second", ["tries", "lost or out of order"], [[TRIES, lost]])


if __name__ == "__main__":
    main()
