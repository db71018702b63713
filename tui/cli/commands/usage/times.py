"""The options ``--since`` and ``--until``: a day, a month or a time ago, as its first moment and its end."""

import re
from datetime import UTC, date, datetime, timedelta

import click
from click.shell_completion import CompletionItem

from agentdash.sessions.model import durations
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.costs.usage_table import midnight
from agentdash.sessions.storage.local_days import QUARTER_SECONDS, after, quarter_of

TIME = "7d|DATE|MONTH|today"
"""The values of both."""

EXAMPLES = "a date (2026-11-03), a month (2026-11), today, yesterday, or a time ago (12h, 7d, 4w, 1y)"

_DAY_SECONDS = 86_400
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MONTH = re.compile(r"\d{4}-\d{2}", re.ASCII)
_YEARS = re.compile(r"(\d{1,4})y", re.ASCII)


def since_of(text: str | None) -> datetime | None:
    """Return the first moment of ``--since``; None if it is not given.

    Raises:
        click.BadParameter: the text is not a valid time, or is out of range.
    """
    return None if text is None else _of_option(text, "--since")[0]


def until_of(text: str | None) -> datetime | None:
    """Return the moment behind the end of ``--until``; None if it is not given.

    Raises:
        click.BadParameter: the text is not a valid time, or is out of range.
    """
    return None if text is None else _of_option(text, "--until")[1]


def complete_times(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the times that begin with ``incomplete``."""
    return [CompletionItem(one) for one in words(datetime.now().astimezone()) if one.startswith(incomplete)]


def _of_option(text: str, option: str) -> tuple[datetime, datetime]:
    try:
        return span(text, datetime.now().astimezone())
    except UsageError as error:
        raise click.BadParameter(str(error), param_hint=option) from None


def span(text: str, now: datetime) -> tuple[datetime, datetime]:
    """Return the first moment of a time and the moment behind its last one, both in the local time zone.

    A time of days, weeks or years ago is that whole day.  A shorter one is a moment, at the beginning of its quarter
    of an hour, because use is counted by quarters of an hour.

    Raises:
        UsageError: the text is not a valid time, or is out of range.
    """
    try:
        found = _span(text.strip().lower(), now)
    except (OverflowError, ValueError, OSError):
        raise UsageError(f"{text!r} is out of range.") from None
    if found is None:
        raise UsageError(f"{text!r} is not a valid time. Use {EXAMPLES}.")
    return found


def words(now: datetime) -> list[str]:
    """Return the times that a shell completes."""
    return ["today", "yesterday", "7d", "4w", "1y", f"{now:%Y-%m-%d}", f"{now:%Y-%m}"]


def _span(text: str, now: datetime) -> tuple[datetime, datetime] | None:
    today = now.date()
    if text in ("today", "yesterday"):
        return _days(today if text == "today" else today - timedelta(days=1))
    if _DATE.fullmatch(text):
        return _days(_day(text))
    if _MONTH.fullmatch(text):
        first = _day(f"{text}-01")
        return midnight(first), midnight(after(first, "month"))
    if (years := _YEARS.fullmatch(text)) is not None:
        return _days(_years_ago(today, int(years[1])))
    return _ago(text, now)


def _ago(text: str, now: datetime) -> tuple[datetime, datetime] | None:
    if not text[-1:].isalpha():
        return None  # a number alone does not name a unit
    try:
        seconds = durations.seconds(text)
    except UsageError:
        return None
    moment = now - timedelta(seconds=seconds)
    if seconds >= _DAY_SECONDS:
        return _days(moment.date())
    begin = datetime.fromtimestamp(quarter_of(moment) * QUARTER_SECONDS, UTC).astimezone()
    return begin, begin


def _days(day: date) -> tuple[datetime, datetime]:
    return midnight(day), midnight(day + timedelta(days=1))


def _day(text: str) -> date:
    """Return the day of a date.

    Raises:
        UsageError: the calendar has no such day.
    """
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a day of the calendar.") from None


def _years_ago(day: date, years: int) -> date:
    """Return the same day of an earlier year; of a leap day the day before it."""
    try:
        return day.replace(year=day.year - years)
    except ValueError:
        return day.replace(year=day.year - years, day=day.day - 1)
