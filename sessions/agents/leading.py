"""Agents that can lead others: they get the MCP server of agentdash, whose tools start and read workers."""

import sys
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from agentdash.sessions.agents.base import AgentSettings, LiveSettings

SERVER = "agentdash"
"""The name of the server in the settings of a client."""

ALL_TOOLS = f"mcp__{SERVER}"
"""claude's rule for all tools of the server (2.1.197)."""


class LeadSettings(LiveSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Adds the key of an agent that can lead others."""

    lead: Annotated[
        bool, Meta(description="Let the agent start and lead workers, with agentdash's tools.", extra={"offered": True})
    ] = False


def leads(settings: AgentSettings) -> bool:
    """Return whether the agent is to lead others."""
    return isinstance(settings, LeadSettings) and settings.lead


def server_argv() -> tuple[str, ...]:
    """Return the command of the server, with an absolute path: a client may have another PATH."""
    script = Path(sys.executable).with_name("agentdash")
    return (str(script), "mcp") if script.is_file() else (sys.executable, "-P", "-m", "agentdash", "mcp")


def setup_lines(client: str) -> tuple[str, ...]:
    """Return the lines that add the server to a client: an agent by its name, ``json`` for any other client."""
    if client == "json":
        import json

        command, *args = server_argv()
        servers = {"mcpServers": {SERVER: {"command": command, "args": args}}}
        return tuple(json.dumps(servers, indent=2).splitlines())
    from agentdash.sessions.agents.registry import agent_named

    leading = agent_named(client).leading
    return leading.setup_lines() if leading is not None else ()
