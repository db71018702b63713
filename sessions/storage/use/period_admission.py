"""The shares of turns in the budgets of days and weeks: reserved at a start, extended while the turn runs.

Each is one decision inside the caller's transaction, so of several processes each sees what the others were granted.
"""

import sqlite3
from collections.abc import Sequence

from ...rules.limits.period_budgets import Action, PeriodState
from ...rules.limits.period_shares import Lacking, Share, extend, full, used_up
from ...rules.limits.period_words import lacking_words
from ...values.membership import Budget
from .period_room import ASKING, Held, PeriodRoom
from .period_use import PeriodUse

_KEPT = "UPDATE shares SET tokens = ?, cost_usd = ? WHERE session = ? AND turn = ?"


class PeriodAdmission:
    """Admits turns in one transaction: what is spent, what is known of an agent, and what had no room, is found once.

    Args:
        db: the transaction.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._room = PeriodRoom(self._query)

    def admit(self, session_id: str, turn: int, *, free: bool = False) -> Held | None:
        """Admit a turn, and reserve its share; None if it is admitted.

        A turn that was admitted before stays admitted.

        Args:
            session_id: the session.
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
