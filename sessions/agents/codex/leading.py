"""codex as a lead: the overrides of one start, and its own MCP settings (0.169.0)."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentdash.sessions.agents.codex.toml_values import assignments, toml_value
from agentdash.sessions.agents.leading import SERVER, server_argv

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
