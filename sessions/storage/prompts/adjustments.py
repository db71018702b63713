"""The changes of the settings of sessions: requested by a front end, carried out by the runner of a live agent.

Each method is one transaction.  The request itself changes the session's own options, so it counts for later turns
whatever becomes of the running agent.
"""

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from agentdash.sessions.model.adjustments import Adjustment, AdjustmentState, From, Setting
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import UnknownSessionError
from agentdash.sessions.model.session import Status, short_id
from agentdash.sessions.rules.launch import Launch, TurnPlan
from agentdash.sessions.storage.database import DatabasePart
from agentdash.sessions.storage.rows import dump, launch_from, load, struct_from

_PENDING = "state IN ('asked', 'sent')"
_MOST_REASON = 400


class Adjustments(DatabasePart):
    """The changes of all sessions in a database."""

    def request(
        self,
        session_id: str,
        what: Setting,
        value: str,
        *,
        options: Mapping[str, Any],
        counts_from: From,
        asked_by: str,
        planned: Callable[[TurnPlan], TurnPlan],
        relaunched: Callable[[Launch], Launch],
    ) -> Adjustment:
        """Record a change of the session's options, of its waiting prompts, and the request to a living agent.

        Args:
            options: the keys of the agent's section that stand for it.
            counts_from: the moment from which the agent uses it.
            planned: returns the plan of a waiting prompt with the change.
            relaunched: returns the first start of a session that waits for another one with the change.

        Raises:
            UnknownSessionError: the session was deleted.
            UsageError: ``relaunched`` raised it; nothing is recorded.
        """
        now = now_ms()
        with self._database.transaction() as db:
            row = db.execute("SELECT * FROM sessions WHERE id = ?", (session_id,)).fetchone()
            if row is None:
                raise UnknownSessionError(f"Session {short_id(session_id)} was deleted.")
            kept = load(row["options"], dict[str, Any]) or {}
            db.execute("UPDATE sessions SET options = ? WHERE id = ?", (dump({**kept, **options}), session_id))
            _replan(db, session_id, planned)
            waits = row["after"] is not None and row["status"] == Status.QUEUED
            if waits:
                _relaunch(db, row, relaunched)
            state = AdjustmentState.ASKED if not waits and _agent_lives(db, row) else AdjustmentState.NEXT
            db.execute(
                f"UPDATE adjustments SET state = ?, changed_at = ? WHERE session = ? AND what = ? AND {_PENDING}",  # noqa: S608
                (AdjustmentState.NEXT, now, session_id, what),
            )
            added = db.execute(
                "INSERT INTO adjustments (session, turn, what, value, counts_from, state, asked_by, asked_at,"
                " changed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *",
                (session_id, row["turn"] - waits, what, value, counts_from, state, asked_by, now, now),
            ).fetchone()
        return _adjustment(added)

    def one(self, adjustment_id: int) -> Adjustment | None:
        """Return a change; None if its session was deleted."""
        rows = self._database.rows("SELECT * FROM adjustments WHERE id = ?", (adjustment_id,))
        return _adjustment(rows[0]) if rows else None

    def of_session(self, session_id: str) -> list[Adjustment]:
        """Return the changes of a session, the oldest first."""
        rows = self._database.rows("SELECT * FROM adjustments WHERE session = ? ORDER BY id", (session_id,))
        return [_adjustment(row) for row in rows]

    def pending(self, session_id: str) -> list[Adjustment]:
        """Return the changes that the running agent has not confirmed, the oldest first."""
        rows = self._database.rows(
            f"SELECT * FROM adjustments WHERE session = ? AND {_PENDING} ORDER BY id",  # noqa: S608
            (session_id,),
        )
        return [_adjustment(row) for row in rows]

    def sent(self, adjustment_id: int) -> None:
        """Record that a change was written to the agent."""
        self._end(adjustment_id, AdjustmentState.SENT)

    def in_force(self, adjustment: Adjustment) -> None:
        """Record that the agent confirmed a change, and show its value with the session."""
        column = "model" if adjustment.what == "model" else "mode"
        with self._database.transaction() as db:
            if _settle(db, adjustment.id, AdjustmentState.IN_FORCE, ""):
                db.execute(
                    f"UPDATE sessions SET {column} = ? WHERE id = ?",  # noqa: S608
                    (adjustment.value, adjustment.session),
                )

    def follow(
        self, session_id: str, mode: str, options: Mapping[str, Any], planned: Callable[[TurnPlan], TurnPlan]
    ) -> None:
        """Record a mode that the agent took by itself; later turns and waiting prompts keep it."""
        now = now_ms()
        with self._database.transaction() as db:
            row = db.execute("SELECT turn, options FROM sessions WHERE id = ?", (session_id,)).fetchone()
            if row is None:
                return
            kept = {**(load(row["options"], dict[str, Any]) or {}), **options}
            db.execute("UPDATE sessions SET options = ?, mode = ? WHERE id = ?", (dump(kept), mode, session_id))
            _replan(db, session_id, planned)
            db.execute(
                "INSERT INTO adjustments (session, turn, what, value, counts_from, state, asked_by, asked_at,"
                " changed_at) VALUES (?, ?, 'mode', ?, 'step', ?, 'the agent', ?, ?)",
                (session_id, row["turn"], mode, AdjustmentState.IN_FORCE, now, now),
            )

    def refused(self, adjustment_id: int, reason: str) -> None:
        """Record that the agent does not take a change while it runs."""
        self._end(adjustment_id, AdjustmentState.REFUSED, reason)

    def defer(self, session_id: str) -> None:
        """Record that the agent ended before it confirmed the changes under way."""
        for adjustment in self.pending(session_id):
            self._end(adjustment.id, AdjustmentState.NEXT)

    def mode_in(self, session_id: str, turn: int) -> str | None:
        """Return the newest mode that the agent took since the start of a turn; None if it kept that of its launch."""
        return self._database.value(
            "SELECT value FROM adjustments WHERE session = ? AND turn = ? AND what = 'mode' AND state = 'in_force'"
            " ORDER BY id DESC LIMIT 1",
            (session_id, turn),
        )

    def _end(self, adjustment_id: int, state: AdjustmentState, reason: str = "") -> None:
        with self._database.transaction() as db:
            _settle(db, adjustment_id, state, reason)


