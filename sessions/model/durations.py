"""Durations in the format that people use: ``90``, ``1.5s``, ``10m``, ``2h``, ``7d``."""

import math
import re

from agentdash.sessions.model.errors import UsageError

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*+([smhdw]?)\s*", re.ASCII)


def seconds(text: str) -> float:
    """Parse a duration; return its seconds.

    Raises:
        UsageError: the text is not a duration, or is a negative or infinite one.
    """
    match = _DURATION.fullmatch(text.lower())
    value = float(match[1]) * _UNITS[match[2]] if match else math.nan
    if not math.isfinite(value):
        raise UsageError(
            f"{text!r} is not a valid duration. Use seconds, or a number with s, m, h, d or w: 90, 10m, 7d."
        )
    return value


def text(value: float) -> str:
    """Return a number of seconds in the largest unit that is exact: ``90s``, ``10m``, ``7d``."""
    for unit in "dhm":
        if value >= _UNITS[unit] and value % _UNITS[unit] == 0:
            return f"{value / _UNITS[unit]:g}{unit}"
    return f"{value:g}s"
