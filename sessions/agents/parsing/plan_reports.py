"""The reports of agents about the windows of the user's plan, read from their lines.

No function raises: a report of another shape reports nothing.
"""

import os
from pathlib import Path
from typing import Any

from agentdash.sessions.agents.parsing.json_lines import decoded
from agentdash.sessions.agents.parsing.line_parts import parts
from agentdash.sessions.model.plan_windows import PlanWindow, from_claude, from_codex

_TAIL_BYTES = 256 * 1024
"""Bytes at the end of a transcript in which the newest report is searched."""


def claude_report(line: bytes, agent: str) -> tuple[PlanWindow, ...]:
    """Return the windows of a ``rate_limit_event`` of claude (2.1.330, its own schema)."""
    event = next((one for one in map(_object, parts(line)) if one.get("type") == "rate_limit_event"), None)
    return from_claude(event.get("rate_limit_info"), agent) if event is not None else ()


def server_report(line: bytes, agent: str) -> tuple[PlanWindow, ...]:
    """Return the windows of ``account/rateLimits/updated`` of ``codex app-server`` (0.169.0, its own schema)."""
    message = _object(line)
    params = message.get("params")
    if message.get("method") != "account/rateLimits/updated" or not isinstance(params, dict):
        return ()
    return from_codex(params.get("rateLimits"), agent)


def rollout_report(path: Path, agent: str) -> tuple[PlanWindow, ...]:
    """Return the windows of the newest ``token_count`` in a transcript of codex that has any (0.169.0)."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            lines = file.read(_TAIL_BYTES).splitlines()
    except OSError:
        return ()
    for line in reversed(lines):
        if b'"rate_limits"' not in line:
            continue
        for part in reversed(parts(line)):
            payload = _object(part).get("payload")
            if isinstance(payload, dict) and (found := from_codex(payload.get("rate_limits"), agent)):
                return found
    return ()


def _object(line: bytes) -> dict[str, Any]:
    return decoded(line, dict[str, Any]) or {}
