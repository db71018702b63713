"""The rows of plan windows: the newest report of each, written only if it changed."""

from collections.abc import Iterable

from msgspec import structs

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.plan_windows import PlanWindow
from agentdash.sessions.storage.database import DatabasePart

MOST_KEPT = 40
"""Rows that are kept: an agent that makes up names of windows must not fill the table."""


class PlanWindows(DatabasePart):
    """The windows of all agents in a database."""

    def note(self, windows: Iterable[PlanWindow]) -> bool:
        """Record what an agent reports; return whether a window changed by a whole percent, in its state or its end."""
        known = {(one.agent, one.account, one.window): one for one in self.all()}
        now = now_ms()
        changed = [
            structs.replace(one, seen_at=now)
            for one in windows
            if (before := known.get((one.agent, one.account, one.window))) is None or not before.same_as(one)
        ]
        if not changed:
            return False
        with self._database.transaction() as db:
            db.executemany(
                "INSERT OR REPLACE INTO plan_windows (agent, account, window, used_percent, resets_at, seen_at, status)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                map(structs.astuple, changed),
            )
            db.execute(
                "DELETE FROM plan_windows WHERE (agent, account, window) NOT IN"
                " (SELECT agent, account, window FROM plan_windows ORDER BY seen_at DESC LIMIT ?)",
                (MOST_KEPT,),
            )
        return True

    def all(self) -> list[PlanWindow]:
        """Return the newest report of each window, also of those that have ended."""
        rows = self._database.rows("SELECT * FROM plan_windows ORDER BY agent, account, window LIMIT ?", (MOST_KEPT,))
        # Another version's unknown state counts as a warning.
        known = {"ok": "ok", "limited": "limited"}
        return [PlanWindow(**dict(row) | {"status": known.get(row["status"], "warning")}) for row in rows]
