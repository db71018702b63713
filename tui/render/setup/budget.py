"""A budget of a day, a week or a lead, as a line and as JSON."""

from typing import Any

from msgspec import to_builtins

from agentdash.sessions.model.membership import Budget
from agentdash.sessions.rules.costs.cost import cost_words
from agentdash.sessions.rules.json_schema import rounded
from agentdash.sessions.rules.limits.family_account import Amount, budget_words, left_of
from agentdash.sessions.rules.limits.period_budgets import PeriodState, state_words
from agentdash.sessions.storage.families.family_budgets import FamilyState
from agentdash.sessions.text.units import count, money


def budget_line(state: FamilyState) -> str:
    """Return the budget of a lead, its sums and its workers, on one line."""
    spent = state.account.spent
    words = f"no budget: {cost_words(spent.cost, money(0.0))} and {spent.tokens_words()} tokens spent"
    if state.budget is not None:
        words = budget_words(state.budget, state.account) + ("" if state.own else " (orchestration.budget)")
    return f"{state.name}  {words}; {count(state.account.workers, 'worker')}, {state.account.open} not ended"


def period_line(state: PeriodState) -> str:
    """Return the state of the budget of a day or a week, on one line."""
    return f"{state.budget.name}  {state_words(state)}"


def period_json(state: PeriodState) -> dict[str, Any]:
    """Return the budget of a day or a week with what is used of it; what is not limited is null."""
    budget, left = state.budget, state.left
    return rounded(
        {
            "folder": budget.folder or None,
            "period": budget.period,
            "action": budget.action,
            "budget": {"tokens": budget.most.tokens, "cost_usd": budget.most.cost_usd},
            "raised": state.raised,
            "spent": _spent(state.spent),
            "reserved": _amount(state.reserved),
            "left": {"tokens": left.tokens, "cost_usd": left.cost_usd},
            "unknown_cost": state.spent.missing,
        }
    )


def budget_json(state: FamilyState) -> dict[str, Any]:
    """Return the budget of a lead with all its sums; what is not limited is null in ``budget`` and ``left``."""
    budget = state.budget or Budget()
    left = left_of(budget, state.account.spent, state.account.below)
    return rounded(
        {
            "id": state.id,
            "budget": {"tokens": budget.tokens, "cost_usd": budget.cost_usd},
            "source": None if state.budget is None else "session" if state.own else "settings",
            "spent": _spent(state.account.spent),
            "reserved": _amount(state.account.below),
            "left": {"tokens": left.tokens, "cost_usd": left.cost_usd},
            "workers": state.account.workers,
            "open": state.account.open,
        }
    )


def _spent(amount: Amount) -> dict[str, Any]:
    return _amount(amount) | {**to_builtins(amount.cost), "tokens_missing": amount.tokens_missing}


def _amount(amount: Amount) -> dict[str, Any]:
    return {"tokens": amount.tokens, "cost_usd": amount.cost_usd}
