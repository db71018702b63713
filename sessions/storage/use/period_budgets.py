"""The budgets of days and weeks, and the shares of turns in them: reserved at a start, extended while the turn runs.

The settings are stored here because runners never read the file.  Each share is one decision inside the transaction of
the caller, so of several processes each sees what the others were granted."""

import os
import sqlite3
from collections.abc import Collection, Sequence

from agentdash.sessions.model.membership import Budget
from agentdash.sessions.rules.costs.usage_table import begin
from agentdash.sessions.rules.costs.usage_totals import WITHOUT_MODEL
from agentdash.sessions.rules.limits.period_budgets import (
    Action,
    Kind,
    Lacking,
    Period,
    PeriodBudget,
    PeriodState,
    Share,
    covers,
    extend,
    full,
    lacking_words,
    over,
    used_up,
)
from agentdash.sessions.storage.database import DatabasePart
from agentdash.sessions.storage.rows import USES_MODEL
from agentdash.sessions.storage.use.period_use import (
    ASKING,
    Held,
    PeriodRoom,
    PeriodUse,
    budgets_in_force,
    states_of,
    today,
)

_FOLDER = f"SELECT cwd FROM sessions WHERE id = ? AND {USES_MODEL}"  # noqa: S608


class PeriodBudgets(DatabasePart):
    """The budgets of days and weeks, for front ends and runners."""

    def keep(self, budgets: Sequence[PeriodBudget], source: str = "") -> bool:
        """Store the budgets of the settings, or of the project in the folder ``source``; return whether they changed.

        A budget that the user raised keeps the raised value until its period ends.
        """
        newest = {(one.folder, one.period): one for one in budgets}
        rows = [(source, *place, one.most.tokens, one.most.cost_usd, one.action) for place, one in newest.items()]
        known = self._database.rows(
            "SELECT source, folder, period, tokens, cost_usd, action FROM budgets WHERE source = ?", (source,)
        )
        if sorted(map(repr, map(tuple, known))) == sorted(map(repr, rows)):
            return False
        with self._database.transaction() as db:
            db.execute("DELETE FROM budgets WHERE source = ?", (source,))
            db.executemany("INSERT OR REPLACE INTO budgets VALUES (?, ?, ?, ?, ?, ?)", rows)
        return True

    def raise_to(self, folder: str, period: Period, most: Budget, back: Collection[Kind] = ()) -> bool:
        """Permit another amount until the period ends; False if no budget of the settings has this folder and period.

        A kind without an amount in ``most`` keeps its own; of a kind in ``back``, that of the settings counts again.
        """
        begins = begin(today(), period).isoformat()
        with self._database.transaction() as db:
            sql = "SELECT 1 FROM budgets WHERE source = '' AND folder = ? AND period = ?"
            if db.execute(sql, (folder, period)).fetchone() is None:
                return False
            db.execute("DELETE FROM budget_raises WHERE folder = ? AND period = ? AND begins <> ?",
                       (folder, period, begins))  # fmt: skip
            db.execute(
                "INSERT INTO budget_raises VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (folder, period) DO UPDATE SET"
                " tokens = iif(?6, NULL, coalesce(?4, tokens)), cost_usd = iif(?7, NULL, coalesce(?5, cost_usd))",
                (folder, period, begins, most.tokens, most.cost_usd, "tokens" in back, "cost_usd" in back),
            )
            db.execute("DELETE FROM budget_raises WHERE tokens IS NULL AND cost_usd IS NULL")
        return True

    def states(self, folder: str | None = None) -> list[PeriodState]:
        """Return each budget with what is used of it; with a real folder only those that bind it."""
        with self._database.snapshot():
            return states_of(self._database.rows, folder)

    def of_session(self, session_id: str) -> list[PeriodState]:
        """Return the budgets that bind a session, with what is used of them."""
        rows = self._database.rows(_FOLDER, (session_id,))
        return self.states(os.path.realpath(rows[0]["cwd"])) if rows else []

    def limits(self, session_id: str) -> list[Budget]:
        """Return the amounts of the budgets that bind a session; one query if there are no budgets."""
        if not (known := budgets_in_force(self._database.rows)):
            return []
        rows = self._database.rows(_FOLDER, (session_id,))
        folder = os.path.realpath(rows[0]["cwd"]) if rows else None
        return [] if folder is None else [one.most for one, _ in known if covers(one, folder)]

    def holding(self, session_id: str, turn: int) -> PeriodBudget | None:
        """Return the budget that has no room for a turn that waits; None if each has, or if none limits it."""
        with self._database.snapshot():
            rows = self._database.rows(ASKING, (session_id, turn))
            room = PeriodRoom(self._database.rows).of(rows[0]) if rows else None
        return room.lacking.state.budget if isinstance(room, Held) else None

    def crossed(self, session_id: str, turn: int) -> tuple[str | None, str | None]:
        """Return the crossed budgets that stop a session, and those that warn, in words; None if none is crossed.

        A turn that the user started beyond the budgets crosses none.
        """
        with self._database.snapshot():
            query = self._database.rows
            rows = query(ASKING, (session_id, turn))
            if not rows or rows[0]["free"] or rows[0]["agent"] in WITHOUT_MODEL:
                return None, None
            states = states_of(query, os.path.realpath(rows[0]["cwd"]))
        stops = [one for one in states if one.budget.action == "stop"]
        return over(stops), over(one for one in states if one not in stops)


