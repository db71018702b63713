"""Numbers as text for people: counts, money, tokens, bytes, durations, ages, times.  Pure.

Every list, card, export and digest formats its numbers here, so that one number is shown the same everywhere.  An
unknown number is ``?`` (or the text that the caller gives), never 0.  Counts, times and costs come from files that can
be damaged: no number of 64 bits makes a function raise an error.
"""

import math
from collections.abc import Sequence
from datetime import UTC, datetime

_AGES = ((86_400, "d"), (3_600, "h"), (60, "m"))
_CENT = 0.01
_MOST_PLACES = 9
"""The most decimals of an amount that is compared with another one."""


def count(number: int, word: str, many: str | None = None) -> str:
    """Return a number with its noun: ``1 file``, ``1,234 files``; ``many`` is an irregular plural."""
    return f"{number:,} {word if number == 1 else many or word + 's'}"


def line_change(added: int, removed: int, *, least: bool = False) -> str:
    """Return added and removed lines: ``+1,204 -3``; ``least`` means that an unknown number is missing."""
    return f"{'at least ' if least else ''}+{added:,} -{removed:,}"


def money(dollars: float | None, unknown: str = "?", *, finest: int = 4) -> str:
    """Return US dollars: ``$0.31``, ``$1,234.50``; below a cent up to four decimals, so that no cost is ``$0.00``.

    ``finest`` is the number of decimals if there is no room for four: an amount that rounds to 0 is ``<$0.01``.
    """
    if dollars is None or not math.isfinite(dollars):
        return unknown
    sign, amount = ("-" if dollars < 0 else ""), abs(dollars)
    fine = round(amount, finest)
    if fine >= _CENT or amount == 0:
        return f"{sign}${amount:,.{min(finest, 2)}f}"
    return f"{sign}${f'{fine:.{finest}f}'.rstrip('0')}" if fine else f"{sign}<${10**-finest:.{finest}f}"


def compared_money(dollars: float, *, above: float = 0.0) -> str:
    """Return US dollars that are read beside a limit: ``$2.50``, ``$0.0004``, ``$2.001`` if ``above`` is 2.

    They have cents, or as many decimals as show that the amount is more than ``above``: in whole cents, a limit of
    $0.012 would not be the user's own, and an amount just above its limit would read as the limit.
    """
    places = 2
    while places < _MOST_PLACES and (
        round(dollars, places) <= above < dollars or abs(round(dollars, places) - dollars) > 0.05 * dollars
    ):
        places += 1
    return f"${dollars:,.{places}f}"


def share_percent(part: int | None, whole: int | None) -> int | None:
    """Return a part of a whole in percent; None if one of them is not known."""
    return round(100 * part / whole) if part is not None and whole else None


def dollars(amount: float | None) -> float | None:
    """Return US dollars for a program, rounded to a millionth, so that a sum has no noise: 0.92, not 0.9199999999."""
    return amount and (round(amount, 6) or amount)


def share(part: int | None, whole: int | None) -> str:
    """Return a part of a whole: ``12%``; "" if one of them is not known."""
    known = share_percent(part, whole)
    return "" if known is None else f"{known}%"


def tokens(number: int | None) -> str:
    """Return a short count: ``812``, ``18.2k``, ``412k``, ``3.1M``."""
    if number is None:
        return "?"
    if number < 1_000:
        return str(number)
    unit, letter = (1_000_000, "M") if number >= 999_500 else (1_000, "k")
    scaled = number / unit
    return f"{scaled:.1f}{letter}" if scaled < 99.95 else f"{scaled:,.0f}{letter}"


def size(number: int) -> str:
    """Return bytes: ``812 B``, ``18.2 kB``, ``3.1 GB``."""
    value, unit = float(number), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 999.5:
            break
        value, unit = value / 1000, larger
    return f"{value:,.0f} {unit}" if unit == "B" or value >= 99.95 else f"{value:.1f} {unit}"


def percent(share: float | None) -> str:
    """Return a share of one processor: ``0%``, ``104%``."""
    return "?" if share is None else f"{share * 100:.0f}%"


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence: ``Bash, Edit and Write``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def duration(milliseconds: int) -> str:
    """Return a duration: ``0.4s``, ``3m12s``, ``2h05m``; a negative one is ``0.0s``."""
    passed = max(0, milliseconds) / 1000
    if passed < 59.95:
        return f"{passed:.1f}s"
    minutes, rest = divmod(round(passed), 60)
    return f"{minutes}m{rest:02}s" if minutes < 60 else f"{minutes // 60:,}h{minutes % 60:02}m"


def age(milliseconds: int) -> str:
    """Return an age in one unit: ``4s``, ``35s``, ``12m``, ``3h``, ``2d``; a negative one is ``0s``.

    From ten seconds on it grows in steps of five, because each change is drawn for each running session.
    """
    seconds = max(0, milliseconds) // 1000
    for unit, letter in _AGES:
        if seconds >= unit:
            return f"{seconds // unit}{letter}"
    return f"{seconds if seconds < 10 else seconds - seconds % 5}s"


def runtime(milliseconds: int) -> str:
    """Return a running time: ``35s``, ``12m``, and from an hour on ``1.5h``."""
    hours = max(0, milliseconds) / 3_600_000
    return f"{hours:.1f}h" if hours >= 1 else age(milliseconds)


def steady(milliseconds: int) -> int:
    """Return the milliseconds for which :func:`age` and :func:`runtime` keep their results, at least."""
    step = 1_000 if milliseconds < 10_000 else 5_000 if milliseconds < 60_000 else 60_000
    return step - milliseconds % step


def clock(at: int | None) -> str:
    """Return the local time of day of a moment (UTC ms): ``14:03:11``; "" if it is not known."""
    return _written(at, "%H:%M:%S")


def moment(at: int | None, unknown: str = "", *, zone: bool = False) -> str:
    """Return the local date and time of a moment (UTC ms): ``2026-02-03 14:03:22``, with ``zone`` ``… CET``."""
    return _written(at, "%Y-%m-%d %H:%M:%S %Z" if zone else "%Y-%m-%d %H:%M:%S") or unknown


def utc(at: int | None) -> str:
    """Return a moment (UTC ms) for programs: ``2026-02-03T13:03:22Z``; "" if it is not known."""
    return _written(at, "%Y-%m-%dT%H:%M:%SZ", local=False)


def _written(at: int | None, pattern: str, *, local: bool = True) -> str:
    """Format a moment by a pattern of strftime; "" if it is not known, or outside of the calendar."""
    if at is None:
        return ""
    try:
        moment = datetime.fromtimestamp(at / 1000, UTC)
        return (moment.astimezone() if local else moment).strftime(pattern)
    except (OverflowError, ValueError, OSError):
        return ""
