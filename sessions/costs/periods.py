"""Days, weeks and months in the user's time zone.  Pure but for the zone."""

from datetime import UTC, date, datetime, time, timedelta

from .usage_table import Step


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
