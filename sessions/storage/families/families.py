"""The reads and writes of families: who is below whom, what a lead has read, and to which workers the user spoke."""

import json
import sqlite3
from collections.abc import Iterable, Mapping

from msgspec import structs

from agentdash.sessions.model.session import Session
from agentdash.sessions.model.taken_by import HAND
from agentdash.sessions.storage.database import DatabasePart
from agentdash.sessions.storage.rows import ENDED_ONES, LIVE_ONES, SELECT_SESSION, session_from

_ABOVE = (
    "WITH RECURSIVE above (id) AS (SELECT coalesce(parent, lead) FROM sessions WHERE id = ?"
    " UNION SELECT coalesce(sessions.parent, sessions.lead) FROM sessions JOIN above ON sessions.id = above.id)"
    " SELECT 1 FROM above WHERE id = ?"
)
_LINKED = (
    "WITH RECURSIVE family (id) AS (SELECT id FROM sessions WHERE parent = ? AND lifecycle <> 'detached'"  # noqa: S608
    " UNION SELECT sessions.id FROM sessions JOIN family ON sessions.parent = family.id"
    f" WHERE lifecycle <> 'detached') {SELECT_SESSION} WHERE sessions.id IN family AND sessions.id <> ?"
    " ORDER BY sessions.depth DESC, created_at"
)


_RAN = (
    "SELECT 1 FROM turns WHERE session = ? AND boot_id = ? AND pid_ns = ?"
    " AND ((runner_pid = ? AND runner_start = ?) OR (agent_pid = ? AND agent_start = ?)) LIMIT 1"
)
_WITH_PROCESSES = (
    f"SELECT id FROM sessions WHERE status IN ({LIVE_ONES}) UNION SELECT id FROM sessions WHERE left > 0"  # noqa: S608
    " UNION SELECT id FROM sessions WHERE warm_since IS NOT NULL"
)
_IN_OTHER_NAMESPACES = (
    "SELECT turns.session FROM turns JOIN sessions ON sessions.id = turns.session AND sessions.turn = turns.n"  # noqa: S608
    f" WHERE turns.boot_id = ? AND turns.pid_ns <> ? AND sessions.id IN ({_WITH_PROCESSES})"
)


LEAD_KEY = "lead:"
"""The beginning of the key of a prompt that a lead sends by a tool; all others without an author are the user's."""


_READ = "max(sessions.reported_turn, coalesce((SELECT value FROM json_each(?4) WHERE key = sessions.id), 0))"

FAMILY = (
    "WITH RECURSIVE family (id) AS (SELECT id FROM sessions WHERE parent = ?"
    " UNION SELECT id FROM sessions WHERE lead = ?"
    " UNION SELECT sessions.id FROM sessions JOIN family ON sessions.parent = family.id)"
)
"""All sessions below a session or an outside lead, as the beginning of a query: the parameters are both ids."""


