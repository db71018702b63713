"""The rows of plan windows: the newest report of each, written only if it changed."""

from collections.abc import Iterable

from msgspec import structs

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.plan_windows import PlanWindow, State
from agentdash.sessions.storage.database import Database

MOST_KEPT = 40
"""Rows that are kept: an agent that makes up names of windows must not fill the table."""


class PlanWindows:
    """The windows of all agents in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

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
                [
                    (one.agent, one.account, one.window, one.used_percent, one.resets_at, one.seen_at, one.status)
                    for one in changed
                ],
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
        return [
            PlanWindow(
                agent=row["agent"],
                account=row["account"],
                window=row["window"],
                used_percent=row["used_percent"],
                resets_at=row["resets_at"],
                seen_at=row["seen_at"],
                status=_state(row["status"]),
            )
            for row in rows
        ]


def _state(text: str) -> State:
    """Return the state; another version's unknown one counts as a warning."""
    if text == "ok":
        return "ok"
    return "limited" if text == "limited" else "warning"
