"""claude's reports of its use: messages, results, and the totals of each model (Claude Code 2.1.197 to 2.1.330)."""

from collections.abc import Mapping

from ....costs.reports import MESSAGE, RESULT, RUNNING, Report, Reported
from ....model import Usage
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
    for report in running_totals(event.model_usage or {}, at):
        reported.add(report)


def running_totals(models: Mapping[str, events.ModelUsage], at: int | None = None) -> list[Report]:
    """Return a report for the running total of each model."""
    return [
        Report(
            source=RUNNING,
            key=model,
            kind="thread",
            model=model,
            usage=used.counted(),
            written_1h=used.written_1h,
            at=at,
            reported_usd=used.cost_usd,
        )
        for model, used in list(models.items())[:_MOST_MODELS]
    ]


def note_compaction(reported: Reported | None, event: events.System, step: int, at: int | None) -> None:
    """Note a ``compact_boundary``."""
    if reported is not None:
        known = event.compact_metadata or events.CompactMetadata()
        reported.compact(at, known.trigger, step, known.pre_tokens, known.post_tokens)


_MOST_MODELS = 100
