"""JSON laid out for people: one value per line, keys in their order, numbers as they were written."""

from typing import Any

import msgspec

READ = 1_000_000
"""Longest text, in characters, that is parsed as JSON."""

_DEEPEST = 64
_MOST = 4_000_000
"""Most characters of the result: a short text with many deeply nested values would become a thousand times as long."""


def pretty_json(text: str) -> str | None:
    """The text laid out if it is a JSON object or array; None if it is anything else, or too long."""
    if len(text) > READ or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        data = text.encode()
        depth = _depth(msgspec.json.decode(data))
        if 2 * depth * (text.count(",") + text.count(":") + depth) > _MOST:
            return None
        return msgspec.json.format(data, indent=2).decode()
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _depth(value: Any) -> int:
    """The number of nested levels; ``_MOST`` if they exceed ``_DEEPEST``."""
    level = [value]
    for depth in range(_DEEPEST):
        inner = (part.values() if isinstance(part, dict) else part for part in level)
        level = [part for container in inner for part in container if isinstance(part, dict | list)]
        if not level:
            return depth + 1
    return _MOST
