"""The rows of the budgets of days and weeks: the budgets in force, and what was spent and reserved.

The settings are stored here because runners never read the file.  What is spent are the sums of the reports that
count (``use_sums``), as the verb ``usage`` shows them: it stays if a session is deleted.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime

from ...clock import now_ms
from ...model import LIVE, Status
from ...rules.limits.family_account import Amount
from ...rules.limits.period_budgets import (
    Action,
    Period,
    PeriodBudget,
    PeriodState,
    begin_of,
    binding,
    covers,
    over,
)
from ...values.membership import Budget
from ..database import Database
from ..local_days import beginning

Query = Callable[[str, tuple[object, ...]], Sequence[sqlite3.Row]]

OPEN = ", ".join(f"'{status}'" for status in sorted(LIVE | {Status.QUEUED}))
_BUDGETS = (
    "SELECT budgets.folder, budgets.period, action, source, raised.begins, coalesce(raised.tokens, budgets.tokens)"
    " AS raised_tokens, coalesce(raised.cost_usd, budgets.cost_usd) AS raised_cost, budgets.tokens, budgets.cost_usd"
    " FROM budgets LEFT JOIN budget_raises AS raised ON raised.folder = budgets.folder"
    " AND raised.period = budgets.period AND budgets.source = '' ORDER BY length(budgets.folder) DESC, budgets.folder"
)
_SPENT = (  # turn 0 is the whole use of a session that an earlier version deleted: its days are not known
    "SELECT coalesce(sessions.cwd, gone.cwd, '') AS folder, total(used.total_tokens) AS tokens,"
    " total(used.reported_usd) + total(used.computed_usd) AS cost_usd, total(used.computed_usd) AS computed,"
    " count(DISTINCT iif(used.missing, used.session, NULL)) AS missing FROM use_sums AS used"
    " LEFT JOIN sessions ON sessions.id = used.session LEFT JOIN tombstones AS gone ON gone.session = used.session"
    " WHERE used.quarter >= ? AND used.turn > 0 GROUP BY folder"
)
_MOST_TOKENS = 1 << 53
_MOST_USD = 1e15
_RESERVED = (
    "SELECT sessions.cwd, shares.tokens, shares.cost_usd,"  # noqa: S608
    " coalesce(sessions.total_tokens, 0) - base_tokens AS used_tokens,"
    " coalesce(sessions.cost_usd, 0.0) + coalesce(sessions.cost_about_usd, 0.0) - base_cost_usd AS used_cost"
    # A cross join keeps the order: the open turns are few, and every turn leaves its share.
    " FROM turns CROSS JOIN shares ON shares.session = turns.session AND shares.turn = turns.n"
    f" CROSS JOIN sessions ON sessions.id = turns.session WHERE turns.status IN ({OPEN})"
)
ASKING = (
    "SELECT sessions.agent, cwd, sessions.budget, launch, shares.tokens AS share_tokens, shares.cost_usd AS share_cost,"
    " base_tokens, base_cost_usd, coalesce(total_tokens, 0) AS tokens,"
    " coalesce(sessions.cost_usd, 0.0) + coalesce(sessions.cost_about_usd, 0.0) AS cost, shares.free"
    " FROM turns JOIN sessions ON sessions.id = turns.session"
    " LEFT JOIN shares ON shares.session = turns.session AND shares.turn = turns.n"
    " WHERE turns.session = ? AND turns.n = ?"
)
"""A turn, by its session and its number, with its share; the columns of the share are NULL if it has none."""


class PeriodBudgets:
    """The budgets of days and weeks, for front ends and runners."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, budgets: Sequence[PeriodBudget], source: str = "") -> bool:
        """Store the budgets of the settings, or of the project in the folder ``source``; return whether they changed.

        A budget that the user raised keeps the raised value until its period ends.
        """
        rows = [(source, *_row(one)) for one in {(b.folder, b.period): b for b in budgets}.values()]
        known = self._database.rows(
            "SELECT source, folder, period, tokens, cost_usd, action FROM budgets WHERE source = ?", (source,)
        )
        if sorted(map(repr, map(tuple, known))) == sorted(map(repr, rows)):
            return False
        with self._database.transaction() as db:
            db.execute("DELETE FROM budgets WHERE source = ?", (source,))
            db.executemany("INSERT OR REPLACE INTO budgets VALUES (?, ?, ?, ?, ?, ?)", rows)
        return True

    def raise_to(self, folder: str, period: Period, most: Budget) -> bool:
        """Permit another amount until the period ends; False if no budget of the settings has this folder and period.

        A kind that ``most`` does not have keeps its amount.
        """
        begins = begin_of(period, today()).isoformat()
        with self._database.transaction() as db:
            sql = "SELECT 1 FROM budgets WHERE source = '' AND folder = ? AND period = ?"
            if db.execute(sql, (folder, period)).fetchone() is None:
                return False
            db.execute("DELETE FROM budget_raises WHERE folder = ? AND period = ? AND begins <> ?",
                       (folder, period, begins))  # fmt: skip
            db.execute(
                "INSERT INTO budget_raises VALUES (?, ?, ?, ?, ?) ON CONFLICT (folder, period) DO UPDATE SET"
                " tokens = coalesce(excluded.tokens, tokens), cost_usd = coalesce(excluded.cost_usd, cost_usd)",
                (folder, period, begins, most.tokens, most.cost_usd),
            )
        return True

    def states(self, folder: str | None = None) -> list[PeriodState]:
        """Return each budget with what is used of it; with a real folder only those that bind it."""
        with self._database.snapshot():
            return states_of(self._database.rows, folder)

    def of_session(self, session_id: str) -> list[PeriodState]:
        """Return the budgets that bind a session, with what is used of them."""
        rows = self._database.rows("SELECT cwd FROM sessions WHERE id = ? AND agent <> 'command'", (session_id,))
        return self.states(os.path.realpath(rows[0]["cwd"])) if rows else []

    def limits(self, session_id: str) -> list[Budget]:
        """Return the amounts of the budgets that bind a session; one query if there are no budgets."""
        if not (known := budgets_in_force(self._database.rows)):
            return []
        rows = self._database.rows("SELECT cwd FROM sessions WHERE id = ? AND agent <> 'command'", (session_id,))
        folder = os.path.realpath(rows[0]["cwd"]) if rows else None
        return [] if folder is None else [one.most for one, _ in known if covers(one, folder)]

    def crossed(self, session_id: str, turn: int) -> tuple[str | None, str | None]:
        """Return the crossed budgets that stop a session, and those that warn, in words; None if none is crossed.

        A turn that the user started beyond the budgets crosses none.
        """
        with self._database.snapshot():
            query = self._database.rows
            rows = query(ASKING, (session_id, turn))
            if not rows or rows[0]["free"] or rows[0]["agent"] == "command":
                return None, None
            states = states_of(query, os.path.realpath(rows[0]["cwd"]))
        stops = [one for one in states if one.budget.action == "stop"]
        return over(stops), over(one for one in states if one not in stops)


