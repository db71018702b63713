"""The costs of a turn that has ended, computed again with the prices in force.  Pure.

A computed cost keeps the price with which it was computed, so that history does not change by itself.  Only the user's
request computes one again.  What an agent reported never changes.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, structs

from agentdash.sessions.model.usage import known_sum
from agentdash.sessions.rules.costs.cost import Cost
from agentdash.sessions.rules.costs.pricing import Pricing, is_meant, plain_name
from agentdash.sessions.rules.costs.reports import MESSAGE, RECORD, Report


class Choice(Struct, frozen=True, kw_only=True):
    """The costs that are computed again."""

    every: bool = False
    """Also those that were computed with another price; else only those that are not known."""
    model: str | None = None
    """A model, or a pattern as in ``[prices."PATTERN"]``; None for all models."""

    def covers(self, model: str | None) -> bool:
        """Return whether the costs of a model are meant."""
        return self.model is None or (model is not None and is_meant(model, self.model))


class KeptReport(Struct, frozen=True, kw_only=True):
    """A report as it is recorded."""

    report: Report
    counted: bool
    """It counts for the turn."""


class TurnCost(Struct, frozen=True, kw_only=True):
    """The result for one turn."""

    reports: tuple[Report, ...] = ()
    """The reports that change; empty if nothing changes."""
    about_usd: float | None = None
    """The estimated cost of the turn beyond the one that its agent reported; None if it stays as it is recorded."""
    before: Cost = Cost()
    after: Cost = Cost()
    unpriced: frozenset[str] = frozenset()
    """The models without a price, of the reports that stay without a cost."""
    uncertain: bool = False
    """A report stays without a cost for another reason: its model, its tokens or the longest prompt is not known."""


class Estimates(Struct, frozen=True, kw_only=True):
    """The estimated costs of a deleted session."""

    turns: Mapping[int, float | None]
    """Those of its turns, by their numbers."""
    whole: float | None
    missing: int
    """The number of turns of which a part has no cost."""


class RepricedCosts(Struct, frozen=True, kw_only=True):
    """The result for all turns."""

    turns: int = 0
    """The turns whose cost was computed again."""
    sessions: int = 0
    """Their sessions."""
    before: Cost = Cost()
    """The cost of these turns before; ``missing`` counts those without a complete figure."""
    after: Cost = Cost()
    not_ended: int = 0
    """Turns that were left out because they have not ended."""
    uncertain: int = 0
    """Turns whose cost stays unknown for another reason: their model, tokens or longest prompt is not known."""
    unpriced: tuple[str, ...] = ()
    """The models of use without a cost that have no price, in order."""


class Repricing:
    """Computes the costs of turns again.

    Args:
        pricing: the prices in force.
        choice: which costs are computed again.
    """

    def __init__(self, pricing: Pricing, choice: Choice) -> None:
        self._pricing = pricing
        self._choice = choice

    def turn(self, kept: Iterable[KeptReport]) -> TurnCost:
        """Return the costs of a turn with these reports."""
        listed = [one for one in kept if one.report.kind != "thread"]
        counted = [one.report for one in listed if one.counted]
        others = [one.report for one in listed if not one.counted]
        record = next((one for one in counted if one.source == RECORD), None)
        changed = self._finer(counted) if record is None else self._own_sum(record, others)
        after = _replaced(counted, changed)
        about = _about(after) if changed else None
        own = next((one for one in others if one.source == RECORD), None)
        if about is not None and own is not None:
            changed = [*changed, structs.replace(own, computed_usd=about, price=None, price_as_of=_date(after))]
        lacking = [one for one in after if not _has_cost(one)]
        if record is not None and lacking:
            lacking = [one for one in others if one.source == MESSAGE and not _has_cost(one)] or lacking
        lacking = [one for one in lacking if self._choice.covers(one.model)]
        named = {one.model for one in lacking if one.model and not one.model.startswith("<")}
        unpriced = frozenset(model for model in named if self._pricing.entry(model) is None)
        return TurnCost(
            reports=tuple(changed),
            about_usd=about,
            before=_cost(counted),
            after=_cost(after),
            unpriced=unpriced,
            uncertain=any(one.model not in unpriced for one in lacking),
        )

    def _finer(self, reports: Sequence[Report]) -> list[Report]:
        return [again for one in reports if (again := self._again(one)) is not None]

    def _own_sum(self, record: Report, others: Sequence[Report]) -> list[Report]:
        """Return the changes if the turn's own sum counts.

        Its cost is that of claude's messages, as its runner computes it, or that of its tokens.  These have a certain
        price only if no other report of the turn names another model.
        """
        if record.reported_usd is not None:
            return []
        messages = [one for one in others if one.source == MESSAGE]
        if messages and _is_sum(record, messages):
            changed = self._finer(messages)
            now = _replaced(messages, changed)
            if all(map(_has_cost, now)) and (changed or record.computed_usd is None):
                cost = known_sum(*(one.computed_usd for one in now))
                prices = {one.price for one in now}
                price = prices.pop() if len(prices) == 1 else None
                return [*changed, structs.replace(record, computed_usd=cost, price=price, price_as_of=_date(now))]
            if record.computed_usd is not None:
                return []
        models = {plain_name(one.model) for one in others if one.model}
        if record.model is None or models - {plain_name(record.model)}:
            return []
        return self._finer([record])

    def _again(self, report: Report) -> Report | None:
        """Return a report with its cost at the price in force; None if it stays as it is."""
        known = report.computed_usd is not None
        if report.reported_usd is not None or not self._choice.covers(report.model):
            return None
        if known and not self._choice.every:
            return None
        fresh = self._pricing.priced(structs.replace(report, computed_usd=None, price=None, price_as_of=None))
        return None if fresh.computed_usd is None or (known and _same_price(report, fresh)) else fresh


class Tally:
    """Adds up the results of turns."""

    def __init__(self) -> None:
        self._result = RepricedCosts()
        self._sessions: set[str] = set()
        self._unpriced: set[str] = set()

    def add(self, session: str, cost: TurnCost, *, ended: bool) -> None:
        """Add the result for one turn."""
        known = self._result
        stays = bool(cost.unpriced) or cost.uncertain
        if not ended:
            self._result = structs.replace(known, not_ended=known.not_ended + bool(cost.reports or stays))
            return
        self._unpriced |= cost.unpriced
        known = structs.replace(known, uncertain=known.uncertain + cost.uncertain)
        if cost.reports:
            self._sessions.add(session)
            known = structs.replace(
                known, turns=known.turns + 1, before=known.before.plus(cost.before), after=known.after.plus(cost.after)
            )
        self._result = known

    def result(self) -> RepricedCosts:
        """Return the sum."""
        return structs.replace(self._result, sessions=len(self._sessions), unpriced=tuple(sorted(self._unpriced)))


def _replaced(reports: Sequence[Report], changed: Sequence[Report]) -> list[Report]:
    now = {(one.source, one.key): one for one in changed}
    return [now.get((one.source, one.key), one) for one in reports]


def _about(counted: Sequence[Report]) -> float | None:
    """Return the estimated cost of a turn beyond the reported one; None if it is not complete and none is reported."""
    computed = known_sum(*(one.computed_usd for one in counted))
    complete = all(map(_has_cost, counted)) or any(one.reported_usd is not None for one in counted)
    return computed if complete else None


def _cost(counted: Sequence[Report]) -> Cost:
    return Cost(
        reported_usd=known_sum(*(one.reported_usd for one in counted)),
        computed_usd=known_sum(*(one.computed_usd for one in counted)),
        missing=int(not all(map(_has_cost, counted))),
    )


def _has_cost(report: Report) -> bool:
    return report.reported_usd is not None or report.computed_usd is not None


def _is_sum(record: Report, messages: Sequence[Report]) -> bool:
    """Return whether a turn's own cost is that of its messages, or is not known."""
    if record.computed_usd is None:
        return True
    return math.isclose(record.computed_usd, known_sum(*(one.computed_usd for one in messages)) or 0.0, rel_tol=1e-9)


def _same_price(report: Report, fresh: Report) -> bool:
    """Return whether both have the same price; a sum at several prices has only a date, one of a rebuild nothing."""
    if report.price is not None:
        return report.price == fresh.price
    return report.price_as_of is not None and report.price_as_of == fresh.price_as_of


def _date(reports: Iterable[Report]) -> str | None:
    """Return the newest date of the prices of several reports."""
    return max((one.price_as_of for one in reports if one.price_as_of is not None), default=None)
