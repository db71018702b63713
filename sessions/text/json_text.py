"""A value of JSON as text.  Pure."""

import json
from typing import Any

# Made once: `json.dumps` makes an encoder for each call, and a search writes the arguments of each step.
_ON_ONE_LINE = json.JSONEncoder(ensure_ascii=False, default=str)


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON, on one line without ``indent``; a text as it is, and "" for None.

    The values come from agents: what Python cannot write (an integer of 5,000 digits, a deep nesting) is ``…``.
    """
    if value is None or isinstance(value, str):
        return value or ""
    encoder = _ON_ONE_LINE if indent is None else json.JSONEncoder(ensure_ascii=False, default=str, indent=indent)
    try:
        return encoder.encode(value)
    except (ValueError, RecursionError):
        return "…"
