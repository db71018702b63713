"""Compare ``agentdash watch``, less, lnav and Textual's RichLog on one turn file: start, memory, one page up."""

import shutil
import signal
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from big_sessions import Home
from measure import memory
from msgspec import Struct
from sizes import sized
from terminal import Terminal

PATIENCE_SECONDS = 60
STARTS, PAGES, QUICK_MS = sized((5, 10, 3_000), (1, 1, 1))
TOO_LONG = f"> {PATIENCE_SECONDS} s"
PAGE_UP = "\x1b[5~"
END_OF_FILE = "turn.completed"

RICH_LOG = """
import sys
from pathlib import Path
from textual.app import App
from textual.widgets import RichLog
from agentdash.sessions.service.manager import SessionManager
class Beside(App):
    def compose(self):
        yield RichLog(wrap=True)
    def on_mount(self):
        self.call_after_refresh(self.load)
    def load(self):
        log = self.query_one(RichLog)
        with SessionManager() as manager:
            for step in manager.reader.steps.each_step(sys.argv[1]):
                log.write("\\n".join(filter(None, (step.text, step.output))))
Beside().run(mouse=False)
"""


class Program(Struct, frozen=True):
    """A program that shows a session."""

    name: str
    argv: Callable[[Home], list[str]]
    end: Callable[[Home], str] = lambda _: END_OF_FILE
    """Text of the last line."""
    interrupted: bool = False
    """True if it follows the file until an interrupt, and accepts keys only then."""


PROGRAMS = (
    Program("agentdash watch", lambda h: [sys.executable, "-m", "agentdash", "watch", h.session], lambda h: h.big.end),
    Program("less +F", lambda h: ["less", "-f", "+F", str(h.file)], interrupted=True),
    Program("less +G", lambda h: ["less", "-f", "+G", str(h.file)]),
    Program("lnav", lambda h: ["lnav", str(h.file)]),
    Program("RichLog", lambda h: [sys.executable, "-c", RICH_LOG, h.session], lambda h: h.big.end),
)


def compared(home: Home, scratch: Path) -> list[list[object]]:
    """Return a row per program: ms until the end is shown, resident MB then, ms and bytes of a page up."""
    rows = []
    for program in PROGRAMS:
        name = f"{home.big.name}, {program.name}"
        if shutil.which(program.argv(home)[0]) is None:
            rows.append([name, "not installed", "", "", ""])
        else:
            rows.append([name, *_measured(program, home, _plain(home, scratch))])
    return rows


def _plain(home: Home, scratch: Path) -> dict[str, str]:
    """Return an environment without the user's settings and without animations."""
    return home.env | {"HOME": str(scratch), "LESS": "", "LESSHISTFILE": "-", "TEXTUAL_ANIMATIONS": "none"}


def _measured(program: Program, home: Home, env: dict[str, str]) -> list[object]:
    starts: list[float] = []
    while len(starts) < STARTS and sum(starts) < QUICK_MS:
        began = time.perf_counter()
        terminal = Terminal(program.argv(home), env)
        try:
            starts.append((terminal.until(program.end(home), PATIENCE_SECONDS) - began) * 1000)
            while terminal.read(0.5):
                """The program is still reading."""
            resident = memory(terminal.process.pid)[0]
            paged = _pages(program, terminal)
        except TimeoutError:
            return [TOO_LONG, f"> {memory(terminal.process.pid)[0]:.0f}", "", ""]
        finally:
            terminal.close()
    return [statistics.median(starts), resident, *paged]


def _pages(program: Program, terminal: Terminal) -> list[object]:
    """Return the milliseconds to the last byte, and the bytes, of a page up: medians."""
    if program.interrupted:
        terminal.process.send_signal(signal.SIGINT)
        terminal.read(0.3)
    taken, written = [], []
    for _ in range(PAGES):
        began = time.perf_counter()
        terminal.press(PAGE_UP)
        try:
            _, last, size = terminal.until_quiet(timeout=PATIENCE_SECONDS)
        except TimeoutError:
            return [TOO_LONG, ""]
        taken.append((last - began) * 1000)
        written.append(size)
    return [statistics.median(taken), int(statistics.median(written))]
