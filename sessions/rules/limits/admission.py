"""The decision whether a lead may start one more worker, or send a worker a prompt.  Pure."""

import math
from collections.abc import Sequence

from msgspec import Struct, structs

from agentdash.sessions.model.errors import RefusalError
from agentdash.sessions.model.membership import Budget
from agentdash.sessions.rules.limits.family_account import Amount, left_of
from agentdash.sessions.rules.limits.period_budgets import FIRST, KINDS, LEAST, ROUNDING, Kind, of
from agentdash.sessions.text.units import compared_money


class FamilyLimits(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The part of ``[orchestration]`` that limits the sessions that agents start; it travels with a start."""

    max_depth: int = 3
    max_workers: int = 20
    max_open: int = 8
    max_rounds: int = 0
    """Prompts that agents can send to one worker after its task; 0 does not limit them."""
    budget: Budget = Budget()
    """The budget of a lead that has no lead and no budget of its own."""


class Ledger(Struct, frozen=True, kw_only=True):
    """A lead's budget, and what is left of it for one session below it."""

    name: str
    """Short id of the lead, or the key of an outside lead."""
    outside: bool = False
    """True for an outside lead, whose budget is in the settings."""
    budget: Budget
    spent: Amount
    reserved: Amount
    """Reserved for others than that session and the sessions above it."""

    @property
    def left(self) -> Budget:
        """The amounts that are neither spent nor reserved, for each kind that the budget limits."""
        return left_of(self.budget, self.spent, self.reserved)


class Numbers(Struct, frozen=True, kw_only=True):
    """The numbers of the lead that asks."""

    leads: int
    """Leads above the session that it asks for."""
    workers: int
    """Sessions that it started."""
    open: int
    """Of these, the ones that have not ended."""


def check_numbers(limits: FamilyLimits, now: Numbers) -> None:
    """Check that a lead may have one more worker, whatever it costs.

    Raises:
        RefusalError: ``too_deep`` or ``too_many``.
    """
    if now.leads > limits.max_depth:
        above = "1 lead is" if now.leads == 1 else f"{now.leads} leads are"
        raise RefusalError(
            "too_deep",
            f"{above} above this worker, and orchestration.max_depth is {limits.max_depth}."
            " Next: do the task yourself, or ask the user.",
        )
    if now.workers >= limits.max_workers:
        raise RefusalError(
            "too_many",
            f"{now.workers} of {limits.max_workers} workers were started (orchestration.max_workers)."
            " Next: send a message to one that has ended, or ask the user.",
        )
    if now.open >= limits.max_open:
        raise RefusalError(
            "too_many",
            f"{now.open} of {limits.max_open} workers have not ended (orchestration.max_open)."
            " Next: wait for one of them.",
        )


def check_rounds(limits: FamilyLimits, sent: int) -> None:
    """Check that an agent may send a worker one more prompt.

    Raises:
        RefusalError: ``too_many_rounds``.
    """
    if limits.max_rounds and sent >= limits.max_rounds:
        raise RefusalError(
            "too_many_rounds",
            f"{sent} of {limits.max_rounds} prompts were sent to this worker (orchestration.max_rounds)."
            " Next: go on with what it answered, delegate the rest to another worker, or ask the user.",
        )


def share_of(
    own: Budget | None, ledgers: Sequence[Ledger], limits: FamilyLimits, open_workers: int, usual: Budget | None = None
) -> Budget | None:
    """Return what is reserved for a start: its own budget or, without one, a part of what is left above it.

    The part is what is left, divided by the number of workers that the lead may still open and one for the lead
    itself; but at least the budget divided by ``max_workers`` and one, so that the last of it is not split up, and at
    least what a turn of its agent usually uses: then workers that start at the same time do not pass the budget.

    Args:
        ledgers: the budgets above it, the nearest first.
        open_workers: workers of the lead that have not ended.
        usual: what a turn of its agent usually uses; None for a kind that is not known, of which it reserves half the
            budget at most.  None if it uses no model.

    Raises:
        RefusalError: ``over_budget``: less is left in one of the budgets.
    """
    places = max(1, limits.max_open - open_workers) + 1
    own = own or Budget()
    tokens, cost = own.tokens, own.cost_usd
    for one in ledgers:
        rest, most = one.left, one.budget
        if own.tokens is None and most.tokens is not None:
            part = int(_part(most.tokens, rest.tokens or 0, places, limits, _least(usual, "tokens", most.tokens)))
            tokens = part if tokens is None else min(part, tokens)
        if own.cost_usd is None and most.cost_usd is not None:
            least = _least(usual, "cost_usd", most.cost_usd)
            price = _part(most.cost_usd, rest.cost_usd or 0.0, places, limits, least)
            cost = price if cost is None else min(price, cost)
    share = Budget(tokens=tokens, cost_usd=cost)
    for one in ledgers:
        check_room(one, share)
    return share if share != Budget() else None


def extend(
    share: Budget, own: Budget, spent: Amount, ledgers: Sequence[Ledger], usual: Budget | None
) -> tuple[Budget, str | None]:
    """Return the share of a worker with more of what is left for each kind that it used up.

    A kind of which its own budget leaves nothing keeps its share: that budget ends the worker.  A kind without a
    budget above it has no share.  The second value names the budget, in words, if nothing is left of it.

    Args:
        share: what it reserved, with what it had used before.
        own: its own budget, which counts all that it and those below it used.
        spent: what it and all below it used.
        ledgers: the budgets above it, the nearest first.
        usual: what a turn of its agent usually uses.
    """
    shares: dict[Kind, float | None] = {}
    for kind in KINDS:
        now, used = of(share, kind), spent.tokens if kind == "tokens" else spent.cost_usd
        limited = [(one, most) for one in ledgers if (most := of(one.budget, kind)) is not None]
        shares[kind] = now if limited else None
        limit = of(own, kind)
        if now is None or not limited or used < now or (limit is not None and used >= limit - ROUNDING):
            continue
        parts = []
        for one, most in limited:
            rest = of(one.left, kind) or 0.0
            if rest <= ROUNDING:
                return share, _nothing_left(one, kind)
            need = max(_least(usual, kind, most), most * LEAST) if limit is None else limit - used
            parts.append(min(rest, need))
        shares[kind] = used + min(parts)
    tokens = shares["tokens"]
    return Budget(tokens=None if tokens is None else math.ceil(tokens), cost_usd=shares["cost_usd"]), None


def _nothing_left(ledger: Ledger, kind: Kind) -> str:
    spent, reserved, budget = ledger.spent, ledger.reserved, ledger.budget
    if kind == "tokens":
        used, kept = f"{spent.tokens_words()} of {budget.tokens or 0:,} tokens", f"{reserved.tokens:,}"
    else:
        used, kept = f"{spent.dollars()} of {compared_money(budget.cost_usd or 0.0)}", reserved.dollars()
    return f"budget of lead {ledger.name}: {used} is spent and {kept} reserved for its other workers"


def _least(usual: Budget | None, kind: Kind, budget: float) -> float:
    """Return what a worker reserves at least of a budget."""
    if usual is None:
        return 0.0
    known = of(usual, kind)
    return known if known is not None else min(of(FIRST, kind) or 0.0, budget / 2)


def _part(budget: float, rest: float, places: int, limits: FamilyLimits, least: float) -> float:
    return min(budget, max(rest / places, budget / (limits.max_workers + 1), least))


def check_room(ledger: Ledger, share: Budget) -> None:
    """Check that a share fits into what is left of a budget.

    Raises:
        RefusalError: ``over_budget``.
    """
    rest, budget = ledger.left, ledger.budget
    cost, tokens = share.cost_usd or 0.0, share.tokens or 0
    if rest.cost_usd is not None and (rest.cost_usd <= 0 or cost > rest.cost_usd + ROUNDING):
        used = [one.dollars() if one.cost_usd else "" for one in (ledger.spent, ledger.reserved)]
        raise _over(ledger, compared_money(budget.cost_usd or 0.0), used, compared_money(cost) if cost else "", "usd")
    if rest.tokens is not None and (rest.tokens <= 0 or tokens > rest.tokens):
        used = [one.tokens_words() if one.tokens else "" for one in (ledger.spent, ledger.reserved)]
        raise _over(ledger, f"{budget.tokens or 0:,} tokens", used, f"{tokens:,}" if tokens else "", "tokens")


def check_spent(ledger: Ledger) -> None:
    """Check that something is left of a budget, whatever is reserved: its lead, or a session at work, goes on.

    Raises:
        RefusalError: ``over_budget``.
    """
    check_room(structs.replace(ledger, reserved=Amount()), Budget())


def _over(ledger: Ledger, budget: str, sums: Sequence[str], needed: str, kind: str) -> RefusalError:
    """Return the refusal; ``sums`` are what is spent and what is reserved, each empty for nothing."""
    spent, reserved = sums
    used = f"{spent or 'nothing'} of {budget} is spent{f' and {reserved} reserved' if reserved else ''}"
    whose = f" by {ledger.name} and its workers{f'; this needs {needed}' if needed else ''}"
    way = "orchestration.budget in the settings" if ledger.outside else f"agentdash budget {ledger.name} --{kind} N"
    wait = "wait for what runs, or ask" if reserved else "ask"
    return RefusalError("over_budget", f"{used}{whose}. Next: {wait} the user to raise it: {way}")
