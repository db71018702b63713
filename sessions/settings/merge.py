"""Merge tables of settings."""

from collections.abc import Mapping
from typing import Any


def merged(stated: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two tables key by key; ``over`` wins."""
    result = dict(stated)
    for key, value in over.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result
