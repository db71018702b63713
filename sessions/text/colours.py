"""The colours of a terminal: none, if the user or the terminal excludes them."""

import re
from collections.abc import Mapping

_WITHOUT = re.compile(r"(?:vt\d{2,3}|wy\d+|tvi\d+|sun|cons\d+)(?:[-+].*)?|.+-(?:m|mono)|dumb|", re.IGNORECASE)
"""The names of terminals without colours: DEC's and other old ones, and the forms for a monochrome screen."""


def has_colours(env: Mapping[str, str]) -> bool:
    """Return False if the user wants no colours (``NO_COLOR``), or the terminal has none (``TERM``)."""
    if env.get("NO_COLOR"):
        return False
    return bool(env.get("COLORTERM")) or _WITHOUT.fullmatch(env.get("TERM", "")) is None
