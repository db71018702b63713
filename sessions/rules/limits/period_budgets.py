"""The budgets of days and weeks: which of them bind a folder, and what is left of them.  Pure."""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import Literal

from msgspec import Struct

from ...values.membership import Budget
from .family_account import Amount, crossed

Period = Literal["day", "week"]
Action = Literal["warn", "stop"]

ROUNDING = 1e-9
"""US dollars by which sums of shares may differ from a budget."""


class PeriodBudget(Struct, frozen=True, kw_only=True):
    """A limit on the use of the sessions in a folder and below it, together, in a day or a week."""

    folder: str = ""
    """A real path; empty for all folders."""
    period: Period = "day"
    most: Budget
    action: Action = "stop"

    @property
    def name(self) -> str:
        """Its name in a sentence: ``today's budget``, ``this week's budget of ~/code/api``."""
        whose = "today's budget" if self.period == "day" else "this week's budget"
        return f"{whose} of {self.folder}" if self.folder else whose

    @property
    def key(self) -> str:
        """The name of its setting."""
        table = f'budgets.folders."{self.folder}"' if self.folder else "budgets"
        return f"{table}.{self.period}_{'usd' if self.most.cost_usd is not None else 'tokens'}"


class PeriodState(Struct, frozen=True, kw_only=True):
    """A budget with what is used of it."""

    budget: PeriodBudget
    spent: Amount = Amount()
    reserved: Amount = Amount()
    """Reserved for the turns that were admitted and have not ended, beyond what they used."""
    turns: int = 0
    """Turns for which something is reserved."""
    raised: bool = False
    """True if the user changed it for the current period, to more or to less."""

    @property
    def left(self) -> Budget:
        """The amounts that are neither spent nor reserved; None for a kind that it does not limit."""
        return Budget(tokens=_rest_tokens(self), cost_usd=_rest_cost(self))


def begin_of(period: Period, day: date) -> date:
    """Return the first day of the period in which a day is; a week begins on Monday."""
    return day if period == "day" else day - timedelta(days=day.weekday())


def end_of(period: Period, day: date) -> datetime:
    """Return the local midnight at which the period of a day ends."""
    days = 1 if period == "day" else 7
    return datetime.combine(begin_of(period, day) + timedelta(days=days), time())


def covers(budget: PeriodBudget, folder: str) -> bool:
    """Return whether a budget binds the sessions of a folder, which is a real path."""
    root = budget.folder.rstrip("/")
    return not root or folder == root or folder.startswith(f"{root}/")


def binding(budgets: Iterable[PeriodBudget], folder: str) -> list[PeriodBudget]:
    """Return the budgets that bind a folder: those of the folder itself and of all above it, the nearest first."""
    return sorted((one for one in budgets if covers(one, folder)), key=lambda one: -len(one.folder))


def over(states: Iterable[PeriodState]) -> str | None:
    """Return the first budget that is crossed, in words: ``today's budget: $20.03 of $20.00``; None if none is."""
    for one in states:
        words = crossed(one.budget.most, one.spent)
        if words is not None:
            return f"{one.budget.name}: {words}"
    return None


def amounts_left(state: PeriodState, kind: Literal["tokens", "cost_usd"]) -> tuple[float, float, float]:
    """Return what is left of a kind, what is spent, and what is reserved; nothing is left if it is not limited."""
    spent, reserved = state.spent, state.reserved
    if kind == "tokens":
        return float(_rest_tokens(state) or 0), float(spent.tokens), float(reserved.tokens)
    return _rest_cost(state) or 0.0, spent.cost_usd, reserved.cost_usd


def _rest_tokens(state: PeriodState) -> int | None:
    most = state.budget.most.tokens
    return None if most is None else max(0, most - state.spent.tokens - state.reserved.tokens)


def _rest_cost(state: PeriodState) -> float | None:
    most = state.budget.most.cost_usd
    return None if most is None else max(0.0, most - state.spent.cost_usd - state.reserved.cost_usd)
