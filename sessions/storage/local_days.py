"""Local days as SQL over quarters of an hour: every time zone differs from UTC by whole quarters.  Pure."""

import time
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentdash.sessions.rules.costs.usage_table import Step

QUARTER_SECONDS = 900
QUARTERS_OF_DAY = 96

_EPOCH = date(1970, 1, 1)
_FIRST_YEAR = 2020
"""Earlier times have the difference from UTC at its beginning: no agent is older."""


def quarter_of(moment: datetime) -> int:
    """Return the quarter of an hour of a moment, which is local time without a time zone."""
    return int(moment.timestamp() // QUARTER_SECONDS)


def beginning(day: date) -> int:
    """Return the quarter of an hour with which a local day begins."""
    return quarter_of(datetime(day.year, day.month, day.day))  # noqa: DTZ001 - local time is meant


def day_number(day: date) -> int:
    """Return the number of days since 1970-01-01."""
    return (day - _EPOCH).days


def day_of(number: int) -> date:
    """Return the day with such a number; the last or first day that a date can be for any other number."""
    try:
        return _EPOCH + timedelta(days=number)
    except OverflowError:
        return date.max if number > 0 else date.min


def after(start: date, step: "Step") -> date:
    """Return the first day of the next period."""
    if step == "month":
        return (start.replace(day=1) + timedelta(days=31)).replace(day=1)
    return start + timedelta(days=7 if step == "week" else 1)


def day_sql(column: str) -> str:
    """Return the SQL for the number of the local day of a quarter of an hour."""
    changes = _offsets()
    cases = "".join(f" WHEN {column} < {until} THEN {offset}" for until, offset in changes[:-1])
    offset = f"CASE{cases} ELSE {changes[-1][1]} END" if cases else str(changes[-1][1])
    return f"(({column} + {offset}) / {QUARTERS_OF_DAY})"


def period_sql(day: str, step: "Step") -> str:
    """Return the SQL for the number of the first day of a day's period."""
    if step == "week":
        return f"({day} - ({day} + 3) % 7)"  # 1970-01-01 was a Thursday
    if step == "month":
        return f"(unixepoch({day} * 86400, 'unixepoch', 'start of month') / 86400)"
    return day


def zone() -> str:
    """Return a text that differs if days begin at other moments."""
    return " ".join(f"{until}:{offset}" for until, offset in _offsets())


def _offsets() -> list[tuple[int, int]]:
    """Return the local differences from UTC in quarters, each with the quarter at which the next one begins."""
    found: list[tuple[int, int]] = []
    here = beginning(date(_FIRST_YEAR, 1, 1))
    end = beginning(date.today().replace(month=1, day=1) + timedelta(days=730))  # noqa: DTZ011 - local time is meant
    month = 30 * QUARTERS_OF_DAY
    while here < end:
        then = min(here + month, end)
        if (offset := _offset(here)) != _offset(then):
            low, high = here, then
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if _offset(middle) == offset else (low, middle)
            found.append((high, offset))
        here = then
    return [*found, (end, _offset(end))]


def _offset(quarter: int) -> int:
    return time.localtime(quarter * QUARTER_SECONDS).tm_gmtoff // QUARTER_SECONDS
