"""Values as TOML text, for options that take ``key=value`` with a TOML value (codex ``-c``)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import tomli_w

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def assignments(settings: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """``a.b.c=value`` for every leaf of nested settings, keys quoted where TOML wants it."""
    for key, value in settings.items():
        name = f"{prefix}{key if _BARE.fullmatch(key) else toml_value(key)}"
        if isinstance(value, Mapping) and value:
            yield from assignments(value, f"{name}.")
        else:
            yield f"{name}={toml_value(value)}"


def toml_value(value: Any) -> str:
    """One value on one line.

    Raises:
        TypeError: TOML has no such value.
    """
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    if isinstance(value, Mapping):
        pairs = (f"{key if _BARE.fullmatch(key) else toml_value(key)} = {toml_value(v)}" for key, v in value.items())
        return "{" + ", ".join(pairs) + "}"
    return tomli_w.dumps({"k": value}).removeprefix("k = ").rstrip("\n")
