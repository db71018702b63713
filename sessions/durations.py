"""Durations as people write them: ``90``, ``1.5s``, ``10m``, ``2h``, ``7d``."""

import math
import re

from .errors import UsageError

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([smhdw]?)\s*", re.ASCII)


def seconds(text: str) -> float:
    """How many seconds a text means.

    Raises:
        UsageError: it is no duration, or a negative or endless one.
    """
    found = _DURATION.fullmatch(text.lower())
    value = float(found[1]) * _UNITS[found[2]] if found else math.nan
    if not math.isfinite(value):
        raise UsageError(f"{text!r} is no duration. Write seconds, or a number with s, m, h, d or w: 90, 10m, 7d.")
    return value
