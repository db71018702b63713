"""The marks of conversations: appended, and never changed.

Each method is one transaction."""

import sqlite3
from typing import Any

from msgspec import structs

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import SessionBusyError, UnknownSessionError
from agentdash.sessions.model.session import ENDED, Status, short_id
from agentdash.sessions.rules.conversation.continuation import Recorded
from agentdash.sessions.rules.conversation.marks import Mark, RelatedMark
from agentdash.sessions.storage.database import DatabasePart
from agentdash.sessions.storage.rows import Query, dump, load, struct_from


class Marks(DatabasePart):
    """The marks of all sessions in a database."""

    def of_session(self, session_id: str) -> list[Mark]:
        """Return the marks of a session, oldest first."""
        return [_mark(row) for row in self._database.rows(_OF_SESSION, (session_id,))]

    def around(self, session_id: str) -> list[RelatedMark]:
        """Return the marks of a session, and those with which forks of it begin, oldest first."""
        return [RelatedMark(_mark(row), row["other"] or "") for row in self._database.rows(_AROUND, (session_id,) * 2)]

    def add(self, mark: Mark, *, newest: int = 0, last_message: str | None = None) -> Mark:
        """Record a mark if the session is still as the caller read it: of two front ends at once, one is refused.

        Args:
            newest: the id of the newest mark that the caller read; 0 if there was none.
            last_message: the last message that is visible behind the mark.

        Raises:
            UnknownSessionError: the session was deleted.
            SessionBusyError: a turn began or runs, another mark was made, or the user works in the agent's own
                interface.
        """
        own, short = mark.session, short_id(mark.session)
        with self._database.transaction() as db:
            row = db.execute("SELECT turn, status, taken_by FROM sessions WHERE id = ?", (own,)).fetchone()
            if row is None:
                raise UnknownSessionError(f"Session {short} was deleted.")
            if row["taken_by"] is not None:
                raise SessionBusyError(f"Session {short} is open in the agent's own interface.")
            last = db.execute("SELECT max(id) FROM marks WHERE session = ?", (own,)).fetchone()[0] or 0
            if row["turn"] != mark.after or Status(row["status"]) not in ENDED or last != newest:
                raise SessionBusyError(f"Session {short} changed meanwhile. Nothing was done.")
            db.execute("UPDATE sessions SET last_message = ?, asks = NULL WHERE id = ?", (last_message, own))
            return add_mark(db, mark)


def add_mark(db: sqlite3.Connection, mark: Mark) -> Mark:
    """Record a mark in a transaction of the caller, and have the front ends read the session, and its origin, again.

    With the id 0 it gets the next one, and with the time 0 the present one.
    """
    added = db.execute(
        "INSERT INTO marks (id, session, kind, after, turn, step, undoes, origin, data, asked_by, at)"
        " VALUES (nullif(:id, 0), :session, :kind, :after, :turn, :step, :undoes, :origin, :data, :asked_by, :at)"
        " RETURNING *",
        structs.asdict(mark) | {"data": dump(mark.data), "at": mark.at or now_ms()},
    ).fetchone()
    db.execute("UPDATE sessions SET seq = seq WHERE id IN (?, ?)", (mark.session, mark.origin))
    return _mark(added)


def recorded(rows: Query, session_id: str) -> Recorded:
    """Return the records of a conversation.

    Raises:
        UnknownSessionError: the session was deleted.
    """
    sessions = rows("SELECT agent_session FROM sessions WHERE id = ?", (session_id,))
    if not sessions:
        raise UnknownSessionError(f"Session {short_id(session_id)} was deleted.")
    conversation = sessions[0]["agent_session"]
    marks = tuple(map(_mark, rows(_OF_SESSION, (session_id,))))
    if not marks:
        return Recorded(conversation)
    turns = rows("SELECT n, agent_session, started_at, steps FROM turns WHERE session = ? ORDER BY n", (session_id,))
    unstarted = frozenset(
        row["n"] for row in turns if row["started_at"] is None or (row["agent_session"] is None and not row["steps"])
    )
    return Recorded(conversation, marks, {row["n"]: row["agent_session"] for row in turns}, unstarted)


_OF_SESSION = "SELECT * FROM marks WHERE session = ? ORDER BY id"

# Each part has an index: a session without marks costs two look-ups.
_AROUND = """
SELECT * FROM (
    SELECT marks.*, coalesce(nullif(sessions.title, ''), sessions.task) AS other
    FROM marks LEFT JOIN sessions ON sessions.id = marks.origin WHERE marks.session = ?
    UNION ALL
    SELECT marks.*, coalesce(nullif(sessions.title, ''), sessions.task)
    FROM marks JOIN sessions ON sessions.id = marks.session WHERE marks.origin = ? AND marks.kind = 'fork'
) ORDER BY id
"""


def _mark(row: sqlite3.Row) -> Mark:
    return struct_from(Mark, row, data=load(row["data"], dict[str, Any]) or {})