class Families(DatabasePart):
    """The families in a database."""

    def is_below(self, session_id: str, lead: str) -> bool:
        """Return whether a session descends from another one, or from an outside lead."""
        return bool(self._database.rows(_ABOVE, (session_id, lead)))

    def has_run(self, session_id: str, key: tuple[int, int], boot_id: str, pid_ns: str) -> bool:
        """Return whether a process, by pid and start time, is the runner or the agent of a turn of a session."""
        return bool(self._database.rows(_RAN, (session_id, boot_id, pid_ns, *key, *key)))

    def with_processes(self) -> list[str]:
        """Return the ids of the sessions that have processes: they are at work, their agents wait, or some are left."""
        return [row["id"] for row in self._database.rows(_WITH_PROCESSES)]

    def in_other_namespaces(self, boot_id: str, pid_ns: str) -> list[str]:
        """Return the ids of the sessions that have processes in this boot, but in another pid namespace."""
        return [row["session"] for row in self._database.rows(_IN_OTHER_NAMESPACES, (boot_id, pid_ns))]

    def linked(self, session_id: str) -> list[Session]:
        """Return the sessions that a stop of this one ends too, the deepest first."""
        return [session_from(row) for row in self._database.rows(_LINKED, (session_id, session_id))]

    def keyed(self, parent: str | None, lead: str | None, key: str) -> str | None:
        """Return the id of the session that a lead asked for by this name; without a lead, the user."""
        return self._database.value(
            "SELECT id FROM sessions WHERE coalesce(parent, lead, '') = ? AND key = ?", (parent or lead or "", key)
        )

    def of_conversation(self, agent: str, conversation: str) -> list[str]:
        """Return the ids of the sessions whose agent reported this conversation, the newest first."""
        rows = self._database.rows(
            "SELECT id FROM sessions WHERE agent = ? AND agent_session = ? ORDER BY created_at DESC",
            (agent, conversation),
        )
        return [row["id"] for row in rows]

    def leading(self) -> set[str]:
        """Return the ids of the sessions with a linked worker that has not ended."""
        rows = self._database.rows(
            "SELECT DISTINCT parent FROM sessions WHERE lifecycle <> 'detached' AND parent IS NOT NULL"  # noqa: S608
            f" AND status NOT IN ({ENDED_ONES})"
        )
        return {row["parent"] for row in rows}

    def reported(self) -> list[str]:
        """Return the ephemeral sessions that can be archived: done, and their lead has read the newest end.

        One that leads linked workers at work, or that the ends of its workers are about to wake, cannot.
        """
        rows = self._database.rows(
            "SELECT id FROM sessions WHERE lifecycle <> 'detached' AND lifecycle = 'ephemeral' AND status = 'done'"  # noqa: S608
            " AND reported_turn >= turn AND archived_at IS NULL AND queued = 0 AND taken_by IS NULL AND left = 0"
            " AND NOT EXISTS (SELECT 1 FROM wakes WHERE lead = sessions.id)"
            " AND NOT EXISTS (SELECT 1 FROM sessions AS below WHERE below.parent = sessions.id"
            f" AND below.lifecycle <> 'detached' AND below.status NOT IN ({ENDED_ONES}))"
        )
        return [row["id"] for row in rows]

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


def above_of(db: sqlite3.Connection, session_id: str) -> tuple[str | None, str | None]:
    """Return the session above one, if it exists, and else the outside lead that requested it."""
    row = db.execute(
        "SELECT above.id, CASE WHEN sessions.parent IS NULL THEN sessions.lead END AS lead"
        " FROM sessions LEFT JOIN sessions AS above ON above.id = sessions.parent WHERE sessions.id = ?",
        (session_id,),
    ).fetchone()
    return (row["id"], row["lead"]) if row is not None else (None, None)


def hand_up(db: sqlite3.Connection, session_id: str, parent: str | None, lead: str | None) -> None:
    """Give the children of a deleted session to the session or the outside lead above it, if there is one.

    A child whose key is in use there loses it.  :func:`take_back` undoes it when the session is restored.
    """
    if parent is None and lead is None:
        return
    db.execute(
        "UPDATE sessions SET key = NULL WHERE parent = ?"
        " AND key IN (SELECT key FROM sessions WHERE coalesce(parent, lead, '') = ?)",
        (session_id, parent or lead),
    )
    db.execute(
        "UPDATE sessions SET parent = ?, lead = ?, born_to = coalesce(born_to, parent) WHERE parent = ?",
        (parent, lead, session_id),
    )


def take_back(db: sqlite3.Connection, session_id: str) -> None:
    """Give a restored session the children that it had when it was deleted."""
    db.execute(
        "UPDATE OR IGNORE sessions SET parent = born_to, lead = NULL, born_to = NULL WHERE born_to = ?", (session_id,)
    )


def without_used_key(db: sqlite3.Connection, session: Session) -> Session:
    """Return a session that is being restored, without its key if the lead has asked for the task again since."""
    used = db.execute(
        "SELECT 1 FROM sessions WHERE coalesce(parent, lead, '') = ? AND key = ?",
        (session.parent or session.lead or "", session.key),
    ).fetchone()
    return structs.replace(session, key=None) if used is not None else session
