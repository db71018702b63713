"""The use of tokens and money over time, by groups: the question and its answer.  Pure but for the time zone.

A day is a local day of the user's time zone.  A week begins on Monday."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, get_args

from msgspec import Struct, field

from agentdash.sessions.model.usage import Usage
from agentdash.sessions.rules.costs.cost import Cost

Group = Literal["day", "week", "month", "agent", "model", "folder", "lead", "session"]
"""The facts by which use is grouped."""

Step = Literal["day", "week", "month"]
"""The lengths of a column."""

GROUPS: tuple[Group, ...] = get_args(Group)
STEPS: tuple[Step, ...] = get_args(Step)


class UsageQuery(Struct, frozen=True, kw_only=True):
    """A question about the use of tokens and money."""

    by: Group
    since: datetime | None = None
    """The earliest moment that counts; None for all.  Without a time zone it is local time."""
    until: datetime | None = None
    """The moment before which it counts; None for all."""
    step: Step | None = None
    """The length of the columns; None for no columns."""
    family: str | None = None
    """The id of a lead, or an outside lead such as ``claude:ID``: it and all below it count, nothing else."""
    most: int | None = None
    """The greatest number of groups: of periods the newest, of others those with the greatest cost; None for all."""


class UsageRow(Struct, frozen=True, kw_only=True):
    """The use of one group."""

    group: str
    """The key of the group: an ISO date, an agent, a model, a folder, a lead's key or a session's id."""
    label: str
    """Its text for people; not cleaned."""
    sessions: int
    usage: Usage = field(default_factory=Usage)
    cost: Cost = field(default_factory=Cost)
    """``missing`` counts the sessions of which a part has no cost."""
    tokens_missing: int = 0
    """Sessions that used an unknown number of tokens."""
    session: str | None = None
    """The id of the session that the row is about: of a session or a lead; None for other groups and outside leads."""


class UsageColumn(Struct, frozen=True, kw_only=True):
    """The use of one day, week or month by groups; only groups that used something are in it."""

    start: date
    """Its first local day."""
    rows: tuple[UsageRow, ...] = ()


class UsageTable(Struct, frozen=True, kw_only=True):
    """The answer to a query."""

    query: UsageQuery
    rows: tuple[UsageRow, ...]
    """The groups over the whole time: periods in their order, other groups with the greatest cost and use first."""
    more: int = 0
    """The number of groups beyond the most; they are in the total, and in columns as one group."""
    columns: tuple[UsageColumn, ...]
    """The columns with any use, in the order of time; empty without a step."""
    total: UsageRow
    prices_as_of: tuple[str, ...] = ()
    """The dates of the prices with which costs were computed, ISO, each once, in order."""
    prices_of_settings: bool = False
    """True if costs were computed with prices of the user's settings that have no date."""


def day_of(at: int) -> date:
    """Return the local day of a moment (UTC ms)."""
    return datetime.fromtimestamp(at / 1000, UTC).astimezone().date()


def begin(day: date, step: Step) -> date:
    """Return the first day of the day's week or month; a week begins on Monday."""
    return day if step == "day" else day.replace(day=1) if step == "month" else day - timedelta(days=day.weekday())


def midnight(day: date) -> datetime:
    """Return the first moment of a day: 01:00 if summer time begins at its midnight.

    Raises:
        OverflowError, ValueError: the time zone has no such day.
    """
    # astimezone() makes a local time that does not exist one of the day before; timestamp() makes it the next one.
    return datetime.fromtimestamp(datetime.combine(day, time()).timestamp(), UTC).astimezone()


def periods(step: Step, last: date, number: int) -> list[date]:
    """Return the first days of the ``number`` periods that end with that of the day ``last``, the oldest first."""
    found = [begin(last, step)]
    while len(found) < number:
        found.append(begin(found[-1] - timedelta(days=1), step))
    return found[::-1]
