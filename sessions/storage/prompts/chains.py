"""The sessions that wait for the end of another one, and the one place where such a session becomes an ordinary turn.

Its first turn is recorded with the session.  Its prompt becomes a row of ``prompts`` only when it starts: a queued turn
without one gets no place.  Each change is a compare-and-set on ``after``, so that of several processes that start,
cancel or change a session, exactly one succeeds.
"""

import sqlite3

from msgspec import Struct

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import SessionBusyError, UnknownSessionError, UsageError
from agentdash.sessions.model.session import short_id
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.prompts.chain import Predecessor, Standing, unanswered_prompt
from agentdash.sessions.storage.database import DatabasePart
from agentdash.sessions.storage.families.admission import admit_chained
from agentdash.sessions.storage.prompts.new_turn import insert_turn_prompt
from agentdash.sessions.storage.rows import dump, launch_from, status_from, struct_from

_WAITS = "waiting.after IS NOT NULL AND waiting.status = 'queued'"
_SELECT = (
    "SELECT waiting.id, waiting.agent, waiting.cwd, waiting.task, waiting.turn, waiting.reason, waiting.blocked,"  # noqa: S608
    " waiting.after, other.title, other.task AS other_task, other.agent AS other_agent, other.status AS other_status,"
    " other.turn AS other_turn, other.queued, other.held, (other.taken_by IS NOT NULL OR EXISTS (SELECT 1 FROM queue"
    " WHERE queue.session = other.id AND queue.state IN ('sending', 'sent'))) AS under_way"
    f" FROM sessions AS waiting LEFT JOIN sessions AS other ON other.id = waiting.after WHERE {_WAITS}"
)


class Waiting(Struct, frozen=True, kw_only=True):
    """A session that waits for the end of another one."""

    id: str
    agent: str
    cwd: str
    task: str
    """Its prompt, without the answer."""
    turn: int
    reason: str | None
    blocked: bool
    before: Predecessor


class Chains(DatabasePart):
    """The sessions of a database that wait for others."""

    def exist(self) -> bool:
        """Return whether a session waits for another one; cheap, because every process that frees a place asks."""
        return bool(self._database.rows("SELECT 1 FROM sessions WHERE after IS NOT NULL LIMIT 1"))

    def waiting(self) -> list[Waiting]:
        """Return the sessions that wait, the oldest first."""
        return [_waiting(row) for row in self._database.rows(f"{_SELECT} ORDER BY waiting.created_at, waiting.rowid")]

    def one(self, session_id: str) -> Waiting | None:
        """Return a session that waits; None if it waits for none, or was deleted."""
        rows = self._database.rows(f"{_SELECT} AND waiting.id = ?", (session_id,))
        return _waiting(rows[0]) if rows else None

    def start(self, waiting: Waiting, text: str, launch: Launch, recorded: Launch) -> bool:
        """Make a session that waits an ordinary queued one; False if it or the other one changed since it was read.

        Args:
            text: its prompt with the answer.
            launch: the exact start of its first turn.
            recorded: the start that was recorded when ``launch`` was made from it: the settings can change until then.

        Raises:
            RefusalError: its lead may not start it now.
        """
        now = now_ms()
        with self._database.transaction() as db:
            row = db.execute(f"{_SELECT} AND waiting.id = ?", (waiting.id,)).fetchone()
            if row is None or _waiting(row).before.state != waiting.before.state:
                return False
            place = (waiting.id, waiting.turn)
            turn = db.execute("SELECT launch FROM turns WHERE session = ? AND n = ?", place).fetchone()
            if turn is None or dump(launch_from(turn)) != dump(recorded):
                return False
            admit_chained(db, waiting.id, recorded.family)
            db.execute(
                "UPDATE sessions SET after = NULL, blocked = 0, followed = ?, reason = NULL, model = ?, updated_at = ?"
                " WHERE id = ?",
                (waiting.before.id, launch.model, now, waiting.id),
            )
            db.execute("UPDATE turns SET launch = ? WHERE session = ? AND n = ?", (dump(launch), *place))
            insert_turn_prompt(db, waiting.id, waiting.turn, text, now)
        return True

    def note(self, waiting: Waiting, standing: Standing) -> None:
        """Record why a session waits, unless that is recorded or it waits for another one since it was read."""
        if (waiting.reason, waiting.blocked) == (standing.reason, standing.blocked):
            return
        self._database.run(
            "UPDATE sessions SET reason = ?, blocked = ?, updated_at = ?"
            " WHERE id = ? AND after = ? AND status = 'queued'",
            (standing.reason, standing.blocked, now_ms(), waiting.id, waiting.before.id),
        )

    def wait_for(self, session_id: str, other_id: str) -> None:
        """Make a session that waits wait for another one instead.

        Raises:
            SessionBusyError: it does not wait.
            UnknownSessionError: the other session was deleted.
            UsageError: the other one is the session itself, or waits for it.
        """
        short, other = short_id(session_id), short_id(other_id)
        with self._database.transaction() as db:
            if db.execute("SELECT 1 FROM sessions WHERE id = ?", (other_id,)).fetchone() is None:
                raise UnknownSessionError(f"Session {other} was deleted.")
            circle = db.execute(
                "WITH RECURSIVE line (id) AS (SELECT ? UNION SELECT sessions.after FROM sessions"
                " JOIN line ON sessions.id = line.id WHERE sessions.after IS NOT NULL)"
                " SELECT 1 FROM line WHERE id = ?",
                (other_id, session_id),
            ).fetchone()
            if circle is not None:
                what = "itself" if session_id == other_id else f"{other}, which waits for it"
                raise UsageError(f"Session {short} cannot wait for {what}.")
            changed = db.execute(
                "UPDATE sessions SET after = ?, blocked = 0, reason = NULL, updated_at = ?"
                " WHERE id = ? AND after IS NOT NULL AND status = 'queued'",
                (other_id, now_ms(), session_id),
            ).rowcount
            if not changed:
                raise SessionBusyError(f"Session {short} does not wait for another one.")


def give_up(db: sqlite3.Connection, session_id: str) -> None:
    """Record a session that waited and was cancelled as one that waits for none, inside the caller's transaction.

    Its prompt is recorded without an answer, so that a retry can send it.
    """
    row = db.execute(f"{_SELECT} AND waiting.id = ?", (session_id,)).fetchone()
    if row is None:
        return
    waiting = _waiting(row)
    insert_turn_prompt(db, waiting.id, waiting.turn, unanswered_prompt(waiting.task), now_ms())
    db.execute("UPDATE sessions SET after = NULL, blocked = 0 WHERE id = ?", (session_id,))


def _waiting(row: sqlite3.Row) -> Waiting:
    before = Predecessor(id=row["after"])
    if row["other_status"] is not None:
        before = Predecessor(
            id=row["after"],
            title=row["title"] or row["other_task"],
            agent=row["other_agent"],
            status=status_from(row["other_status"]),
            turn=row["other_turn"],
            queued=row["queued"],
            held=row["held"] is not None,
            under_way=bool(row["under_way"]),
        )
    return struct_from(Waiting, row, before=before, blocked=bool(row["blocked"]))
