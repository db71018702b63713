"""Numbers as the screen says them: ages, durations, tokens, money, places; unknown is ``?``, never 0."""

from datetime import UTC, datetime
from pathlib import Path

from ..sessions.durations import spent as duration
from ..sessions.text import cut, one_line

__all__ = [
    "age",
    "below",
    "clock",
    "command",
    "count",
    "duration",
    "money",
    "percent",
    "place",
    "runtime",
    "size",
    "steady",
    "tokens",
]

_AGES = ((86_400, "d"), (3_600, "h"), (60, "m"))


def age(milliseconds: int) -> str:
    """In one unit: ``4s``, ``35s``, ``12m``, ``3h``, ``2d``; a clock that went back counts as now.

    From ten seconds on in steps of five: each step of each running session is sent over the line.
    """
    seconds = max(0, milliseconds) // 1000
    for unit, letter in _AGES:
        if seconds >= unit:
            return f"{seconds // unit}{letter}"
    return f"{seconds if seconds < 10 else seconds - seconds % 5}s"


def runtime(milliseconds: int) -> str:
    """How long something has run: ``35s``, ``12m``, and from an hour on ``1.5h``."""
    hours = max(0, milliseconds) / 3_600_000
    return f"{hours:.1f}h" if hours >= 1 else age(milliseconds)


def steady(milliseconds: int) -> int:
    """For how many milliseconds more :func:`age` and :func:`runtime` surely read as they do now."""
    step = 1_000 if milliseconds < 10_000 else 5_000 if milliseconds < 60_000 else 60_000
    return step - milliseconds % step


def tokens(count: int | None) -> str:
    """``812``, ``18.2k``, ``412k``, ``3.1M``."""
    if count is None:
        return "?"
    if count < 1_000:
        return str(count)
    size, letter = (1_000_000, "M") if count >= 999_500 else (1_000, "k")
    scaled = count / size
    return f"{scaled:.1f}{letter}" if scaled < 99.95 else f"{scaled:.0f}{letter}"


def money(dollars: float | None) -> str:
    """``$0.31``, and more decimals for less than ten cents."""
    if dollars is None:
        return "?"
    decimals = 2 if dollars >= 0.1 or dollars == 0 else 3 if dollars >= 0.01 else 4
    return f"${dollars:.{decimals}f}"


def percent(share: float | None) -> str:
    """``0%``, ``104%``: of one processor."""
    return "?" if share is None else f"{share * 100:.0f}%"


def clock(at: int | None) -> str:
    """The time of day of a moment (UTC ms) where we are: ``14:03:11``; nothing for one that nobody knows."""
    return "" if at is None else datetime.fromtimestamp(at / 1000, UTC).astimezone().strftime("%H:%M:%S")


def size(count: int) -> str:
    """``812 B``, ``18.2 kB``, ``3.1 GB``."""
    value, unit = float(count), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 999.5:
            break
        value, unit = value / 1000, larger
    return f"{value:.0f} {unit}" if unit == "B" or value >= 99.95 else f"{value:.1f} {unit}"


def place(path: str) -> str:
    """The path with ``~`` for the user's home."""
    home = str(Path.home())
    return "~" + path[len(home) :] if path == home or path.startswith(home + "/") else path


def below(path: str, folder: str | None) -> str:
    """The path as seen from a folder, where it lies below it; else with ``~`` for the user's home."""
    if folder and path.startswith(folder.rstrip("/") + "/"):
        return path[len(folder.rstrip("/")) + 1 :]
    return place(path)


def count(number: int, word: str, many: str | None = None) -> str:
    """``1 process``, ``2 processes``."""
    return f"{number} {word if number == 1 else many or word + 's'}"


def command(text: str, width: int = 0) -> str:
    """A command line without the folder of its program; cut at ``width`` cells, if that is given."""
    program, blank, rest = one_line(text).partition(" ")
    short = program.rpartition("/")[2] or program
    return cut(short + blank + rest, width) if width else short + blank + rest
