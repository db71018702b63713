"""Measure the queries of use: 10,000 sessions with three turns each over a year, ten calls a turn.

``python bench/usage.py`` prints the median of the first query in a fresh process, of a repeated one, of one after a
session changed, and of one without the file of the sums of days.  By session, the answer has the greatest 500.
"""

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from datetime import datetime, timedelta
from pathlib import Path

from measure import once, table
from sizes import sized

from agentdash.sessions.rules.costs.usage_table import GROUPS, UsageQuery
from agentdash.sessions.storage.database import Database
from agentdash.sessions.storage.use.day_sums import DaySums
from agentdash.sessions.storage.use.report_log import ADD_UP
from agentdash.sessions.storage.use.use_queries import UseQueries

(SESSIONS,) = sized((10_000,), (50,))
TURNS, CALLS, RUNS, MOST = 3, 10, 7, 500
YEAR_MS = 365 * 86_400_000
MODELS = ("claude-opus-5-5", "claude-haiku-5-5", "gpt-6-sol")


def fill(path: Path) -> None:
    """Write the rows of a year."""
    chance, now = random.Random(1), time.time_ns() // 10**6
    database = Database(path)
    with database.transaction() as db:
        leads: list[str] = []
        for number in range(SESSIONS):
            name, at = str(uuid.UUID(int=chance.getrandbits(128))), now - chance.randrange(YEAR_MS)
            parent = chance.choice(leads) if leads and number % 5 == 0 else None
            leads += [name] if number % 20 == 1 else []
            db.execute(
                "INSERT INTO sessions (id, agent, title, task, cwd, model, status, turn, host, created_at, updated_at,"
                " parent, last_message) VALUES (?, ?, ?, ?, ?, ?, 'done', ?, 'h', ?, ?, ?, ?)",
                (
                    name, ("claude", "codex")[number % 2], f"task {number}", "Do it. " * 40, f"/home/dev/{number % 40}",
                    MODELS[number % 3], TURNS, at, at, parent, "All tests pass. " * 20,
                ),
            )  # fmt: skip
            for turn in range(1, TURNS + 1):
                began = at + turn * 3_600_000
                db.executemany(
                    "INSERT INTO reports (session, turn, source, key, kind, at, model, input_tokens,"
                    " cached_input_tokens, cache_write_tokens, output_tokens, reasoning_output_tokens, total_tokens,"
                    " computed_usd, price_as_of, counted)"
                    " VALUES (?, ?, 'call', ?, 'call', ?, ?, 20000, 18000, 500, 700, 100, 20700, 0.01, ?, 1)",
                    [(name, turn, str(n), began + n * 40_000, MODELS[number % 3], "2026-11-22") for n in range(CALLS)],
                )
                db.execute(ADD_UP, (name, turn))
    database.close()


def measured(path: Path, by: str, step: str | None, days: int | None) -> tuple[float, ...]:
    """Return the milliseconds of the first, of a repeated and of an unaided query, and of one after a change."""
    since = datetime.now().astimezone() - timedelta(days=days) if days else None
    query = UsageQuery(by=by, step=step, since=since, most=MOST if by == "session" else None)  # type: ignore[arg-type]
    database = Database(path)
    queries, unaided = UseQueries(database, DaySums(database, path.with_name("use.days"))), UseQueries(database)
    first = once(lambda: queries.table(query))
    again = statistics.median(once(lambda: queries.table(query)) for _ in range(3))
    without = statistics.median(once(lambda: unaided.table(query)) for _ in range(2))
    with database.transaction() as db:
        db.execute("UPDATE sessions SET updated_at = updated_at + 1 WHERE id = (SELECT max(id) FROM sessions)")
    changed = once(lambda: queries.table(query))
    return first, again, changed, without


def made(path: Path) -> float:
    """Return the milliseconds in which the file of the sums of days is made."""
    database, file = Database(path), path.with_name("made.days")
    database.data_version()

    def make() -> None:
        days = DaySums(database, file)
        with days.opened() as there:
            assert there is not None
        days.close()

    times = []
    for _ in range(RUNS):
        times.append(once(make))
        file.unlink()
    return statistics.median(times)


def main() -> None:
    """Print the medians."""
    if len(sys.argv) > 1:
        path, by, step, days = sys.argv[1:]
        print(json.dumps(measured(Path(path), by, step or None, int(days))))
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "agentdash.db"
        fill(path)
        making = made(path)
        rows: list[list[object]] = []
        cases = [
            *((by, "", 0) for by in GROUPS), ("model", "day", 21), ("model", "day", 0), ("agent", "month", 0),
            ("folder", "month", 0), ("session", "month", 0),
        ]  # fmt: skip
        for by, step, days in cases:
            runs = [
                json.loads(subprocess.check_output([sys.executable, __file__, str(path), by, step, str(days)]))
                for _ in range(RUNS)
            ]
            times = [f"{statistics.median(run[which] for run in runs):.0f} ms" for which in range(4)]
            rows.append([by, step or "-", f"{days or 365} days", *times])
        title = f"{SESSIONS:,} sessions, {SESSIONS * TURNS * CALLS:,} reports"
        table(title, ["by", "columns", "time", "first query", "repeated", "after a change", "without the file"], rows)
        table("the file of the sums of days", ["", "time"], [["making it", f"{making:.0f} ms"]])


if __name__ == "__main__":
    main()
