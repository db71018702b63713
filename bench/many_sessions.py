"""A generated store with any number of sessions: most have ended and were seen, a few need attention."""

import random
import sqlite3
from pathlib import Path

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.service.manager import SessionManager

_TITLES = ("fix the flaky login test", "upgrade terraform", "split the monolith", "add dark mode", "rename the store")
_FOLDERS = ("/home/ann/code/api", "/home/ann/code/web", "/home/ann/code/infra")


def fill(home: Path, count: int) -> list[str]:
    """Create ``count`` sessions in a new state folder; return their ids, newest first."""
    with SessionManager(home) as manager:
        manager.reader.changes(0)  # creates the schema
    dice, now = random.Random(7), now_ms() - 3_600_000
    rows = [_row(dice, number, now) for number in range(count)]
    seen = [(row["id"], now, row["steps"]) for row in rows if dice.random() < 0.95]
    with sqlite3.connect(home / "agentdash.db") as database:
        names = list(rows[0])
        places = ", ".join("?" * len(names))
        values = [tuple(row.values()) for row in rows]
        database.executemany(f"INSERT INTO sessions ({', '.join(names)}) VALUES ({places})", values)
        database.executemany("INSERT INTO seen (session, at, steps) VALUES (?, ?, ?)", seen)
    database.close()
    with SessionManager(home) as manager, manager.store.database.transaction():
        pass  # as every commit of agentdash does, this one writes the order of urgency of the new rows
    return [str(row["id"]) for row in rows]


def _row(dice: random.Random, number: int, now: int) -> dict[str, object]:
    created = now - 60_000 * number - dice.randrange(50_000)
    ended = min(now, created + dice.randrange(600_000))
    status = dice.choice(["done"] * 8 + ["failed", "stopped"])
    return {
        "id": f"{dice.getrandbits(64):016x}",
        "agent": dice.choice(["codex", "claude"]),
        "title": f"{dice.choice(_TITLES)} {number}",
        "task": "x",
        "cwd": dice.choice(_FOLDERS),
        "model": "gpt-5.5",
        "status": status,
        "reason": "exit 1" if status == "failed" else None,
        "turn": dice.randrange(1, 5),
        "total_tokens": dice.randrange(100_000),
        "cost_usd": dice.random() * 3,
        "steps": dice.randrange(300),
        "host": "h",
        "created_at": created,
        "updated_at": ended,
        "started_at": created,
        "ended_at": ended,
        "last_event_at": ended,
        "last_message": "All tests pass. " * 20,
    }
