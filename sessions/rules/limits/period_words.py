"""The words for budgets of days and weeks: their state, and why a turn waits, is refused, or ends.  Pure."""

from agentdash.sessions.rules.limits.family_account import Account, Amount, budget_words
from agentdash.sessions.rules.limits.period_budgets import Kind, Lacking, PeriodState, amounts_left, of
from agentdash.sessions.text.units import compared_money, count, money


def used_words(state: PeriodState, kind: Kind | None = None) -> str:
    """Return what is used of a budget: ``today's budget of $20 is spent``, ``… is reserved by 3 turns``.

    ``kind`` is the kind that lacks; None: the one of which nothing is left, or the only one.
    """
    kind = kind or _fullest(state)
    most = of(state.budget.most, kind) or 0.0
    left, spent, reserved = amounts_left(state, kind)
    whose = state.budget.name.replace("budget", f"budget of {_amount(most, kind)}", 1)
    whose = whose.replace(f"{_amount(most, kind)} of /", f"{_amount(most, kind)} in /")
    by = f"by {count(state.turns, 'turn')}"
    if not most:
        return f"{whose} lets nothing start"
    if spent >= most:
        return f"{whose} is spent"
    if not spent:
        return f"{whose if left <= 0 else f'{_short(reserved, kind)} of {whose}'} is reserved {by}"
    held = f" and {_short(reserved, kind)} is reserved {by}" if reserved else ""
    return f"{(state.spent.tokens_words() if kind == 'tokens' else state.spent.dollars())} of {whose} is spent{held}"


def lacking_words(lacking: Lacking) -> str:
    """Return why a turn has no room in a budget, with what it needs if something is left."""
    state, kind, asking = lacking.state, lacking.kind, lacking.asking
    most, (left, _, _) = of(state.budget.most, kind) or 0.0, amounts_left(state, kind)
    words = used_words(state, kind)
    if left <= 0 or not asking.agent:
        return words
    need = _short(asking.needs(kind, most), kind) + (" tokens" if kind == "tokens" else "")
    if of(asking.own, kind) is not None:
        return f"{words}; this turn may use {need}"
    whose = f"a turn of {asking.agent}"
    return f"{words}; {whose} usually uses {need}" if asking.knows(kind) else f"{words}; the use of {whose} is unknown"


def waits_words(lacking: Lacking) -> str:
    """Return the reason of a row that waits: ``waits: today's budget of $20 is spent``."""
    return f"waits: {lacking_words(lacking)}"


def warning_words(state: PeriodState) -> str:
    """Return the warning of a start beyond a budget that only warns."""
    return f"{used_words(state)}; the session starts, because the budget only warns."


def refusal_words(lacking: Lacking) -> str:
    """Return why a start by hand is refused, and the next step."""
    budget = lacking.state.budget
    unit = "usd" if lacking.kind == "cost_usd" else "tokens"
    where = f" --folder {budget.folder}" if budget.folder else ""
    raising = f"agentdash budget --{budget.period}-{unit} N{where}"
    return f"{lacking_words(lacking)}. Next: {_wait(lacking.state)}, raise it ({raising}), or start with --over-budget."


def agent_refusal_words(lacking: Lacking) -> str:
    """Return why a start by an agent is refused; it cannot raise the budget itself."""
    return f"{lacking_words(lacking)}. Next: {_wait(lacking.state)}, or ask the user to raise it."


def state_words(state: PeriodState) -> str:
    """Return the state of a budget, one line: ``$12.10 of $20.00 spent, $2.00 reserved, $5.90 left``."""
    words = budget_words(state.budget.most, Account(spent=state.spent, below=state.reserved))
    remarks = [
        f"changed for {'today' if state.budget.period == 'day' else 'this week'}" if state.raised else "",
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


def _fullest(state: PeriodState) -> Kind:
    limited: list[Kind] = [kind for kind in ("cost_usd", "tokens") if of(state.budget.most, kind) is not None]
    return next((kind for kind in limited if amounts_left(state, kind)[0] <= 0), limited[0])


def _wait(state: PeriodState) -> str:
    until = "midnight" if state.budget.period == "day" else "Monday"
    return f"wait {'for what runs, or ' if state.reserved != Amount() else ''}until {until}"


def _amount(amount: float, kind: Kind) -> str:
    if kind == "tokens":
        return f"{int(amount):,} tokens"
    return f"${amount:,.0f}" if amount == round(amount) else compared_money(amount)


def _short(amount: float, kind: Kind) -> str:
    return f"{int(amount):,}" if kind == "tokens" else _amount(amount, kind) if amount >= 1 else money(amount)
