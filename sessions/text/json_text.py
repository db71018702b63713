"""A value of JSON as text.  Pure."""

import json
from typing import Any


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON, on one line without ``indent``; a text as it is, and "" for None.

    The values come from agents: one that cannot be written (a lone number out of range, a nesting too deep) is ``…``.
    """
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json.dumps(value, ensure_ascii=False, default=str, indent=indent)
    except (ValueError, RecursionError):
        return "…"
