"""The time at which a prompt is to be sent: read from the words of the user, and said back.  Pure but for the zone.

A time of the clock is one of the machine's time zone at the request.  It becomes one moment (UTC ms), which no later
change of the zone, of summer time or of the machine's clock moves.
"""

import re
from datetime import UTC, datetime, time, timedelta

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.units import age

MOST_DAYS = 366
"""The greatest number of days until a prompt is sent."""

_CLOCK = re.compile(r"(\d{1,2}):(\d{2})")
_LATER = re.compile(r"\+(?=\d)(?:(\d{1,4})d)?(?:(\d{1,5})h)?(?:(\d{1,6})m)?(?:(\d{1,7})s)?")
_NEAR_DAYS = 6
"""Days for which the name of the weekday says enough."""

EXAMPLES = "18:00, +2h, +1d12h, 2026-11-28T09:00"


def due_at(words: str, now_ms: int) -> int:
    """Return the time (UTC ms) that the user named; a time of the clock that has passed today is one of tomorrow.

    Raises:
        UsageError: it is not a valid time, has passed, or is too far away.
    """
    stated, now = words.strip(), datetime.fromtimestamp(now_ms / 1000, UTC)
    found = _relative(stated, now) or _of_the_clock(stated, now) or _dated(stated)
    if found is None:
        raise UsageError(f"{words!r} is not a valid time. Examples: {EXAMPLES}.")
    if found <= now:
        raise UsageError(f"{words} has passed: it is {clock_words(now_ms, now_ms)}.")
    if found - now > timedelta(days=MOST_DAYS):
        raise UsageError(f"{words} is more than {MOST_DAYS} days away.")
    return round(found.timestamp() * 1000)


def _relative(stated: str, now: datetime) -> datetime | None:
    """Return the time behind a duration such as ``+2h``, which summer time does not change."""
    parts = _LATER.fullmatch(stated)
    if parts is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in parts.groups())
    return now + timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


def _of_the_clock(stated: str, now: datetime) -> datetime | None:
    """Return the next ``18:00`` of the machine's zone; of a time that summer time skips, the one an hour later."""
    parts = _CLOCK.fullmatch(stated)
    if parts is None:
        return None
    try:
        at = time(int(parts[1]), int(parts[2]))
    except ValueError:
        return None
    today = now.astimezone().date()
    days = (_moment(datetime.combine(today + timedelta(days=number), at)) for number in range(3))
    return next((moment for moment in days if moment > now), None)


def _moment(at: datetime) -> datetime:
    """Return the moment of a time of the machine's zone, or of its own; ``astimezone`` errs if the zone skips it."""
    return datetime.fromtimestamp(at.timestamp(), UTC)


def _dated(stated: str) -> datetime | None:
    """Return ``2026-11-28T09:00``, of the machine's zone unless it names another one."""
    try:
        found = datetime.fromisoformat(stated)
    except ValueError:
        return None
    has_time = "T" in stated or " " in stated
    try:
        return _moment(found) if has_time else None
    except (OverflowError, ValueError, OSError):
        return None


def clock_words(at_ms: int, now_ms: int | None = None) -> str:
    """Return a time of the machine's zone: ``Sat 18:00``, ``Sat 5 Dec 18:00``; without a day if that is today's.

    ``now_ms``: the present time; without one, the day is always named with its date.
    """
    at = datetime.fromtimestamp(at_ms / 1000, UTC).astimezone()
    clock = f"{at:%H:%M}"
    dated = f"{at:%a} {at.day} {at:%b} {clock}"
    if now_ms is None:
        return dated
    days = (at.date() - datetime.fromtimestamp(now_ms / 1000, UTC).astimezone().date()).days
    if days == 0:
        return clock
    return f"{at:%a} {clock}" if 0 < days <= _NEAR_DAYS else dated


LATE_MS = 3 * 60_000
"""A prompt that is found three minutes after its time was not waited for: the machine was off, for example."""


def late_words(label: str, due_at_ms: int, now_ms: int) -> str:
    """Return one line about a prompt that was found late; empty if it was found in time.

    ``label`` names its session; not cleaned.
    """
    if now_ms - due_at_ms < LATE_MS:
        return ""
    when = f"was due {clock_words(due_at_ms, now_ms)}, {age(now_ms - due_at_ms)} ago"
    return f'The prompt for "{one_line(label, 60)}" {when}: nothing waited for it, and it is next now.'


def until(at_ms: int, now_ms: int) -> str:
    """Return when a prompt is sent, with its day: ``until Sat 18:00``."""
    words = clock_words(at_ms, now_ms)
    day = "" if " " in words else f"{datetime.fromtimestamp(at_ms / 1000, UTC).astimezone():%a} "
    return f"until {day}{words}"
