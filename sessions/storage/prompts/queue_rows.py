"""The rows of the queue: which prompt is next, and how prompts are added, put back, held and let go.

Each function works inside the transaction of its caller.
"""

import sqlite3
from typing import Any

from ...clock import now_ms
from ...launch import plan_like
from ...model import Status
from ...rules.prompts.delivery import HELD_BY_USER
from ..rows import dump, launch_from
from .queued_prompt import AGAIN, Request, attempt_of

UNDER_WAY = "state IN ('sending', 'sent')"
"""A prompt on its way into a running turn."""

WAITING = "FROM queue WHERE session = ? AND state = 'queued'"
"""The prompts of a session that wait."""
ORDER = "ORDER BY at_once DESC, place, id"
"""The order in which the prompts of a session are sent."""

MOST_ATTEMPTS = 3
"""The number of times that one prompt is put back after a crash before it reached the agent."""

_ENDINGS = {
    Status.DONE: "was stopped",
    Status.FAILED: "failed",
    Status.STOPPED: "was stopped",
    Status.LOST: "was lost",
}


def next_row(db: sqlite3.Connection, session_id: str) -> sqlite3.Row | None:
    """Return the first prompt that waits, and its plan's ``on_failure``; None if none waits."""
    row: sqlite3.Row | None = db.execute(
        f"SELECT *, json_extract(plan, '$.on_failure') AS on_failure {WAITING} {ORDER} LIMIT 1", (session_id,)
    ).fetchone()
    return row


def insert_prompt(db: sqlite3.Connection, request: Request) -> sqlite3.Cursor:
    """Insert a prompt that waits, unless its key is known, inside the caller's transaction."""
    now, place = now_ms(), place_at_edge(db, request.session, first=request.first or request.at_once)
    return db.execute(
        "INSERT INTO queue (session, key, place, text, plan, state, at_once, asked_by, created_at, changed_at, steers)"
        " VALUES (?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?) ON CONFLICT (session, key) DO NOTHING",
        (
            request.session, request.key, place, request.text, dump(request.plan), request.at_once,
            request.asked_by, now, now, request.steers,
        ),
    )  # fmt: skip


def put_back(db: sqlite3.Connection, session_id: str, turn: int, *, always: bool = False) -> bool:
    """Queue the prompt of a turn again, before all others; False if it was tried too often.

    ``always``: it was not a crash that kept it from the agent, so that it may be tried any number of times.
    """
    row = db.execute(
        "SELECT * FROM queue WHERE session = ? AND turn = ? AND state = 'taken'", (session_id, turn)
    ).fetchone()
    row = row or _first_prompt(db, session_id, turn)
    if row is None:
        return False
    original, attempt = attempt_of(row["key"])
    if attempt >= MOST_ATTEMPTS and not always:
        return False
    now = now_ms()
    db.execute(
        "INSERT OR IGNORE INTO queue (session, key, place, text, plan, state, at_once, asked_by, created_at,"
        " changed_at) VALUES (?, ?, ?, ?, ?, 'queued', 0, ?, ?, ?)",
        (
            session_id, f"{original}{AGAIN}{attempt + 1}", place_at_edge(db, session_id, first=True), row["text"],
            row["plan"], row["asked_by"], row["created_at"], now,
        ),
    )  # fmt: skip
    return True


def first_key(turn: int) -> str:
    """Return the key of a turn's prompt that was never queued: that of a session's first turn."""
    return f"turn {turn}"


def _first_prompt(db: sqlite3.Connection, session_id: str, turn: int) -> dict[str, Any] | None:
    """Return the prompt of a turn that was never queued as a row of the queue has it; None if the turn has none."""
    row = db.execute(
        "SELECT text, prompts.created_at, launch, asked_by FROM prompts JOIN turns ON turns.session = prompts.session"
        " AND n = turn WHERE prompts.session = ? AND turn = ?",
        (session_id, turn),
    ).fetchone()
    if row is None:
        return None
    return {**dict(row), "key": first_key(turn), "plan": dump(plan_like(launch_from(row)))}


def hold_after(db: sqlite3.Connection, session_id: str, turn: int, status: Status, *, by_user: bool) -> None:
    """Hold the prompts that wait after a turn that did not end well, unless the first of them is to be sent anyway.

    After a stop by the user they are always held.
    """
    if status is Status.DONE and not by_user:
        return
    row = next_row(db, session_id)
    if row is not None and (by_user or row["on_failure"] != "send"):
        hold(db, session_id, f"turn {turn} {_ENDINGS[status]}")


def hold(db: sqlite3.Connection, session_id: str, reason: str) -> None:
    """Hold the queue of a session; an earlier reason stays."""
    db.execute("UPDATE sessions SET held = ? WHERE id = ? AND held IS NULL", (reason, session_id))


def let_go_if_empty(db: sqlite3.Connection, session_id: str) -> None:
    """End a hold that holds nothing, unless the user asked for it: a later prompt would wait for no reason."""
    db.execute(
        "UPDATE sessions SET held = NULL WHERE id = ? AND queued = 0 AND held IS NOT NULL AND held <> ?",
        (session_id, HELD_BY_USER),
    )


def place_at_edge(db: sqlite3.Connection, session_id: str, *, first: bool) -> float:
    """Return a place before or behind all prompts that wait."""
    edge = "MIN(place) - 1" if first else "MAX(place) + 1"
    row = db.execute(
        f"SELECT {edge} AS place FROM queue WHERE session = ? AND state = 'queued'",  # noqa: S608
        (session_id,),
    ).fetchone()
    return float(row["place"]) if row["place"] is not None else 0.0
