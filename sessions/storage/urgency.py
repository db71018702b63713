"""The order of urgency as a column: as :mod:`..rules.attention` says, written in the transaction that changes a row.

A row's urgency is valid only for the position in the change feed (``seq``) for which it was computed, so the rows that
a transaction changed are found by an index.  Archived sessions are not on the first screen and have no urgency.
"""

import sqlite3
from contextlib import suppress

from msgspec import MsgspecError, structs

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.attention import needs_answer, rank, urgency
from agentdash.sessions.storage.rows import SELECT_SESSION, session_from

OUTDATED = "archived_at IS NULL AND urgency_seq IS NOT sessions.seq"
"""Sessions in use whose urgency was not computed from their present facts, as SQL."""

CURRENT = "archived_at IS NULL AND urgency_seq IS sessions.seq"
"""Sessions in use whose urgency is up to date, as SQL."""

FIRST = f"{SELECT_SESSION} WHERE {CURRENT} ORDER BY pinned_at IS NULL, rank, created_at DESC, sessions.id LIMIT ?"
"""The order of :func:`..rules.attention.by_urgency`, read from an index."""

IN_ORDER = f"SELECT COUNT(*) AS n FROM sessions WHERE {CURRENT}"  # noqa: S608
"""The number of sessions in use, as SQL."""

_WRITE = (
    "UPDATE sessions SET urgency = ?, rank = ?, escalates_at = ?, escalated = ?,"
    " urgency_seq = (SELECT seq + 1 FROM counter) WHERE id = ?"
)
"""The trigger of the change feed gives the row this next number as its ``seq``."""

_ESCALATE_MS = "SELECT COALESCE((SELECT value FROM settings WHERE name = 'escalate_ms'), 120000)"
"""The setting ``orchestration.escalate_seconds``, and its default before a front end stored it."""

_FOR_USER = "SELECT 1 FROM asks WHERE session = ? AND state = 'open' AND json_extract(ask, '$.for_user') <> '' LIMIT 1"


def write_urgency(connection: sqlite3.Connection) -> None:
    """Compute and write the urgency of the sessions in use whose facts changed; part of the caller's transaction."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    for row in cursor.execute(f"{SELECT_SESSION} WHERE {OUTDATED}").fetchall():
        # An unreadable row must not prevent the others from being written.
        with suppress(MsgspecError):
            session = session_from(row)
            due = _escalates_at(connection, session, row["escalates_at"])
            at_once = row["escalates_at"] is None and due is not None and due <= now_ms()
            escalated = due is not None and (session.escalated or at_once)
            session = structs.replace(session, escalated=escalated)
            connection.execute(_WRITE, (urgency(session), rank(session), due, escalated, row["id"]))


def _escalates_at(connection: sqlite3.Connection, session: Session, before: int | None) -> int | None:
    """Return when what a worker needs of its lead counts for the user, UTC ms; None if it needs nothing of a lead.

    While it needs something, the time stays.  What only the user can allow is the user's at once.
    """
    if session.led is None or not needs_answer(session):
        return None
    if session.asking and connection.execute(_FOR_USER, (session.id,)).fetchone() is not None:
        return min(before or now_ms(), now_ms())
    return before if before is not None else now_ms() + int(connection.execute(_ESCALATE_MS).fetchone()[0])
