"""claude as a lead: the options of one start, and its own MCP settings (2.1.197, 2.1.330)."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from agentdash.sessions.agents.leading import ALL_TOOLS, SERVER, server_argv
from agentdash.sessions.model import typed


def _server() -> dict[str, Any]:
    """Return the server; with ``alwaysLoad`` claude waits for its tools before the first request to the model."""
    command, *args = server_argv()
    return {"type": "stdio", "command": command, "args": args, "alwaysLoad": True}


def server_option() -> tuple[str, ...]:
    """Return the option that adds the server to those of claude's own settings."""
    return "--mcp-config", msgspec.json.encode({"mcpServers": {SERVER: _server()}}).decode()


def setup_lines() -> tuple[str, ...]:
    """Return the command that adds the server for all projects, and the rule that allows its tools."""
    folder = os.environ.get("CLAUDE_CONFIG_DIR")
    file = Path(folder) / "settings.json" if folder else "~/.claude/settings.json"
    return (
        "# Run this line once:",
        shlex.join(["claude", "mcp", "add-json", "--scope", "user", SERVER, msgspec.json.encode(_server()).decode()]),
        f"# claude asks before it uses a tool, and claude -p refuses it, unless {file} allows it:",
        f'#   {{"permissions": {{"allow": ["{ALL_TOOLS}"]}}}}',
    )


def known_server(env: Mapping[str, str]) -> Mapping[str, Any] | None:
    """Return the server of the user's own settings, ``.claude.json`` in the home or in ``CLAUDE_CONFIG_DIR``."""
    folder = Path(env.get("CLAUDE_CONFIG_DIR") or env.get("HOME") or Path.home())
    try:
        data = (folder / ".claude.json").read_bytes()
    except FileNotFoundError:
        return None
    try:
        servers = typed.decode(data).get("mcpServers") or {}
        found = servers.get(SERVER)
    except (msgspec.DecodeError, AttributeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    return found if isinstance(found, dict) else None
