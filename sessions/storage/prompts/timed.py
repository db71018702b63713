"""The prompts that wait for a time: ``due_at`` of the queue, and of the first prompt of a session.

A prompt whose time has come is an ordinary one from then on: its ``due_at`` is removed, by one of the processes that
notice it.  Nothing else compares these times with a clock.
"""

from collections.abc import Callable

from msgspec import Struct

from agentdash.sessions.storage.database import DatabasePart

_UNSENT = (
    "SELECT queue.session, queue.due_at FROM queue JOIN sessions ON sessions.id = queue.session"
    " WHERE queue.state = 'queued' AND queue.due_at IS NOT NULL AND sessions.host = ?1"
    " UNION ALL SELECT prompts.session, prompts.due_at FROM prompts JOIN sessions ON sessions.id = prompts.session"
    " WHERE prompts.state = 'queued' AND prompts.due_at IS NOT NULL AND sessions.host = ?1"
)

_WAITED_FOR = "timed_due"
"""The setting with the time until which the newest process of those that wait does so."""


class Ripe(Struct, frozen=True):
    """A prompt whose time has come."""

    session: str
    label: str
    """The title of its session, or its task; not cleaned."""
    due_at: int
    found_at: int
    """When a process noticed it, UTC ms."""


class Timed(DatabasePart):
    """The prompts of a database that wait for a time."""

    def exist(self) -> bool:
        """Return whether a prompt waits for a time; cheap, because every process that serves the queue asks."""
        return bool(self._database.rows("SELECT 1 FROM sessions WHERE due_at IS NOT NULL LIMIT 1"))

    def next_at(self, host: str) -> int | None:
        """Return the time (UTC ms) of the next prompt of a host; None if none waits for a time."""
        return self._database.value(f"SELECT MIN(due_at) FROM ({_UNSENT})", (host,))  # noqa: S608

    def ripen(self, host: str, now: int) -> list[Ripe]:
        """Make ordinary prompts of those whose time has come, and return them; each has one caller that gets it."""
        due = "state = 'queued' AND due_at <= ?2 AND session IN (SELECT id FROM sessions WHERE host = ?1)"
        if not self._database.rows(f"SELECT 1 FROM ({_UNSENT}) WHERE due_at <= ?2 LIMIT 1", (host, now)):  # noqa: S608
            return []
        label = "(SELECT COALESCE(NULLIF(title, ''), task) FROM sessions WHERE id = session)"
        found = []
        with self._database.transaction() as db:
            for table in ("queue", "prompts"):
                rows = db.execute(
                    f"SELECT id, session, due_at, {label} AS label FROM {table} WHERE {due} ORDER BY due_at, id",  # noqa: S608
                    (host, now),
                ).fetchall()
                for row in rows:
                    db.execute(f"UPDATE {table} SET due_at = NULL WHERE id = ?", (row["id"],))  # noqa: S608
                    found.append(Ripe(row["session"], row["label"], row["due_at"], now))
                    if table == "prompts":
                        db.execute("UPDATE sessions SET reason = NULL WHERE id = ?", (row["session"],))
        return found

    def begin_wait(self, host: str, now: int, someone_waits: Callable[[], bool]) -> tuple[str, int] | None:
        """Return a session and the time for which the caller has a process wait; None if one waits for that time.

        ``someone_waits``: returns whether any such process of this host lives.
        """
        with self._database.transaction() as db:
            row = db.execute(f"{_UNSENT} ORDER BY 2, 1 LIMIT 1", (host,)).fetchone()
            if row is None:
                return None
            name = f"{_WAITED_FOR} {host}"
            known = db.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
            if known is not None and now < known["value"] <= row["due_at"] and someone_waits():
                return None
            db.execute("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", (name, row["due_at"]))
        return row["session"], row["due_at"]

    def start_now(self, session_id: str) -> bool:
        """Let the first turn of a session that waits for a time begin now; False if it waits for none."""
        with self._database.transaction() as db:
            changed = db.execute(
                "UPDATE prompts SET due_at = NULL WHERE session = ? AND state = 'queued' AND due_at IS NOT NULL",
                (session_id,),
            ).rowcount
            if changed:
                db.execute("UPDATE sessions SET reason = NULL WHERE id = ?", (session_id,))
        return bool(changed)