def _settle(db: sqlite3.Connection, adjustment_id: int, state: AdjustmentState, reason: str) -> bool:
    """Change the state of a pending change; False if it is not pending."""
    changed = db.execute(
        f"UPDATE adjustments SET state = ?, reason = ?, changed_at = ? WHERE id = ? AND {_PENDING}",  # noqa: S608
        (state, reason[:_MOST_REASON].encode("utf-8", "replace").decode(), now_ms(), adjustment_id),
    ).rowcount
    return bool(changed)


def _agent_lives(db: sqlite3.Connection, session: sqlite3.Row) -> bool:
    """Return whether a live agent works for the session, waits for prompts, or is about to begin."""
    if session["warm_since"] is not None:
        return True
    if Status(session["status"]).ended:
        return False
    row = db.execute(
        "SELECT launch FROM turns WHERE session = ? AND n = ?", (session["id"], session["turn"])
    ).fetchone()
    return row is not None and bool(launch_from(row).transport)


def _relaunch(db: sqlite3.Connection, session: sqlite3.Row, relaunched: Callable[[Launch], Launch]) -> None:
    """Record the start of a turn that waits for the end of another session, with a change."""
    place = (session["id"], session["turn"])
    row = db.execute("SELECT launch FROM turns WHERE session = ? AND n = ?", place).fetchone()
    if row is not None:
        launch = relaunched(launch_from(row))
        db.execute("UPDATE turns SET launch = ? WHERE session = ? AND n = ?", (dump(launch), *place))
        db.execute("UPDATE sessions SET model = ? WHERE id = ?", (launch.model, session["id"]))


def _replan(db: sqlite3.Connection, session_id: str, planned: Callable[[TurnPlan], TurnPlan]) -> None:
    # A prompt that was written into the running turn, or became it, may wait again.
    rows = db.execute(
        "SELECT id, plan FROM queue WHERE session = ? AND (state IN ('queued', 'sending', 'sent')"
        " OR (state = 'taken' AND turn = (SELECT turn FROM sessions WHERE id = queue.session)))",
        (session_id,),
    ).fetchall()
    for row in rows:
        plan = load(row["plan"], TurnPlan)
        changed = planned(plan) if plan is not None else None
        if changed is not None and changed != plan:
            db.execute("UPDATE queue SET plan = ? WHERE id = ?", (dump(changed), row["id"]))


def _adjustment(row: sqlite3.Row) -> Adjustment:
    return struct_from(Adjustment, row, state=AdjustmentState(row["state"]))


def defer_earlier(db: sqlite3.Connection, session_id: str, turn: int, now: int) -> None:
    """Record that the changes under way count from a turn on: it is started with them."""
    db.execute(
        f"UPDATE adjustments SET state = ?, changed_at = ? WHERE session = ? AND turn < ? AND {_PENDING}",  # noqa: S608
        (AdjustmentState.NEXT, now, session_id, turn),
    )
