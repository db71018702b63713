"""The budgets of days and weeks: which of them bind a folder, and whether a start fits into them.  Pure."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Literal, TypeVar

from msgspec import Struct

from ...values.membership import Budget
from .family_account import Account, Amount, budget_words, crossed
from .limits import dollars

N = TypeVar("N", int, float)

Period = Literal["day", "week"]
Action = Literal["warn", "stop"]

_ROUNDING = 1e-9
"""US dollars by which sums of shares may differ from a budget."""

MOST_OPEN = 20
"""Parts into which the last of a budget is split at most: a start reserves at least the budget divided by it."""


class PeriodBudget(Struct, frozen=True, kw_only=True):
    """A limit on the use of the sessions in a folder and below it, together, in a day or a week."""

    folder: str = ""
    """A real path; empty for all folders."""
    period: Period = "day"
    most: Budget
    action: Action = "stop"

    @property
    def name(self) -> str:
        """Its name in a sentence: ``today's budget``, ``this week's budget of /work/api``."""
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
    raised: bool = False
    """True if the user raised it for the current period."""

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


def share_of(own: Budget, states: Sequence[PeriodState], places: int) -> Budget:
    """Return what a start reserves: its own limits, or a part of what is left of each budget.

    The part is what is left, divided by the starts that are still possible and one; but at least the budget divided
    by :data:`MOST_OPEN`, and never more than what is left: the last of a budget can be used by one session.

    Args:
        own: the limits of the start itself; None for a kind without one.
        states: the budgets that bind it.
        places: sessions that can be started beside those that run.
    """
    tokens, cost = own.tokens, own.cost_usd
    for one in states:
        most, rest = one.budget.most, one.left
        if own.tokens is None and most.tokens is not None and rest.tokens is not None:
            tokens = _least(tokens, min(rest.tokens, max(rest.tokens // (places + 1), -(-most.tokens // MOST_OPEN))))
        if own.cost_usd is None and most.cost_usd is not None and rest.cost_usd is not None:
            cost = _least(cost, min(rest.cost_usd, max(rest.cost_usd / (places + 1), most.cost_usd / MOST_OPEN)))
    return Budget(
        tokens=tokens if tokens is not None and tokens > 0 else None,
        cost_usd=cost if cost is not None and cost > 0 else None,
    )


def full(states: Iterable[PeriodState], share: Budget) -> PeriodState | None:
    """Return the first budget into which a share does not fit; None if it fits into all."""
    return next((one for one in states if not _fits(one, share)), None)


def over(states: Iterable[PeriodState]) -> str | None:
    """Return the first budget that is crossed, in words: ``today's budget: $20.03 of $20.00``; None if none is."""
    for one in states:
        words = crossed(one.budget.most, one.spent)
        if words is not None:
            return f"{one.budget.name}: {words}"
    return None


def used_words(state: PeriodState) -> str:
    """Return why nothing fits: ``today's budget of $20 is spent``, ``$18 of … is spent and $2 reserved``."""
    most, spent, reserved = state.budget.most, state.spent, state.reserved
    if (most.cost_usd is not None and (state.left.cost_usd or 0) <= 0) or most.tokens is None:
        amounts = _money(most.cost_usd or 0), spent.dollars(), _money(reserved.cost_usd)
        gone, held = spent.cost_usd >= (most.cost_usd or 0), reserved.cost_usd > 0
    else:
        amounts = f"{most.tokens:,} tokens", f"{spent.tokens:,}", f"{reserved.tokens:,}"
        gone, held = spent.tokens >= most.tokens, reserved.tokens > 0
    whose = state.budget.name.replace("budget", f"budget of {amounts[0]}", 1)
    whose = whose.replace(f"budget of {amounts[0]} of /", f"budget of {amounts[0]} in /")
    if gone:
        return f"{whose} is spent"
    if not (state.spent.tokens or state.spent.cost_usd):
        return f"{amounts[2]} of {whose} is reserved for what runs"
    return f"{amounts[1]} of {whose} is spent{f' and {amounts[2]} is reserved' if held else ''}"


def _money(amount: float) -> str:
    return f"${amount:,.0f}" if amount == round(amount) else dollars(amount)


def waits_words(state: PeriodState) -> str:
    """Return the reason of a row that waits: ``waits: today's budget of $20 is spent``."""
    return f"waits: {used_words(state)}"


def warning_words(state: PeriodState) -> str:
    """Return the warning of a start beyond a budget that only warns."""
    return f"{used_words(state)}; the session starts, because the budget only warns."


def state_words(state: PeriodState) -> str:
    """Return the state of a budget, one line: ``$12.10 of $20.00 spent, $2.00 reserved, $5.90 left``."""
    words = budget_words(state.budget.most, Account(spent=state.spent, below=state.reserved))
    remarks = [
        "raised" if state.raised else "",
        "only warns" if state.budget.action == "warn" else "",
        blind_words(state.spent.missing) if state.budget.most.cost_usd is not None else "",
    ]
    return "; ".join(filter(None, (words, *remarks)))


def blind_words(unpriced: int) -> str:
    """Return how many sessions cost an unknown amount, which does not count; empty if there is none."""
    if not unpriced:
        return ""
    return (
        "1 session of unknown cost does not count"
        if unpriced == 1
        else (f"{unpriced} sessions of unknown cost do not count")
    )


def refusal_words(state: PeriodState) -> str:
    """Return why a start by hand is refused, and the next step."""
    unit = "usd" if state.budget.most.cost_usd is not None else "tokens"
    where = f" --folder {state.budget.folder}" if state.budget.folder else ""
    raising = f"agentdash budget --{state.budget.period}-{unit} N{where}"
    words = used_words(state)
    return f"{words}. Next: {_wait(state)}, raise it ({raising}), or start with --over-budget."


def agent_refusal_words(state: PeriodState) -> str:
    """Return why a start by an agent is refused; it cannot raise the budget itself."""
    return f"{used_words(state)}. Next: {_wait(state)}, or ask the user to raise it."


def _wait(state: PeriodState) -> str:
    until = "midnight" if state.budget.period == "day" else "Monday"
    return f"wait {'for what runs, or ' if state.reserved != Amount() else ''}until {until}"


def _fits(state: PeriodState, share: Budget) -> bool:
    most, rest = state.budget.most, state.left
    if most.cost_usd is not None:
        left = rest.cost_usd or 0.0
        if left <= _ROUNDING or (share.cost_usd or 0.0) > left + _ROUNDING:
            return False
    if most.tokens is not None:
        tokens = rest.tokens or 0
        if tokens <= 0 or (share.tokens or 0) > tokens:
            return False
    return True


def _rest_tokens(state: PeriodState) -> int | None:
    most = state.budget.most.tokens
    return None if most is None else max(0, most - state.spent.tokens - state.reserved.tokens)


def _rest_cost(state: PeriodState) -> float | None:
    most = state.budget.most.cost_usd
    return None if most is None else max(0.0, most - state.spent.cost_usd - state.reserved.cost_usd)


def _least(before: N | None, part: N) -> N:
    return part if before is None else min(before, part)
