"""The use of the budgets of days and weeks, spent and reserved, and the room that it leaves for a turn.

It is read once for all questions of a transaction, and nothing is written.  Spent are the sums of the reports that
count (``use_sums``), as the verb ``usage`` shows them: it stays if a session is deleted."""

import os
import sqlite3
from collections.abc import Iterable
from datetime import UTC, date, datetime
from functools import cached_property

from msgspec import Struct

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.membership import Budget
from agentdash.sessions.rules.costs.usage_table import begin
from agentdash.sessions.rules.costs.usage_totals import WITHOUT_MODEL
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.limits.family_account import Amount
from agentdash.sessions.rules.limits.period_budgets import (
    Action,
    Asking,
    Lacking,
    Period,
    PeriodBudget,
    PeriodState,
    binding,
    covers,
    end_of,
    grant,
)
from agentdash.sessions.storage.local_days import beginning
from agentdash.sessions.storage.rows import OPEN, WITHOUT_FIGURES, Query, load
from agentdash.sessions.storage.usual_use import usual_use

_BUDGETS = (
    "SELECT budgets.folder, budgets.period, action, source, raised.begins, coalesce(raised.tokens, budgets.tokens)"
    " AS raised_tokens, coalesce(raised.cost_usd, budgets.cost_usd) AS raised_cost, budgets.tokens, budgets.cost_usd"
    " FROM budgets LEFT JOIN budget_raises AS raised ON raised.folder = budgets.folder"
    " AND raised.period = budgets.period AND budgets.source = '' ORDER BY length(budgets.folder) DESC, budgets.folder"
)
_SPENT = (
    "SELECT coalesce(sessions.cwd, gone.cwd, '') AS folder, total(used.total_tokens) AS tokens,"  # noqa: S608
    " total(used.reported_usd) + total(used.computed_usd) AS cost_usd, total(used.computed_usd) AS computed,"
    " count(DISTINCT iif(used.missing, used.session, NULL)) AS missing,"
    " count(DISTINCT iif(used.total_tokens IS NULL, used.session, NULL)) AS tokens_missing FROM"
    " (SELECT session, total_tokens, reported_usd, computed_usd, missing FROM use_sums WHERE quarter >= ?"
    f" UNION ALL SELECT id, NULL, NULL, NULL, 1 FROM sessions WHERE {WITHOUT_FIGURES}) AS used"
    " LEFT JOIN sessions ON sessions.id = used.session LEFT JOIN tombstones AS gone ON gone.session = used.session"
    " GROUP BY folder"
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


class PeriodUse:
    """The budgets in force with what is used of them; each table is read at the first question that needs it.

    Ask it inside one transaction or snapshot, in which what is spent does not change.
    """

    def __init__(self, query: Query) -> None:
        self._query = query
        self.day = today()
        """The local day at the first question."""
        self._folders: dict[str, str] = {}
        self._spent_since: dict[date, list[tuple[str, Amount]]] = {}
        self._spent: dict[PeriodBudget, Amount] = {}
        self._held: dict[PeriodBudget, tuple[Amount, int]] = {}

    @cached_property
    def in_force(self) -> list[tuple[PeriodBudget, bool]]:
        """The budgets in force, each with whether the user changed it for its current period."""
        return budgets_in_force(self._query)

    def real(self, folder: str) -> str:
        """Return the real path of a folder, which is resolved once."""
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return self._folders[folder]

    def binding(self, folder: str, action: Action) -> list[PeriodBudget]:
        """Return the budgets with an action that bind a real folder, the nearest first."""
        return binding((one for one, _ in self.in_force if one.action == action), folder)

    def states(self, budgets: Iterable[PeriodBudget]) -> list[PeriodState]:
        """Return budgets in force with what is used of them."""
        raised = {one for one, is_raised in self.in_force if is_raised}
        return [self._state(one, raised=one in raised) for one in budgets]

    def reserve(self, folder: str, share: Budget) -> None:
        """Count a share that the transaction reserves for a turn in a real folder, after :meth:`states`."""
        amount = Amount(max(0, share.tokens or 0), max(0.0, share.cost_usd or 0.0))
        self._reserved.append((folder, amount))
        for one, (held, turns) in self._held.items():
            if amount != Amount() and covers(one, folder):
                self._held[one] = held.plus(amount), turns + 1

    @cached_property
    def _reserved(self) -> list[tuple[str, Amount]]:
        rest = []
        for row in self._query(_RESERVED, ()):
            tokens = max(0, (row["tokens"] or 0) - max(0, row["used_tokens"]))
            cost = max(0.0, (row["cost_usd"] or 0.0) - max(0.0, row["used_cost"]))
            rest.append((self.real(row["cwd"]), Amount(tokens, cost)))
        return rest

    def _state(self, one: PeriodBudget, *, raised: bool) -> PeriodState:
        if one not in self._spent:
            spent = self._since(begin(self.day, one.period))
            self._spent[one] = _sum(amount for place, amount in spent if covers(one, place))
        if one not in self._held:
            held = [amount for place, amount in self._reserved if covers(one, place) and amount != Amount()]
            self._held[one] = _sum(held), len(held)
        reserved, turns = self._held[one]
        return PeriodState(budget=one, spent=self._spent[one], reserved=reserved, turns=turns, raised=raised)

    def _since(self, begin: date) -> list[tuple[str, Amount]]:
        """Return what was spent in each real folder since a day began; the folder is empty if it is not known."""
        if begin not in self._spent_since:
            self._spent_since[begin] = [
                (self.real(row["folder"]) if row["folder"] else "", _spent(row))
                for row in self._query(_SPENT, (beginning(begin),))
            ]
        return self._spent_since[begin]


def states_of(query: Query, folder: str | None) -> list[PeriodState]:
    """Return each budget with what is used of it; with a real folder only those that bind it."""
    use = PeriodUse(query)
    budgets = [one for one, _ in use.in_force]
    return use.states(budgets if folder is None else binding(budgets, folder))


def today() -> date:
    """Return the local day, by the wall clock."""
    return datetime.fromtimestamp(now_ms() / 1000, UTC).astimezone().date()


def budgets_in_force(query: Query) -> list[tuple[PeriodBudget, bool]]:
    """Return the budgets in force, each with whether the user changed it for its current period."""
    found: list[tuple[PeriodBudget, bool]] = []
    for row in query(_BUDGETS, ()):
        period: Period = "week" if row["period"] == "week" else "day"
        raised = row["begins"] == begin(today(), period).isoformat()
        most = Budget(
            tokens=row["raised_tokens" if raised else "tokens"], cost_usd=row["raised_cost" if raised else "cost_usd"]
        )
        action: Action = "warn" if row["action"] == "warn" else "stop"
        found.append((PeriodBudget(folder=row["folder"], period=period, most=most, action=action), raised))
    return found


def _spent(row: sqlite3.Row) -> Amount:
    return Amount(
        int(_bounded(row["tokens"], _MOST_TOKENS)),
        _bounded(row["cost_usd"], _MOST_USD),
        _bounded(row["computed"], _MOST_USD),
        row["missing"],
        row["tokens_missing"],
    )


def _bounded(sum_of_reports: float | None, most: float) -> float:
    """Return a sum of figures that agents print, which can be infinite; None and a figure below 0 count as 0."""
    return min(most, max(0.0, sum_of_reports or 0.0))


def _sum(amounts: Iterable[Amount]) -> Amount:
    total = Amount()
    for one in amounts:
        total = total.plus(one)
    return total


ASKING = (
    "SELECT sessions.agent, cwd, sessions.budget, launch, shares.tokens AS share_tokens, shares.cost_usd AS share_cost,"
    " base_tokens, base_cost_usd, coalesce(total_tokens, 0) AS tokens,"
    " coalesce(sessions.cost_usd, 0.0) + coalesce(sessions.cost_about_usd, 0.0) AS cost, shares.free"
    " FROM turns JOIN sessions ON sessions.id = turns.session"
    " LEFT JOIN shares ON shares.session = turns.session AND shares.turn = turns.n"
    " WHERE turns.session = ? AND turns.n = ?"
)
"""A turn, by its session and its number, with its share; the columns of the share are NULL if it has none."""


class Held(Struct, frozen=True, kw_only=True):
    """A turn that does not fit into a budget."""

    lacking: Lacking
    due_at: int
    """The end of the budget's period (UTC ms)."""


class PeriodRoom:
    """Finds the room for turns in one transaction or snapshot: what is spent, and what had no room, is found once."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self.use = PeriodUse(query)
        """The budgets in force with what is used of them."""
        self._usual: dict[str, Budget] = {}
        self._held: dict[tuple[tuple[PeriodBudget, ...], Asking], Held] = {}

    def of(self, row: sqlite3.Row, *, free: bool = False) -> Budget | Held | None:
        """Return the share that a turn is to reserve, or the budget that holds it; None if no budget limits it.

        Args:
            row: a turn, as :data:`ASKING` reads it.
            free: the user starts it although it does not fit.
        """
        if not self.use.in_force or row["free"] is not None or row["agent"] in WITHOUT_MODEL:
            return None
        budgets = tuple(self.use.binding(self.use.real(row["cwd"]), "stop"))
        if not budgets:
            return None
        asking = self.asking(row)
        if not free and (budgets, asking) in self._held:  # what was admitted since then only takes more
            return self._held[budgets, asking]
        share = grant(asking, self.use.states(budgets), free=free)
        if not isinstance(share, Lacking):
            return share
        end = end_of(share.state.budget.period, self.use.day)
        return self._held.setdefault((budgets, asking), Held(lacking=share, due_at=int(end.timestamp() * 1000)))

    def asking(self, row: sqlite3.Row) -> Asking:
        """Return a turn, as :data:`ASKING` reads it, with what its limits leave and its agent usually uses."""
        agent = row["agent"]
        if agent not in self._usual:
            self._usual[agent] = usual_use(self._query, agent)
        return Asking(own=_own(row), usual=self._usual[agent], agent=agent)


def _own(row: sqlite3.Row) -> Budget:
    """Return what the limits of a session leave to its turn; None for a kind without a limit."""
    launch, budget = load(row["launch"], Launch), load(row["budget"], Budget) or Budget()
    limits = launch.limits if launch is not None else None
    tokens = [one for one in (budget.tokens, limits.tokens if limits and limits.stops else None) if one is not None]
    costs = [one for one in (budget.cost_usd, limits.cost_usd if limits and limits.stops else None) if one is not None]
    return Budget(
        tokens=max(0, min(tokens) - row["tokens"]) if tokens else None,
        cost_usd=max(0.0, min(costs) - row["cost"]) if costs else None,
    )
