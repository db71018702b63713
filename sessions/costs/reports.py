"""The reports of agents about their use of tokens and money, and the choice of those that count.

Agents report the same use several times: after each model call, for the whole turn, and as a running total of the
conversation.  All reports are kept; those of one source count, so that no use counts twice.  Pure.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from ..values.usage import Usage, known_sum
from .pricing import Pricing

Kind = Literal["call", "turn", "thread"]
"""One model call, one turn, or a running total of a conversation or a process."""

MESSAGE = "message"
"""claude's messages: one report for each id; the output tokens are those at the message's start (protocols 3.2)."""
MODELS = "models"
"""The turn's part of claude's ``modelUsage``, for each model; sub-agents and compactions are in it."""
RUNNING = "running"
"""claude's ``modelUsage`` as it is: a running total of the process (2.1.197) or of the conversation (2.1.330)."""
RESULT = "result"
"""The ``usage`` of claude's results: the main agent's calls alone."""
CALL = "call"
"""codex's model calls, as the app-server reports them."""
ROLLOUT = "rollout"
"""codex's model calls, from its transcript of the thread."""
THREAD = "thread"
"""codex's running total of the thread."""
RECORD = "record"
"""The turn's own sum as its runner recorded it: the only report of turns of earlier versions and of other agents."""

MOST_PENDING = 10_000
"""Reports that wait to be written at one time; beyond, the turn's own sum counts instead of its calls."""

_MOST_CHARACTERS = 200


class Report(Struct, frozen=True, kw_only=True):
    """One report of an agent."""

    source: str
    key: str
    """Names the report among those of its source in the turn; a report with the same key replaces the earlier one."""
    kind: Kind
    model: str | None = None
    usage: Usage
    written_1h: int | None = None
    """The part of the tokens written to the cache that stays for an hour (claude)."""
    at: int | None = None
    """UTC ms; None for the time at which it is recorded."""
    reported_usd: float | None = None
    computed_usd: float | None = None
    price: str | None = None
    """The price entry with which ``computed_usd`` was computed, as JSON."""
    price_as_of: str | None = None
    """The date of that entry."""


class Compacted(Struct, frozen=True, kw_only=True):
    """One compaction of a conversation, for the record."""

    n: int
    """Its number among those of the turn, from 1."""
    at: int | None = None
    trigger: str | None = None
    """``manual`` or ``auto``, in the agent's words; None if it does not name one."""
    step: int | None = None
    """Index of the step that reports it."""
    tokens_before: int | None = None
    tokens_after: int | None = None


class Reported:
    """The reports of a running turn that are not written yet; the parser and the meter add them.

    Args:
        pricing: computes the cost of reports without one.
        model: the model with which the turn begins, if it is known: codex names it only when its process starts.
    """

    def __init__(self, pricing: Pricing, model: str | None = None) -> None:
        self.model = model
        self._pricing = pricing
        self._reports: dict[tuple[str, str], Report] = {}
        self._compactions: dict[int, Compacted] = {}
        self._count = 0
        self._keys: dict[str, int] = {}

    def next_key(self, source: str) -> int:
        """Return the next number of a source whose reports have no names, from 1."""
        self._keys[source] = self._keys.get(source, 0) + 1
        return self._keys[source]

    def add(self, report: Report) -> None:
        """Add a report, with its cost if the agent reported none and its model has a price."""
        key = (report.source, report.key[:_MOST_CHARACTERS])
        if len(self._reports) < MOST_PENDING or key in self._reports:
            self._reports[key] = self._pricing.priced(report)

    def compact(
        self, at: int | None, trigger: str | None, step: int | None, before: int | None, after: int | None
    ) -> None:
        """Add a compaction."""
        self._count += 1
        if len(self._compactions) < MOST_PENDING:
            self._compactions[self._count] = Compacted(
                n=self._count,
                at=at,
                trigger=trigger[:_MOST_CHARACTERS] if trigger else None,
                step=step,
                tokens_before=before,
                tokens_after=after,
            )

    @property
    def pending(self) -> bool:
        """True if something is not written yet."""
        return bool(self._reports or self._compactions)

    def reports(self) -> list[Report]:
        """The reports to write."""
        return list(self._reports.values())

    def compactions(self) -> list[Compacted]:
        """The compactions to write."""
        return list(self._compactions.values())

    def price_date(self, model: str | None) -> str | None:
        """Return the date of a model's price; None if it has none."""
        return self._pricing.as_of(model)

    def written(self) -> None:
        """Forget what was written."""
        self._reports.clear()
        self._compactions.clear()


def counted_source(sums: Mapping[str, Usage], record: Usage) -> str:
    """Return the source that counts for a turn: the finest that is complete, else :data:`RECORD`.

    A source is complete if its tokens are not fewer than the turn's own sum.  Messages of claude never are: they
    report the output as it was at their start.

    Args:
        sums: the sum of the reports of each source.
        record: the turn's own sum.
    """
    for source in (MODELS, CALL, ROLLOUT):
        if source in sums and (sums[source].total_tokens or 0) >= (record.total_tokens or 0):
            return source
    return RECORD


def own_part(running: Iterable[Report], earlier: Mapping[str, Report], result: Usage) -> list[Report]:
    """Return the part of claude's running totals that belongs to a turn, for each model.

    The totals begin with the process or with the conversation.  They began with the turn if they are less than those
    of an earlier turn, or if they are not more than what the turn's results report; else the earlier ones are
    subtracted.

    Args:
        running: the totals of the turn's last result.
        earlier: those of the newest earlier turn of the conversation, by model.
        result: the sum of the turn's own results.
    """
    totals = list(running)
    by_key = {one.key: one for one in totals}
    tokens = _tokens(totals)
    rest = tokens - _tokens(earlier.values())
    continues = all(key in by_key and _includes(by_key[key], one) for key, one in earlier.items())
    if not earlier or not continues or tokens <= (result.total_tokens or 0) or rest < (result.total_tokens or 0):
        return [_own(one, None) for one in totals]
    return [part for one in totals if _is_used(part := _own(one, earlier.get(one.key)))]


def _own(total: Report, earlier: Report | None) -> Report:
    cost = total.reported_usd
    if earlier is not None and cost is not None:
        cost = max(0.0, cost - (earlier.reported_usd or 0.0))
    usage = total.usage if earlier is None else total.usage.minus(earlier.usage)
    return Report(
        source=MODELS, key=total.key, kind="turn", model=total.model, usage=usage, at=total.at, reported_usd=cost
    )


def _includes(total: Report, earlier: Report) -> bool:
    pairs = ((total.usage.input_tokens, earlier.usage.input_tokens), (total.reported_usd, earlier.reported_usd))
    return all((now or 0) >= (before or 0) for now, before in pairs)


def _is_used(part: Report) -> bool:
    return bool(part.usage.total_tokens or part.reported_usd)


def _tokens(reports: Iterable[Report]) -> int:
    return known_sum(*(one.usage.total_tokens for one in reports)) or 0