def today() -> date:
    """Return the local day, by the wall clock."""
    return datetime.fromtimestamp(now_ms() / 1000, UTC).astimezone().date()


def budgets_in_force(query: Query) -> list[tuple[PeriodBudget, bool]]:
    """Return the budgets in force, each with whether the user raised it for its current period."""
    found: list[tuple[PeriodBudget, bool]] = []
    for row in query(_BUDGETS, ()):
        period: Period = "week" if row["period"] == "week" else "day"
        raised = row["begins"] == begin_of(period, today()).isoformat()
        most = Budget(
            tokens=row["raised_tokens" if raised else "tokens"], cost_usd=row["raised_cost" if raised else "cost_usd"]
        )
        action: Action = "warn" if row["action"] == "warn" else "stop"
        found.append((PeriodBudget(folder=row["folder"], period=period, most=most, action=action), raised))
    return found


def states_of(query: Query, folder: str | None) -> list[PeriodState]:
    """Return each budget with what is used of it; with a real folder only those that bind it."""
    known = budgets_in_force(query)
    budgets = [one for one, _ in known]
    if folder is not None:
        budgets = binding(budgets, folder)
    if not budgets:
        return []
    begins = {period: begin_of(period, today()) for period in {one.period for one in budgets}}
    spent = {begin: _spent(query, begin) for begin in set(begins.values())}
    reserved = [(os.path.realpath(row["cwd"]), _rest(row)) for row in query(_RESERVED, ())]
    raised = {id(one) for one, is_raised in known if is_raised}
    states = []
    for one in budgets:
        begin = begins[one.period]
        held = [amount for place, amount in reserved if covers(one, place) and amount != Amount()]
        states.append(
            PeriodState(
                budget=one,
                spent=_sum(amount for place, amount in spent[begin] if covers(one, place)),
                reserved=_sum(held),
                turns=len(held),
                raised=id(one) in raised,
            )
        )
    return states


def _spent(query: Query, begin: date) -> list[tuple[str, Amount]]:
    """Return what was spent in each real folder since a day began; the folder is empty if it is not known."""
    return [
        (
            os.path.realpath(row["folder"]) if row["folder"] else "",
            Amount(
                int(_bounded(row["tokens"], _MOST_TOKENS)),
                _bounded(row["cost_usd"], _MOST_USD),
                _bounded(row["computed"], _MOST_USD),
                row["missing"],
            ),
        )
        for row in query(_SPENT, (beginning(begin),))
    ]


def _bounded(sum_of_reports: float | None, most: float) -> float:
    """Return a sum of figures that agents print, which can be infinite; None and a figure below 0 count as 0."""
    return min(most, max(0.0, sum_of_reports or 0.0))


def _sum(amounts: Iterable[Amount]) -> Amount:
    total = Amount()
    for one in amounts:
        total = total.plus(one)
    return total


def _rest(row: sqlite3.Row) -> Amount:
    tokens = max(0, (row["tokens"] or 0) - max(0, row["used_tokens"]))
    return Amount(tokens, max(0.0, (row["cost_usd"] or 0.0) - max(0.0, row["used_cost"])))


def _row(one: PeriodBudget) -> tuple[object, ...]:
    return one.folder, one.period, one.most.tokens, one.most.cost_usd, one.action
