"""The verbs for agents that lead agents: mcp, skill."""

import sys

import click

from .....sessions.errors import UsageError
from .. import common


@click.command()
@click.option(
    "--config",
    "client",
    type=click.Choice(("claude", "codex", "json")),
    help="Print the lines that add the server to a client's own settings.",
)
def mcp(client: str | None) -> int:
    """Serve the tools of leads by MCP, on stdin and stdout.

    With them an agent starts and leads workers.  A client starts this command itself.
    "agentdash spawn --lead" needs no set-up.
    """
    if client is not None:
        from .....sessions.agents.leading import setup_lines

        common.print_lines(setup_lines(client))
        return 0
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("agentdash mcp is started by an MCP client. Set one up: agentdash mcp --config claude")
    from .....sessions.mcp.server import serve
    from .....sessions.orchestration.registry import TOOLS

    return serve(TOOLS)


@click.command()
def skill() -> None:
    """Print a SKILL.md for agents that lead others by the shell.

    For example: mkdir -p ~/.claude/skills/agentdash && agentdash skill > ~/.claude/skills/agentdash/SKILL.md
    """
    from .....sessions.orchestration.skill import SKILL

    common.print_lines(SKILL.splitlines())
