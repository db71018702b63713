"""The room that the budgets of days and weeks have for a turn: it is found, and nothing is written."""

import sqlite3

from msgspec import Struct

from ...costs.usage_totals import WITHOUT_MODEL
from ...launch import Launch
from ...rules.limits.period_budgets import PeriodBudget, end_of
from ...rules.limits.period_shares import Asking, Lacking, grant
from ...values.membership import Budget
from ..rows import Query, load
from ..usual_use import usual_use
from .period_use import PeriodUse

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
    """Finds the room for turns in one transaction or snapshot: what is spent, and what had no room, is found once.

    Args:
        query: reads rows.
    """

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
