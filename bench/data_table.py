"""Compare our session table with Textual's DataTable in a pseudo-terminal: ``python bench/data_table.py``.

Each child shows N sessions, then changes one visible cell a second, then moves its cursor.
"""

import sys
import time
from collections.abc import Callable

from measure import table
from msgspec import structs
from sizes import sized
from terminal import Terminal
from textual.app import App, ComposeResult
from textual.widgets import DataTable

from agentdash.sessions.model.session import Session, Status, Usage
from agentdash.widgets.drawing.roles import VARIABLES
from agentdash.widgets.table.columns import Moment
from agentdash.widgets.table.row_cells import Form, row_cells
from agentdash.widgets.table.session_table import SessionTable

NOW = 1_790_000_000_000
SETTLED_SECONDS, A_KEY_SECONDS = sized((2, 0.4), (0.5, 0.2))
COUNTS = sized((100, 10_000), (10, 20))
CHANGES, MOVES = sized((10, 10), (2, 2))


def sessions(count: int) -> list[Session]:
    return [one(number) for number in range(count)]


def one(number: int) -> Session:
    return Session(
        id=f"session-{number:06}",
        agent="codex",
        title=f"task number {number}",
        task="x",
        status=Status.RUNNING,
        cwd="/code/api",
        turn=1,
        created_at=NOW - number,
        updated_at=NOW,
        last_event_at=NOW - 5_000,
        usage=Usage.of(1_000 + number, 0, 10, 0),
    )


class Bench(App[None]):
    """Shows a table; ``c`` changes one cell of the third row."""

    BINDINGS = [("c", "change", "")]  # noqa: RUF012

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count, self.changes = count, 0

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return VARIABLES

    def on_mount(self) -> None:
        self.call_after_refresh(self.fill)

    def fill(self) -> None:
        began = time.perf_counter()
        self.load()
        self.call_after_refresh(lambda: self.tell(f"LOADED {(time.perf_counter() - began) * 1000:.1f} "))

    def tell(self, text: str) -> None:
        # Written as a title: it is not part of the picture, and the harness reads it.
        self._driver.write(f"\x1b]2;{text}\x07")  # type: ignore[union-attr]
        self._driver.flush()  # type: ignore[union-attr]

    def load(self) -> None:
        raise NotImplementedError


class Ours(Bench):
    def compose(self) -> ComposeResult:
        yield SessionTable(lambda: NOW)

    def load(self) -> None:
        self.all = sessions(self.count)
        self.query_one(SessionTable).update_rows(self.all)

    def action_change(self) -> None:
        self.changes += 1
        third = structs.replace(self.all[2], last_event_at=NOW - self.changes % 10 * 1_000)
        self.query_one(SessionTable).update_rows([third])


class Theirs(Bench):
    def compose(self) -> ComposeResult:
        yield DataTable(cursor_type="row")

    def load(self) -> None:
        grid = self.query_one(DataTable)
        form = Form(160)
        names = [column.heading for column in (*form.left, *form.right)]
        names.insert(len(form.left), "what")
        for name, (text, _) in zip(names, row_cells(sessions(1)[0], Moment(NOW), form)[0], strict=True):
            grid.add_column(name, width=len(text), key=name)
        for session in sessions(self.count):
            grid.add_row(*[text for text, _ in row_cells(session, Moment(NOW), form)[0]], key=session.id)

    def action_change(self) -> None:
        self.changes += 1
        self.query_one(DataTable).update_cell("session-000002", "age", f"  {self.changes % 10}s")


def average(terminal: Terminal, key: str, times: int) -> tuple[float, float]:
    """Return the mean bytes and CPU milliseconds of one press."""
    cpu, written = terminal.cpu_ms(), 0
    for _ in range(times):
        terminal.press(key)
        written += terminal.read(A_KEY_SECONDS)
    return written / times, (terminal.cpu_ms() - cpu) / times


def measure(kind: str, count: int) -> list[object]:
    terminal = Terminal([sys.executable, __file__, kind, str(count)])
    try:
        terminal.until("LOADED", timeout=120)
        terminal.read(SETTLED_SECONDS)
        loaded = float(terminal.written.rpartition(b"LOADED ")[2].split()[0])
        changed = average(terminal, "c", CHANGES)
        moved = average(terminal, "\x1b[B", MOVES)
    finally:
        terminal.close()
    return [f"{kind} {count}", loaded, changed[0], changed[1], moved[0], moved[1]]


APPS: dict[str, Callable[[int], Bench]] = {"ours": Ours, "DataTable": Theirs}


def beside() -> None:
    """Print both tables with few rows and with many."""
    rows = [measure(kind, count) for count in COUNTS for kind in APPS]
    head = ["sessions", "load, ms", "cell, bytes", "cell, CPU ms", "cursor, bytes", "cursor, CPU ms"]
    table("a table of sessions, 160x45", head, rows)
    for ours, theirs in zip(rows[::2], rows[1::2], strict=True):
        ratios = [f"{float(b) / max(0.01, float(a)):.1f}x" for a, b in zip(ours[1:], theirs[1:], strict=True)]  # type: ignore[arg-type]
        print(f"  DataTable against {ours[0]}: {', '.join(ratios)}")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        APPS[sys.argv[1]](int(sys.argv[2])).run(mouse=False)
    else:
        beside()