_KEPT = "UPDATE shares SET tokens = ?, cost_usd = ? WHERE session = ? AND turn = ?"


class PeriodAdmission:
    """Admits turns in one transaction: the spent, what is known of an agent, and what had no room, is found once."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._room = PeriodRoom(self._query)

    def admit(self, session_id: str, turn: int, *, free: bool = False) -> Held | None:
        """Admit a turn, and reserve its share; None if it is admitted.

        A turn that was admitted before stays admitted.

        Args:
            turn: a turn that has not ended.
            free: the user starts it although it does not fit.
        """
        rows = self._query(ASKING, (session_id, turn)) if self._room.use.in_force else ()
        share = self._room.of(rows[0], free=free) if rows else None
        if not isinstance(share, Budget):
            return share
        row = rows[0]
        self._room.use.reserve(self._room.use.real(row["cwd"]), share)
        self._db.execute(
            "INSERT INTO shares (session, turn, tokens, cost_usd, base_tokens, base_cost_usd, free)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (session_id, turn, share.tokens, share.cost_usd, row["tokens"], row["cost"], int(free)),
        )
        return None

    def keep(self, session_id: str, turn: int) -> Share | None:
        """Extend the share of a turn that runs and used it up; None if no budget limits the turn.

        Call this in the transaction that records what the turn used.
        """
        rows = self._query(ASKING, (session_id, turn))
        if not rows or rows[0]["free"] != 0:
            return None
        row = rows[0]
        base = row["base_tokens"], row["base_cost_usd"]
        share = Budget(tokens=row["share_tokens"], cost_usd=row["share_cost"])
        used = Budget(tokens=max(0, row["tokens"] - base[0]), cost_usd=max(0.0, row["cost"] - base[1]))
        if used_up(share, used):
            kept = extend(self._room.asking(row), self._states(row["cwd"], "stop"), share, used)
            if isinstance(kept, Lacking):
                return Share(most=_up_to(share, *base), lacking=lacking_words(kept))
            if kept != share:
                self._db.execute(_KEPT, (kept.tokens, kept.cost_usd, session_id, turn))
                self._room.use = PeriodUse(self._query)  # what is reserved has changed
            share = kept
        return Share(most=_up_to(share, *base))

    def warnings(self, cwd: str) -> list[PeriodState]:
        """Return the budgets that only warn and of which nothing is left, for a start in a folder."""
        return full(self._states(cwd, "warn")) if self._room.use.in_force else []

    def _states(self, cwd: str, action: Action) -> list[PeriodState]:
        use = self._room.use
        return use.states(use.binding(use.real(cwd), action))

    def _query(self, sql: str, values: tuple[object, ...] = ()) -> Sequence[sqlite3.Row]:
        return self._db.execute(sql, values).fetchall()


def _up_to(share: Budget, base_tokens: int, base_cost: float) -> Budget:
    return Budget(
        tokens=None if share.tokens is None else base_tokens + share.tokens,
        cost_usd=None if share.cost_usd is None else base_cost + share.cost_usd,
    )
