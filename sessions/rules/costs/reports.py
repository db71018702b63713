"""The reports of agents about their use of tokens and money, and the choice of those that count.

Agents report the same use several times: after each model call, for the whole turn, and as a running total of the
conversation.  All reports are kept; those of one source count, so that no use counts twice.  Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct, structs

from agentdash.sessions.model.usage import Usage, known_sum
from agentdash.sessions.rules.costs.pricing import Pricing

Kind = Literal["call", "turn", "thread"]
"""One model call, one turn, or a running total of a conversation or a process."""

MESSAGE = "message"
"""claude's messages: one report for each id; the output tokens are those at the message's start
(docs/protocols/claude.md, "Usage")."""
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
TRANSCRIPT = "transcript"
"""claude's messages from its own transcript, for a turn that ended without a sum; sub-agents are among them."""
RECORD = "record"
"""The turn's own sum as its runner recorded it: the only report after a rebuild, and of other agents."""

MOST_PENDING = 10_000
"""Reports that wait to be written at one time; beyond, the turn's own sum counts instead of its calls."""

REST = ""
"""The key of a report without figures: the use that the other reports of its source lack."""

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
        self.pricing = pricing
        self._reports: dict[tuple[str, str], Report] = {}
        self._compactions: dict[int, Compacted] = {}
        self._count = 0
        self._keys: dict[str, int] = {}
        self.broken_off = False
        """True if the turn ended without the agent's sum of its use."""
        self.misses_call = False
        """True if the turn ended during a call of which nothing is reported."""

    def next_key(self, source: str) -> int:
        """Return the next number of a source whose reports have no names, from 1."""
        self._keys[source] = self._keys.get(source, 0) + 1
        return self._keys[source]

    def add(self, report: Report) -> None:
        """Add a report, with its cost if the agent reported none and its model has a price."""
        key = (report.source, report.key[:_MOST_CHARACTERS])
        if len(self._reports) < MOST_PENDING or key in self._reports:
            self._reports[key] = self.pricing.priced(report)

    def break_off(self, calls: Iterable[Report] | None) -> None:
        """Count a turn without a sum by the calls of the agent's own transcript; None if it cannot be read."""
        self.broken_off = True
        for call in calls or ():
            self.add(call)

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


class Base(Struct, frozen=True, kw_only=True):
    """The running totals of claude that were there before a turn."""

    totals: Sequence[Report]
    certain: bool
    """False if they may be those of an earlier process whose totals the turn's process did not take over."""


def own_part(running: Iterable[Report], base: Base, result: Usage) -> list[Report]:
    """Return the part of claude's running totals that belongs to a turn, for each model.

    Totals that are less than the base did not begin with it, so all of them is the turn's.  If the base is not certain,
    neither did totals that are not more than what the turn's results report.

    Args:
        running: the totals of the turn's last result.
        base: the totals before the turn.
        result: the sum of the turn's own results.
    """
    totals = list(running)
    earlier = {one.key: one for one in base.totals}
    by_key = {one.key: one for one in totals}
    continues = all(key in by_key and _includes(by_key[key], one) for key, one in earlier.items())
    if not base.certain:
        tokens, own = _tokens(totals), result.total_tokens or 0
        continues = continues and tokens > own and tokens - _tokens(base.totals) >= own
    if not earlier or not continues:
        return [_own(one, None) for one in totals]
    parts = (_own(one, earlier.get(one.key)) for one in totals)
    return [part for part in parts if part.usage.total_tokens != 0 or part.reported_usd]


def cost_before(total: float, base: Base) -> float:
    """Return the part of a running total of claude's cost that was there before the turn."""
    before = known_sum(*(one.reported_usd for one in base.totals)) or 0.0
    return before if before <= total else 0.0


def _own(total: Report, earlier: Report | None) -> Report:
    cost = total.reported_usd
    if earlier is not None and cost is not None:
        cost = max(0.0, cost - (earlier.reported_usd or 0.0))
    usage = total.usage if earlier is None else total.usage.minus(earlier.usage)
    written_1h = total.written_1h
    if earlier is not None and written_1h is not None:
        written_1h = max(0, written_1h - (earlier.written_1h or 0))
    return structs.replace(total, source=MODELS, kind="turn", usage=usage, written_1h=written_1h, reported_usd=cost)


def _includes(total: Report, earlier: Report) -> bool:
    pairs = ((total.usage.input_tokens, earlier.usage.input_tokens), (total.reported_usd, earlier.reported_usd))
    return all((now or 0) >= (before or 0) for now, before in pairs)


def _tokens(reports: Iterable[Report]) -> int:
    return known_sum(*(one.usage.total_tokens for one in reports)) or 0
