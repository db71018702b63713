"""Format values as TOML text, for options that take ``key=value`` with a TOML value (codex ``-c``)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import tomli_w

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def assignments(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield ``a.b.c=value`` for every leaf of nested settings.

    codex splits the key at each dot and does not support quotes in it (codex-cli 0.169.0).  So a table with a key that
    TOML must quote stays one inline table: ``a.b={"x.y" = 1}``.  codex merges such a table with its own.

    Raises:
        ValueError: a key of the outermost table needs quotes.
        TypeError: TOML cannot express a value.
    """
    for key in settings:
        if not _BARE.fullmatch(key):
            raise ValueError(f"the key {key!r} may contain only letters, digits, - and _ (use a table for nested keys)")
    return _assignments(settings, "")


def _assignments(settings: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for key, value in settings.items():
        if isinstance(value, Mapping) and value and all(map(_BARE.fullmatch, value)):
            yield from _assignments(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}={toml_value(value)}"


def toml_value(value: Any) -> str:
    """Format one value on one line.

    Raises:
        TypeError: TOML cannot express a value.
    """
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {toml_value(item)}" for key, item in value.items()) + "}"
    return tomli_w.dumps({"k": value}).removeprefix("k = ").rstrip("\n")


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else toml_value(key)
