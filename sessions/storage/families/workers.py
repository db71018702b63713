"""The workers of a lead in the store: the ends that the lead has read, and those to whom the user spoke."""

import json
from collections.abc import Iterable, Mapping

from agentdash.sessions.model.session import Session
from agentdash.sessions.model.taken_by import HAND
from agentdash.sessions.storage.database import Database
from agentdash.sessions.storage.rows import ENDED_ONES

LEAD_KEY = "lead:"
"""The beginning of the key of a prompt that a lead sends by a tool; all others without an author are the user's."""


_READ = "max(sessions.reported_turn, coalesce((SELECT value FROM json_each(?4) WHERE key = sessions.id), 0))"

FAMILY = (
    "WITH RECURSIVE family (id) AS (SELECT id FROM sessions WHERE parent = ?"
    " UNION SELECT id FROM sessions WHERE lead = ?"
    " UNION SELECT sessions.id FROM sessions JOIN family ON sessions.parent = family.id)"
)
"""All sessions below a session or an outside lead, as the beginning of a query: the parameters are both ids."""


class Workers:
    """The workers of leads in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def report(self, ends: Iterable[Session]) -> set[str]:
        """Record that the lead has read the ends of these turns; return the ids of those that it had not read before.

        A prompt that waits to wake the lead, and that reports no other ends, is cancelled.
        """
        first = set()
        with self._database.transaction() as db:
            for end in ends:
                changed = db.execute(
                    "UPDATE sessions SET reported_turn = ? WHERE id = ? AND turn = ? AND reported_turn < ?"  # noqa: S608
                    f" AND status IN ({ENDED_ONES})",
                    (end.turn, end.id, end.turn, end.turn),
                ).rowcount
                if changed:
                    first.add(end.id)
        return first

    def is_unread(self, end: Session) -> bool:
        """Return whether a turn is still a session's newest, has ended, and its lead has not read its end."""
        sql = f"SELECT 1 FROM sessions WHERE id = ? AND turn = ? AND reported_turn < turn AND status IN ({ENDED_ONES})"  # noqa: S608
        return bool(self._database.rows(sql, (end.id, end.turn)))

    def spoken_to(self, session: str | None, lead: str | None, read: Mapping[str, int] | None = None) -> list[str]:
        """Return the workers to which the user spoke, until their lead has read the end of the turn that follows.

        The user sent a prompt, or opened the agent's own interface and used it.

        Args:
            read: turns by worker whose ends the lead is about to read.
        """
        rows = self._database.rows(
            f"{FAMILY} SELECT sessions.id, sessions.created_at FROM queue JOIN sessions ON sessions.id = queue.session"  # noqa: S608
            " WHERE queue.session IN family AND queue.asked_by IS NULL AND queue.key NOT GLOB ?3"
            f" AND queue.state <> 'cancelled' AND coalesce(queue.turn, sessions.turn + 1) > {_READ}"
            " UNION SELECT sessions.id, sessions.created_at FROM turns JOIN sessions ON sessions.id = turns.session"
            f" WHERE turns.session IN family AND turns.asked_by = '{HAND}' AND turns.n > {_READ}"
            " ORDER BY 2, 1",
            (session, lead, f"{LEAD_KEY}*", json.dumps(dict(read or {}))),
        )
        return [row["id"] for row in rows]
