"""The budgets of days and weeks: which of them bind a folder, what is left, the shares of turns, and the words.  Pure.

A turn starts only if what is left covers what it will use: its own limit, or what turns of its agent usually use.  So
of any number of turns that start at the same time, only those get a place that the budget can pay for, also if their
agent reports what it used only at its end.  A turn that used up its share reserves as much again, or what is left, and
ends if nothing is."""

import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Literal

from msgspec import Struct

from agentdash.sessions.model.membership import Budget
from agentdash.sessions.rules.costs.usage_table import begin
from agentdash.sessions.rules.limits.family_account import Account, Amount, budget_words, crossed, left_of
from agentdash.sessions.text.units import compared_money, count, money

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
        return left_of(self.budget.most, self.spent, self.reserved)


def end_of(period: Period, day: date) -> datetime:
    """Return the local midnight at which the period of a day ends."""
    days = 1 if period == "day" else 7
    return datetime.combine(begin(day, period) + timedelta(days=days), time())


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


Kind = Literal["tokens", "cost_usd"]
KINDS: tuple[Kind, ...] = ("tokens", "cost_usd")

FIRST = Budget(tokens=500_000, cost_usd=1.0)
"""The share of a turn while no turn of its agent has ended with a figure."""

RECENT = 20
"""The ended turns of an agent from which follows what a turn usually uses."""

_FLOOR = Budget(tokens=1, cost_usd=0.000001)
"""The least share of a turn whose own limit leaves nothing."""

_PART = 0.9
"""Part of the recent turns that used no more than the usual use."""

LEAST = 0.001
"""The least share, as a part of the budget."""


def amounts_left(state: PeriodState, kind: Kind) -> tuple[float, float, float]:
    """Return what is left of a kind, what is spent, and what is reserved; nothing is left if it is not limited."""
    left, spent, reserved = of(state.left, kind) or 0.0, of(state.spent, kind), of(state.reserved, kind)
    return left, spent or 0.0, reserved or 0.0


class Asking(Struct, frozen=True, kw_only=True):
    """A turn that asks for a share."""

    own: Budget = Budget()
    """The amounts that its own limits leave to it; None for a kind without one."""
    usual: Budget = Budget()
    """The usual use of a turn of its agent; None for a kind that no turn reported."""
    agent: str = ""

    def needs(self, kind: Kind, most: float) -> float:
        """Return the share of a budget of ``most`` that it needs; a turn that uses more can have all of it."""
        own = self.limit(kind)
        if own is not None:
            return min(own, most)
        usual = of(self.usual, kind)
        need = max(of(FIRST, kind) or 0.0 if usual is None else usual, most * LEAST)
        return min(math.ceil(need) if kind == "tokens" else need, most)

    def limit(self, kind: Kind) -> float | None:
        """Return the most that its own limits let it reserve; None without one."""
        own = of(self.own, kind)
        return None if own is None else max(own, of(_FLOOR, kind) or 0.0)

    def knows(self, kind: Kind) -> bool:
        """Return whether the share follows from a limit or from earlier turns; else it is a guess."""
        return of(self.own, kind) is not None or of(self.usual, kind) is not None


class Lacking(Struct, frozen=True, kw_only=True):
    """A budget in which a turn has no room."""

    state: PeriodState
    kind: Kind
    asking: Asking = Asking()

    @property
    def for_turns(self) -> bool:
        """True if there can be room when the turns that run have ended."""
        left, spent, reserved = amounts_left(self.state, self.kind)
        most = of(self.state.budget.most, self.kind) or 0.0
        known = self.asking.knows(self.kind)
        fits = self.asking.needs(self.kind, most) <= left + reserved + ROUNDING if known else spent < most
        return reserved > ROUNDING and fits


class Share(Struct, frozen=True, kw_only=True):
    """The amounts up to which a turn that runs needs no further room."""

    most: Budget = Budget()
    """The sums of its session up to which the share reaches; None for a kind without a share."""
    lacking: str | None = None
    """Why there is no more: the budget, in words; None if there is."""

    def used_up(self, tokens: int | None, cost_usd: float | None) -> bool:
        """Return whether the sums of the session have reached the end of the share."""
        return used_up(self.most, Budget(tokens=tokens, cost_usd=cost_usd))


