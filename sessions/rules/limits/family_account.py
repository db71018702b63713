"""The tokens and the money of a family: spent, reserved for sessions that have not ended, and left.  Pure."""

from collections.abc import Collection, Sequence
from operator import add

from msgspec import Struct, structs

from agentdash.sessions.model.membership import Budget
from agentdash.sessions.rules.costs.cost import Cost, tokens_words
from agentdash.sessions.text.units import compared_money, money


class Amount(Struct, frozen=True):
    """Tokens and US dollars; what no agent reported counts as 0."""

    tokens: int = 0
    cost_usd: float = 0.0
    """With the computed part."""
    computed_usd: float = 0.0
    missing: int = 0
    """Sessions that used a model at a cost that is unknown in part or as a whole; it does not count."""
    tokens_missing: int = 0
    """Sessions that used an unknown number of tokens, in part or as a whole; it does not count."""

    def plus(self, other: "Amount") -> "Amount":
        """Add both."""
        return Amount(*map(add, structs.astuple(self), structs.astuple(other)))

    @property
    def cost(self) -> Cost:
        """The cost with its provenance; no figure if nothing was spent."""
        reported = max(0.0, self.cost_usd - self.computed_usd)
        return Cost(reported_usd=reported or None, computed_usd=self.computed_usd or None, missing=self.missing)

    def dollars(self, *, above: float = 0.0) -> str:
        """Return the money with its marks: ``$1.20``, ``~$1.20``, ``≥$1.20``; ``?`` if all of it is unknown."""
        if not self.cost_usd:
            return self.cost.mark or "$0.00"
        return f"{self.cost.mark}{compared_money(self.cost_usd, above=above)}"

    def tokens_words(self, *, exact: bool = True) -> str:
        """Return the tokens with their mark: ``1,200``, ``≥1,200``; ``?`` if all of them are unknown."""
        known = None if self.tokens_missing and not self.tokens else self.tokens
        return tokens_words(known, self.tokens_missing, exact=exact)


class Member(Struct, frozen=True, kw_only=True):
    """One session of a family, also one that was deleted."""

    id: str
    above: str | None
    """Its parent, or the outside lead that requested it; None if neither is recorded."""
    spent: Amount = Amount()
    open: bool = False
    """True if it has not ended."""
    share: Budget | None = None
    """The reservation for it and all below it, made when it was admitted."""


class Account(Struct, frozen=True, kw_only=True):
    """The sums of a session or an outside lead, and all sessions below it."""

    spent: Amount = Amount()
    below: Amount = Amount()
    """Reserved for the open sessions below it."""
    reserved: Amount = Amount()
    """Reserved for it and the open sessions below it: its own share can be greater than theirs."""
    workers: int = 0
    """Sessions directly below it, the deleted ones included."""
    open: int = 0
    """Of these, the ones that have not ended."""


def accounts(members: Sequence[Member]) -> dict[str, Account]:
    """Return the sums of every member and of everything above one, by id.

    A session reserves the rest of its share while it is open, but at least what the sessions below it reserve.

    Args:
        members: each after the one above it.
    """
    sums: dict[str, Account] = {}
    for member in reversed(members):
        below = sums.get(member.id, Account())
        spent = below.spent.plus(member.spent)
        share = member.share if member.open and member.share is not None else Budget()
        rest = left_of(share, spent, Amount())
        reserved = Amount(max(rest.tokens or 0, below.below.tokens), max(rest.cost_usd or 0.0, below.below.cost_usd))
        sums[member.id] = Account(
            spent=spent, below=below.below, reserved=reserved, workers=below.workers, open=below.open
        )
        if member.above is not None:
            above = sums.get(member.above, Account())
            sums[member.above] = Account(
                spent=above.spent.plus(spent),
                below=above.below.plus(reserved),
                reserved=above.reserved,
                workers=above.workers + 1,
                open=above.open + member.open,
            )
    return sums


def reserved_beside(members: Sequence[Member], sums: dict[str, Account], path: Collection[str]) -> Amount:
    """Return what is reserved below the ids of ``path``, without what these reserve themselves."""
    reserved = Amount()
    for member in members:
        if member.above in path and member.id not in path:
            reserved = reserved.plus(sums[member.id].reserved)
    return reserved


def crossed(budget: Budget, spent: Amount) -> str | None:
    """Return what is spent of a budget that is crossed: ``$2.03 of $2.00``; None if it is not crossed."""
    if budget.cost_usd is not None and spent.cost_usd > budget.cost_usd:
        return f"{spent.dollars(above=budget.cost_usd)} of {compared_money(budget.cost_usd)}"
    if budget.tokens is not None and spent.tokens > budget.tokens:
        return f"{spent.tokens_words()} of {budget.tokens:,} tokens"
    return None


def left_of(budget: Budget, spent: Amount, reserved: Amount) -> Budget:
    """Return what is neither spent nor reserved, for each kind that the budget limits."""
    tokens = None if budget.tokens is None else max(0, budget.tokens - spent.tokens - reserved.tokens)
    cost = None if budget.cost_usd is None else max(0.0, budget.cost_usd - spent.cost_usd - reserved.cost_usd)
    return Budget(tokens=tokens, cost_usd=cost)


def budget_words(budget: Budget, account: Account) -> str:
    """Return the state of a budget, one line: ``$1.20 of $5.00 spent, $0.60 reserved, $3.20 left``."""
    left, parts = left_of(budget, account.spent, account.below), []
    if budget.cost_usd is not None:
        reserved = compared_money(account.below.cost_usd) if account.below.cost_usd else ""
        parts.append(
            _words(account.spent.dollars(), compared_money(budget.cost_usd), reserved, money(left.cost_usd or 0.0))
        )
    if budget.tokens is not None:
        reserved = f"{account.below.tokens:,}" if account.below.tokens else ""
        parts.append(_words(account.spent.tokens_words(), f"{budget.tokens:,} tokens", reserved, f"{left.tokens:,}"))
    return "; ".join(parts)


def _words(spent: str, budget: str, reserved: str, left: str) -> str:
    return ", ".join(filter(None, (f"{spent} of {budget} spent", reserved and f"{reserved} reserved", f"{left} left")))
