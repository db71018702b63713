"""The types of what ``usage --json`` prints."""

from msgspec import Struct

from agentdash.sessions.rules.costs.usage_table import Group, UsageRow, UsageTable
from agentdash.sessions.text.units import dollars
from agentdash.tui.texts import usage_texts


class UsedRecord(Struct, frozen=True, kw_only=True):
    """The use of one group; a number is null if it is not known."""

    group: str
    """The value by which it is grouped: a day as ``2026-11-03``, a name, a path, or the id of a session."""
    label: str
    """Its name for people; ``no lead`` for the sessions without a lead, whose ``group`` is empty."""
    session: str | None
    """The id if the group is a session or a lead."""
    sessions: int
    input_tokens: int | None
    cached_input_tokens: int | None
    """A part of ``input_tokens``."""
    cache_write_tokens: int | None
    """A part of ``input_tokens``."""
    output_tokens: int | None
    reasoning_output_tokens: int | None
    """A part of ``output_tokens``."""
    total_tokens: int | None
    tokens_missing: int
    """The number of sessions that used an unknown number of tokens: the counts are lower bounds if it is above 0."""
    reported_usd: float | None
    """US dollars that the agents reported."""
    computed_usd: float | None
    """US dollars computed from tokens and prices, where the agents reported none."""
    missing: int
    """The number of sessions of which a part has no figure: both amounts are a lower bound if it is above 0."""


class UsageRecord(Struct, frozen=True, kw_only=True):
    """The use of all groups."""

    by: str
    since: str | None
    """The first moment, with the offset of the local time zone."""
    until: str | None
    """The moment behind the last one."""
    family: str | None
    rows: tuple[UsedRecord, ...]
    more: int
    """The number of groups beyond ``--most``; they are in ``total``."""
    total: UsedRecord
    prices_as_of: tuple[str, ...]
    """The dates of the prices behind ``computed_usd``."""
    prices_of_settings: bool
    """True if ``computed_usd`` has costs at prices of the settings that have no date."""


def usage_record(table: UsageTable) -> UsageRecord:
    """Return a table as ``--json`` prints it."""
    query = table.query
    return UsageRecord(
        by=query.by,
        since=query.since.isoformat() if query.since is not None else None,
        until=query.until.isoformat() if query.until is not None else None,
        family=query.family,
        rows=tuple(used(row, query.by) for row in table.rows),
        more=table.more,
        total=used(table.total, None),
        prices_as_of=table.prices_as_of,
        prices_of_settings=table.prices_of_settings,
    )


def used(row: UsageRow, by: Group | None) -> UsedRecord:
    """Return a row as ``--json`` and ``--csv`` print it; ``by`` is None for the sum of all groups."""
    usage, cost = row.usage, row.cost
    return UsedRecord(
        group=row.group,
        label=row.label if by is None else usage_texts.label(row, by),
        session=row.session,
        sessions=row.sessions,
        input_tokens=usage.input_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
        reasoning_output_tokens=usage.reasoning_output_tokens,
        total_tokens=usage.total_tokens,
        tokens_missing=row.tokens_missing,
        reported_usd=dollars(cost.reported_usd),
        computed_usd=dollars(cost.computed_usd),
        missing=cost.missing,
    )
