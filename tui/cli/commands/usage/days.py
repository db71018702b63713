"""The times of an option: a date, or a duration that ends now."""

from datetime import date, datetime, timedelta

import click

_DAY_SECONDS = 86_400


def since_of(text: str | None) -> datetime | None:
    """Return the first moment of ``--since``; a duration of a day or more begins at midnight.

    Raises:
        click.UsageError: the text is neither a date nor a duration, or is out of range.
    """
    if text is None:
        return None
    if (day := date_of(text)) is not None:
        return midnight_of(day)
    from .....sessions.errors import UsageError
    from .....sessions.text import durations

    try:
        seconds = durations.seconds(text)
        moment = datetime.now().astimezone() - timedelta(seconds=seconds)
        return midnight_of(moment.date()) if seconds >= _DAY_SECONDS else moment
    except (UsageError, OverflowError, ValueError):
        raise click.BadParameter(
            f"{text!r} is not a date such as 2026-11-03 or a duration such as 7d.", param_hint="--since"
        ) from None


def date_of(text: str) -> date | None:
    """Return the date of a text such as ``2026-11-03``; None if it is not one."""
    try:
        return date.fromisoformat(text) if "-" in text else None
    except ValueError:
        return None


def midnight_of(day: date) -> datetime:
    """Return the first moment of a day.

    Raises:
        click.UsageError: the time zone has no such day.
    """
    from .....sessions.costs.periods import midnight

    try:
        return midnight(day)
    except (OverflowError, ValueError, OSError):
        raise click.UsageError(f"{day} is out of range.") from None
