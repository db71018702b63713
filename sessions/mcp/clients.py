"""The clients of the MCP server, and how long each waits for the answer of a call.

A call must be answered before its client gives up.  Seen with claude 2.1.197 and codex 0.169.0: progress reports
prolong no time limit (docs/protocols/claude.md, "MCP servers"; docs/protocols/codex.md, "MCP servers").
"""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

if TYPE_CHECKING:
    from ..settings.orchestration import OrchestrationSettings

WAIT = "AGENTDASH_MCP_WAIT"
"""The variable with the seconds that a call of ``wait_for`` takes at most, whatever the client."""

CLAUDE_TIMEOUT = "MCP_TOOL_TIMEOUT"
"""The variable with claude's own limit of a call in milliseconds; claude hands its environment to the server."""

_RESERVE = 5.0
"""Seconds between the answer and the end of the client's patience."""

_SHORTEST = 1.0

OTHERS = 45.0
"""Seconds for an unknown client: most give a call 60 s."""


def _claude(env: Mapping[str, str]) -> float:
    """Return the seconds for claude (2.1.197), which sets no limit unless :data:`CLAUDE_TIMEOUT` names one.

    The prompt cache is kept for 5 minutes after a request; a later one pays for the whole conversation again.
    """
    limit = _number(env.get(CLAUDE_TIMEOUT))
    return 270.0 if limit is None else max(_SHORTEST, min(270.0, limit / 1000 - _RESERVE))


def _codex(_: Mapping[str, str]) -> float:
    """Return the seconds for codex (0.169.0), which ends a call after 300 s unless ``tool_timeout_sec`` is set."""
    return 270.0


_WAITS: dict[str, Callable[[Mapping[str, str]], float]] = {
    "claude-code": _claude,  # 2.1.197, 2.1.330
    "codex-mcp-client": _codex,  # 0.169.0
}
"""By the name in ``clientInfo``."""


class Client(Struct, frozen=True, kw_only=True):
    """The program that calls the tools."""

    name: str = ""
    """Its name in ``clientInfo``; empty if it gives none."""
    version: str = ""
    wait_seconds: float = OTHERS
    """The time after which a call must be answered."""

    def under(self, settings: "OrchestrationSettings", env: Mapping[str, str]) -> "Client":
        """Return the client with the user's own time: the settings' unless :data:`WAIT` is set."""
        if settings.wait_seconds is None or _number(env.get(WAIT)) is not None:
            return self
        return structs.replace(self, wait_seconds=settings.wait_seconds)


def client_of(info: object, env: Mapping[str, str]) -> Client:
    """Return the client by its ``clientInfo``, which may have any shape."""
    fields: Mapping[str, Any] = info if isinstance(info, dict) else {}
    name, version = (value if isinstance(value := fields.get(key), str) else "" for key in ("name", "version"))
    chosen = _number(env.get(WAIT))
    known = _WAITS.get(name)
    wait = chosen if chosen is not None else known(env) if known is not None else OTHERS
    return Client(name=name, version=version, wait_seconds=wait)


def _number(text: str | None) -> float | None:
    """Return a positive number; None for anything else."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if number > 0 and math.isfinite(number) else None
