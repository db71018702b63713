"""claude's reports of its use: messages, results, and the totals of each model (Claude Code 2.1.197 to 2.1.330)."""

from collections.abc import Mapping

from msgspec import structs

from ....costs.reports import MESSAGE, RESULT, RUNNING, Report, Reported
from ....model import Usage, exact_sum, known_sum
from .. import events


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
