"""The shares of turns in the budgets of days and weeks: reserved at a start, extended while the turn runs.

Each is one decision inside the caller's transaction, so of several processes each sees what the others were granted.
"""

import sqlite3
from collections.abc import Sequence

from msgspec import Struct

from ...launch import Launch
from ...rules.limits.period_budgets import PeriodBudget, PeriodState, end_of
from ...rules.limits.period_shares import Asking, Lacking, Share, extend, full, grant, used_up
from ...rules.limits.period_words import lacking_words
from ...values.membership import Budget
from ..rows import load
from ..usual_use import usual_use
from .period_budgets import ASKING
from .period_use import PeriodUse

_KEPT = "UPDATE shares SET tokens = ?, cost_usd = ? WHERE session = ? AND turn = ?"


class Held(Struct, frozen=True, kw_only=True):
    """A turn that does not fit into a budget."""

    lacking: Lacking
    due_at: int
    """The end of the budget's period (UTC ms)."""


class PeriodAdmission:
    """Admits turns in one transaction: what is spent, what is known of an agent, and what had no room, is found once.

    Args:
        db: the transaction.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._use = PeriodUse(self._query)
        self._usual: dict[str, Budget] = {}
        self._held: dict[tuple[tuple[PeriodBudget, ...], Asking], Held] = {}

    def admit(self, session_id: str, turn: int, *, free: bool = False) -> Held | None:
        """Admit a turn, and reserve its share; None if it is admitted.

        A turn that was admitted before stays admitted.

        Args:
            session_id: the session.
            turn: a turn that has not ended.
            free: the user starts it although it does not fit.
        """
        rows = self._query(ASKING, (session_id, turn)) if self._use.in_force else ()
        if not rows or rows[0]["free"] is not None or rows[0]["agent"] == "command":
            return None
        row, folder = rows[0], self._use.real(rows[0]["cwd"])
        budgets = tuple(self._use.binding(folder, "stop"))
        if not budgets:
            return None
        asking = self._asking(row)
        if not free and (budgets, asking) in self._held:  # what was admitted since then only takes more
            return self._held[budgets, asking]
        share = grant(asking, self._use.states(budgets), free=free)
        if isinstance(share, Lacking):
            end = end_of(share.state.budget.period, self._use.day)
            return self._held.setdefault((budgets, asking), Held(lacking=share, due_at=int(end.timestamp() * 1000)))
        self._use.reserve(folder, share)
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
            kept = extend(self._asking(row), self._stopping(row["cwd"]), share, used)
            if isinstance(kept, Lacking):
                return Share(most=_up_to(share, *base), lacking=lacking_words(kept))
            if kept != share:
                self._db.execute(_KEPT, (kept.tokens, kept.cost_usd, session_id, turn))
                self._use = PeriodUse(self._query)  # what is reserved has changed
            share = kept
        return Share(most=_up_to(share, *base))

    def warnings(self, cwd: str) -> list[PeriodState]:
        """Return the budgets that only warn and of which nothing is left, for a start in a folder."""
        if not self._use.in_force:
            return []
        return full(self._use.states(self._use.binding(self._use.real(cwd), "warn")))

    def _asking(self, row: sqlite3.Row) -> Asking:
        agent = row["agent"]
        if agent not in self._usual:
            self._usual[agent] = usual_use(self._query, agent)
        return Asking(own=_own(row), usual=self._usual[agent], agent=agent)

    def _stopping(self, cwd: str) -> list[PeriodState]:
        return self._use.states(self._use.binding(self._use.real(cwd), "stop"))

    def _query(self, sql: str, values: tuple[object, ...] = ()) -> Sequence[sqlite3.Row]:
        return self._db.execute(sql, values).fetchall()


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


def _up_to(share: Budget, base_tokens: int, base_cost: float) -> Budget:
    return Budget(
        tokens=None if share.tokens is None else base_tokens + share.tokens,
        cost_usd=None if share.cost_usd is None else base_cost + share.cost_usd,
    )
