"""Colours and characters beyond ASCII: whether the user or a terminal excludes them.  Pure."""

import re
from collections.abc import Mapping


def is_forced(env: Mapping[str, str]) -> bool:
    """Return whether the user requested ASCII-only output."""
    return bool(env.get("AGENTDASH_ASCII"))


def is_utf8(name: str) -> bool:
    """Return whether an encoding (``UTF-8``) or a locale (``C.UTF-8``) is UTF-8."""
    return "utf8" in name.lower().replace("-", "")


def is_wanted(encoding: str | None, env: Mapping[str, str]) -> bool:
    """Return whether a stream with this encoding gets ASCII only; an unknown encoding counts as ASCII."""
    return is_forced(env) or not is_utf8(encoding or "ascii")


_WITHOUT = re.compile(r"(?:vt\d{2,3}|wy\d+|tvi\d+|sun|cons\d+)(?:[-+].*)?|.+-(?:m|mono)|dumb|", re.IGNORECASE)
"""The names of terminals without colours: DEC's and other old ones, and the forms for a monochrome screen."""


def has_colours(env: Mapping[str, str]) -> bool:
    """Return False if the user wants no colours (``NO_COLOR``), or the terminal has none (``TERM``)."""
    if env.get("NO_COLOR"):
        return False
    return bool(env.get("COLORTERM")) or _WITHOUT.fullmatch(env.get("TERM", "")) is None
