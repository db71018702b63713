"""claude's reports of its use: messages, results, and the totals of each model (Claude Code 2.1.197 to 2.1.330)."""

import re
from collections.abc import Mapping
from functools import reduce

from msgspec import structs

from agentdash.sessions.agents.claude import events
from agentdash.sessions.agents.claude.events import Result
from agentdash.sessions.model.session import Usage, exact_sum, known_sum
from agentdash.sessions.rules.costs.reports import MESSAGE, RESULT, RUNNING, Report, Reported
from agentdash.sessions.rules.turn_facts import Counted


def note_message(reported: Reported | None, message: events.Message, usage: Usage) -> None:
    """Note the use that a message reports at its start; claude's own texts in the model's name used nothing."""
    if reported is None or message.usage is None or message.id is None or message.model == events.SYNTHETIC:
        return
    written_1h = message.usage.written_1h
    reported.add(
        Report(source=MESSAGE, key=message.id, kind="call", model=message.model, usage=usage, written_1h=written_1h)
    )


def note_result(reported: Reported | None, event: events.Result, at: int | None) -> None:
    """Note the use since the previous result, and the running total of each model."""
    if reported is None:
        return
    if event.usage is not None:
        usage, written_1h = event.usage.counted(), event.usage.written_1h
        key = str(reported.next_key(RESULT))
        reported.add(Report(source=RESULT, key=key, kind="turn", usage=usage, written_1h=written_1h, at=at))
    for report in running_totals(event.model_usage or {}, at, event.total_cost_usd):
        reported.add(report)


def running_totals(
    models: Mapping[str, events.ModelUsage], at: int | None = None, total_usd: float | None = None
) -> list[Report]:
    """Return a report for the running total of each model.

    Models whose cost cannot be read share the rest of the total by their tokens.
    """
    known = known_sum(*(used.cost_usd for used in models.values())) or 0.0
    lacking = sum(used.tokens or 1 for used in models.values() if used.cost_usd is None)
    rest = (total_usd - known) / lacking if lacking and total_usd is not None and total_usd > known else None
    return [
        Report(
            source=RUNNING,
            key=model,
            kind="thread",
            model=model,
            usage=used.counted(),
            written_1h=used.written_1h,
            at=at,
            reported_usd=used.cost_usd if used.cost_usd is not None or rest is None else rest * (used.tokens or 1),
        )
        for model, used in list(models.items())[:_MOST_MODELS]
    ]


def filled(reported: events.ApiUsage | None, messages: Usage) -> Usage:
    """Return the use that a result reports; a count that could not be read is that of its messages."""
    read = reported.counted() if reported is not None else Usage()
    if read.total_tokens is not None:
        return read
    given = {name: value for name, value in structs.asdict(read).items() if value is not None}
    both = structs.replace(messages, **given)
    return structs.replace(both, total_tokens=exact_sum(both.input_tokens, both.output_tokens))


def note_compaction(reported: Reported | None, event: events.System, step: int, at: int | None) -> None:
    """Note a ``compact_boundary``."""
    if reported is not None:
        known = event.compact_metadata or events.CompactMetadata()
        reported.compact(at, known.trigger, step, known.pre_tokens, known.post_tokens)


_MOST_MODELS = 100


_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})")


def counted_by(version: str | None) -> Counted | None:
    """Return what the running totals of a version of claude count; None if it is between the versions seen.

    Those of 2.1.197 begin with each process.  2.1.330 writes them into the transcript when its process ends, and the
    next process goes on from there, also if it forks the conversation; nothing is written if the process is killed
    (docs/protocols/claude.md, "Usage").
    """
    match = _VERSION.match(version or "")
    if match is None:
        return None
    numbers = tuple(map(int, match.groups()))
    if numbers <= _OF_PROCESS:
        return "process"
    return "conversation" if numbers >= _OF_CONVERSATION else None


_OF_PROCESS = (2, 1, 197)
_OF_CONVERSATION = (2, 1, 330)


class RunningCost:
    """Finds out which part of a live claude's running total belongs to this turn.

    The total counts the process (2.1.197), or the conversation with all processes that resumed it (2.1.330).  The
    lines of a turn show its own part only if the total began with the turn; else the caller has to subtract the total
    of the turn before.
    """

    def __init__(self) -> None:
        self.total: float | None = None
        """The newest total; None before the first result."""
        self._before: float | None = None
        """The total before this turn; None if it is not known."""

    @property
    def own(self) -> float | None:
        """The cost of this turn; None if it is not known."""
        return self.total - self._before if self.total is not None and self._before is not None else None

    def add(self, result: Result, used: Usage) -> float | None:
        """Read one result, and return the cost since the previous one; None if it is not known.

        Args:
            used: the tokens that the turn has used, this result's included, as far as they could be read.
        """
        if result.total_cost_usd is None:
            return None
        earlier, self.total = self.total, result.total_cost_usd
        if earlier is not None:
            return self.total - earlier
        models = [one.counted() for one in (result.model_usage or {}).values()]
        self._before = 0.0 if not models or _within(reduce(_exactly, models), used) else None
        return self.own


def _exactly(one: Usage, other: Usage) -> Usage:
    """Add what two models used; a count that one of them lacks is not known."""
    output = exact_sum(one.output_tokens, other.output_tokens)
    return Usage.of(exact_sum(one.input_tokens, other.input_tokens), output=output)


def _within(total: Usage, used: Usage) -> bool:
    """Return whether a running total has no more than the turn used, by their sums or else by the counts of both."""
    if total.total_tokens is not None and used.total_tokens is not None:
        return total.total_tokens <= used.total_tokens
    pairs = [(total.input_tokens, used.input_tokens), (total.output_tokens, used.output_tokens)]
    known = [whole <= part for whole, part in pairs if whole is not None and part is not None]
    return bool(known) and all(known)