def least_of(shares: Sequence[Share]) -> Share | None:
    """Return the share that several budgets leave together; None if there is none."""
    if not shares:
        return None
    tokens = [one.most.tokens for one in shares if one.most.tokens is not None]
    costs = [one.most.cost_usd for one in shares if one.most.cost_usd is not None]
    return Share(
        most=Budget(tokens=min(tokens, default=None), cost_usd=min(costs, default=None)),
        lacking=next((one.lacking for one in shares if one.lacking is not None), None),
    )


def usual_of(recent: Sequence[Budget]) -> Budget:
    """Return what nine of ten of the recent turns of an agent used at most; None for a kind that none reported."""
    tokens = sorted(one.tokens for one in recent if one.tokens is not None)
    costs = sorted(one.cost_usd for one in recent if one.cost_usd is not None)
    return Budget(
        tokens=tokens[_rank(len(tokens))] if tokens else None, cost_usd=costs[_rank(len(costs))] if costs else None
    )


def grant(asking: Asking, states: Sequence[PeriodState], *, free: bool = False) -> Budget | Lacking:
    """Return the share that a start reserves, or the budget in which it has no room.

    It has room if what is left covers what it needs.  While the use of a turn of its agent is unknown, it
    also has room if no other turn runs: it then reserves all that is left.

    Args:
        states: the budgets that bind it and that stop.
        free: the user starts it beyond the budgets: it reserves what there is.
    """
    shares: dict[Kind, float] = {}
    lacking: list[Lacking] = []
    for kind in KINDS:
        part = asking.limit(kind)
        for one in states:
            most = of(one.budget.most, kind)
            if most is None:
                continue
            left, _, reserved = amounts_left(one, kind)
            need = asking.needs(kind, most)
            alone = not asking.knows(kind) and reserved <= ROUNDING
            if not free and (left <= ROUNDING or (need > left + ROUNDING and not alone)):
                lacking.append(Lacking(state=one, kind=kind, asking=asking))
            part = min(left, need) if part is None else min(part, left, need)
        if part is not None:
            shares[kind] = part
    if lacking:
        return next((one for one in lacking if not one.for_turns), lacking[0])
    return _share(shares)


def extend(asking: Asking, states: Sequence[PeriodState], share: Budget, used: Budget) -> Budget | Lacking:
    """Return the share of a turn that runs, with more of what is left for each kind that it used up.

    A kind of which its own limits leave nothing keeps its share: those limits end the turn.  A kind
    without a budget has no share.

    Args:
        states: the budgets that bind it and that stop, with what the turn used as spent.
        share: what it reserved.
        used: what it used of that.
    """
    shares: dict[Kind, float] = {}
    for kind in KINDS:
        now, limited = of(share, kind), [one for one in states if of(one.budget.most, kind) is not None]
        if now is None or not limited:
            continue
        shares[kind] = now
        own = of(asking.own, kind)
        if (of(used, kind) or 0.0) < now or (own is not None and own <= ROUNDING):
            continue
        parts = []
        for one in limited:
            left, _, _ = amounts_left(one, kind)
            if left <= ROUNDING:
                return Lacking(state=one, kind=kind)
            parts.append(min(left, asking.needs(kind, of(one.budget.most, kind) or 0.0)))
        shares[kind] = (of(used, kind) or 0.0) + min(parts)
    return _share(shares)


def of(amounts: Budget | Amount, kind: Kind) -> float | None:
    """Return the amount of a kind; None if there is none."""
    return amounts.tokens if kind == "tokens" else amounts.cost_usd


def used_up(share: Budget, used: Budget) -> bool:
    """Return whether nothing is left of a share in one of its kinds."""
    return any((most := of(share, kind)) is not None and (of(used, kind) or 0.0) >= most for kind in KINDS)


def full(states: Iterable[PeriodState]) -> list[PeriodState]:
    """Return the budgets of which nothing is left."""
    return [
        one
        for one in states
        if any(of(one.budget.most, kind) is not None and amounts_left(one, kind)[0] <= ROUNDING for kind in KINDS)
    ]


def _rank(number: int) -> int:
    return max(0, math.ceil(_PART * number) - 1)


def _share(shares: dict[Kind, float]) -> Budget:
    tokens, cost = shares.get("tokens"), shares.get("cost_usd")
    return Budget(tokens=None if tokens is None else int(tokens), cost_usd=cost)


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
    if unpriced == 1:
        return "1 session of unknown cost does not count"
    return f"{unpriced} sessions of unknown cost do not count" if unpriced else ""


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
