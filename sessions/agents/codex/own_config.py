"""codex's own configuration: values as options ``-c key=value`` in TOML, and agentdash's MCP server in it (0.169.0)."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tomli_w

from agentdash.sessions.agents.leading import SERVER, server_argv

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


_ENV = ("AGENTDASH_SESSION_ID", "AGENTDASH_HOME", "AGENTDASH_CONFIG", "AGENTDASH_PROFILE")
"""Variables of agentdash that codex hands on to the server: it removes all others but eighteen of its own choice."""


def _server() -> dict[str, Any]:
    """Return the server.

    codex waits for a required server.  ``codex exec`` refuses tools that need an approval.  A call may take ten minutes
    instead of five.
    """
    command, *args = server_argv()
    return {
        "command": command,
        "args": args,
        "required": True,
        "default_tools_approval_mode": "approve",
        "tool_timeout_sec": 600,
    }


def overrides() -> tuple[str, ...]:
    """Return the options that add the server to those of codex's own configuration."""
    table = {"mcp_servers": {SERVER: _server() | {"env_vars": list(_ENV)}}}
    return tuple(word for pair in assignments(table) for word in ("-c", pair))


def setup_lines(home: Path) -> tuple[str, ...]:
    """Return the lines for the configuration file in codex's own folder."""
    values = (f"{key} = {toml_value(value)}" for key, value in _server().items())
    return (f"# Add these lines to {home / 'config.toml'}:", f"[mcp_servers.{SERVER}]", *values)


def known_server(home: Path) -> Mapping[str, Any] | None:
    """Return the server of the configuration file in codex's own folder."""
    try:
        data = (home / "config.toml").read_bytes()
    except FileNotFoundError:
        return None
    try:
        found = tomllib.loads(data.decode()).get("mcp_servers", {}).get(SERVER)
    except (AttributeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    return found if isinstance(found, dict) else None
