"""The workers of a lead in the store: who they are, which of their ends the lead has read, who spoke to them."""

from collections.abc import Iterable, Sequence

from ..model import ENDED, Session
from .database import Database
from .rows import SELECT_SESSION, session_from

LEAD_KEY = "lead:"
"""The beginning of the key of a prompt that a lead sends by a tool; all others without an author are a person's."""

_ENDED = ", ".join(f"'{status}'" for status in sorted(ENDED))

_FAMILY = (
    "WITH RECURSIVE family (id) AS (SELECT id FROM sessions WHERE parent = ?"
    " UNION SELECT id FROM sessions WHERE lead = ?"
    " UNION SELECT sessions.id FROM sessions JOIN family ON sessions.parent = family.id)"
)


class Workers:
    """The workers of leads in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def below(self, session: str | None, lead: str | None) -> list[Session]:
        """Return the sessions that a session or an outside lead started, and all below them, the oldest first."""
        rows = self._database.rows(
            f"{_FAMILY} {SELECT_SESSION} WHERE sessions.id IN family AND sessions.id IS NOT ?"
            " ORDER BY created_at, sessions.rowid",
            (session, lead, session),
        )
        return [session_from(row) for row in rows]

    def report(self, ends: Iterable[Session]) -> set[str]:
        """Record that the lead reads the ends of these turns; return the ids of those that it had not read before.

        Of several servers that report the same end at once, exactly one has it in its answer.
        """
        first = set()
        with self._database.transaction() as db:
            for end in ends:
                changed = db.execute(
                    "UPDATE sessions SET reported_turn = ? WHERE id = ? AND turn = ? AND reported_turn < ?"  # noqa: S608
                    f" AND status IN ({_ENDED})",
                    (end.turn, end.id, end.turn, end.turn),
                ).rowcount
                if changed:
                    first.add(end.id)
        return first

    def spoken_to(self, session: str | None, lead: str | None) -> Sequence[str]:
        """Return the workers to which a person spoke, until their lead has read the end of the turn that follows."""
        rows = self._database.rows(
            f"{_FAMILY} SELECT DISTINCT queue.session FROM queue JOIN sessions ON sessions.id = queue.session"  # noqa: S608
            " WHERE queue.session IN family AND queue.asked_by IS NULL AND queue.key NOT GLOB ?"
            " AND queue.state <> 'cancelled' AND coalesce(queue.turn, sessions.turn + 1) > sessions.reported_turn",
            (session, lead, f"{LEAD_KEY}*"),
        )
        return [row["session"] for row in rows]
