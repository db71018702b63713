"""The choice of ASCII-only output, by the user's setting and by the encoding of a stream or a locale.  Pure."""

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
