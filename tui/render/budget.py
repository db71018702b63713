"""The budget of a lead as a line, and as JSON."""

from typing import Any

from ...sessions.membership import Budget
from ...sessions.rules.family_account import Amount, budget_words, left_of
from ...sessions.storage.family_budgets import FamilyState
from ...sessions.text.units import count, money


def budget_line(state: FamilyState) -> str:
    """Return the budget of a lead, its sums and its workers, on one line."""
    spent = state.account.spent
    words = f"no budget: {money(spent.cost_usd)} and {spent.tokens:,} tokens spent"
    if state.budget is not None:
        words = budget_words(state.budget, state.account) + ("" if state.own else " (orchestration.budget)")
    return f"{state.name}  {words}; {count(state.account.workers, 'worker')}, {state.account.open} not ended"


def budget_json(state: FamilyState) -> dict[str, Any]:
    """Return the budget of a lead with all its sums; what is not limited is null in ``budget`` and ``left``."""
    budget = state.budget or Budget()
    left = left_of(budget, state.account)
    return {
        "id": state.id,
        "budget": {"tokens": budget.tokens, "cost_usd": budget.cost_usd},
        "source": None if state.budget is None else "session" if state.own else "settings",
        "spent": _amount(state.account.spent),
        "reserved": _amount(state.account.below),
        "left": {"tokens": left.tokens, "cost_usd": left.cost_usd},
        "workers": state.account.workers,
        "open": state.account.open,
    }


def _amount(amount: Amount) -> dict[str, Any]:
    return {"tokens": amount.tokens, "cost_usd": amount.cost_usd}
