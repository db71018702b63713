"""The start of ``codex app-server``: its arguments, and the first lines that it is written (codex-cli 0.169.0)."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from agentdash.sessions.agents.codex.app_server import events
from agentdash.sessions.agents.codex.app_server import lines as messages
from agentdash.sessions.agents.codex.app_server.lines import OPTED_OUT
from agentdash.sessions.model import typed
from agentdash.sessions.rules.launch import Fork

_TAKES_VALUE = ("-c", "--config", "--enable", "--disable")
_CHANGEABLE = frozenset({"threadId", "excludeTurns", "lastTurnId", "model", "sandbox"})
"""Settings of the line that opens a thread in which the turns of one process can differ."""

_ALONE = ("--strict-config",)

MODES = {
    "read-only": {"type": "readOnly"},
    "workspace-write": {"type": "workspaceWrite"},
    "danger-full-access": {"type": "dangerFullAccess"},
}
"""The sandboxes by their names in the settings, as a running codex is told them."""


def foreign_setting(arguments: Sequence[str], config: Mapping[str, Any]) -> str | None:
    """Return the first setting that only ``codex exec`` takes, and why; None if ``codex app-server`` takes all.

    Args:
        arguments: the user's own arguments; ``codex app-server`` takes few of those of ``codex exec``.
        config: the user's overrides of codex's configuration.
    """
    if "approval_policy" in config:
        return "ignores agents.codex.config.approval_policy, for which agentdash has agents.codex.approvals"
    words = iter(arguments)
    for word in words:
        name, equals, _ = word.partition("=")
        is_joined = word.startswith("-c") and not word.startswith("--") and len(word) > len("-c")
        if word in _ALONE or is_joined or (equals and name in _TAKES_VALUE):
            continue
        if word in _TAKES_VALUE and next(words, None) is not None:
            continue
        return f"does not take {word} of agents.codex.args, only -c, --enable, --disable and --strict-config"
    return None


def opening(
    *,
    cwd: str,
    approval: str,
    sandbox: str,
    model: str | None = None,
    instructions: str | None = None,
    thread: str | None = None,
    fork: Fork | None = None,
) -> tuple[str, ...]:
    """Return the lines ``initialize``, ``initialized``, and the start, the resumption or the fork of a thread.

    A resumed thread is given its policies again, because codex does not remember them.

    Args:
        cwd: the folder in which the agent works.
        approval: ``on-request`` or ``never``.
        sandbox: one of :data:`MODES`.
        instructions: text for the developer's message.
        thread: the thread to resume or to fork; None for a new one.
        fork: the place up to which it is forked; None to resume it.
    """
    client = {"name": "agentdash", "title": "agentdash", "version": "1"}
    capabilities = {"experimentalApi": True, "requestAttestation": False, "optOutNotificationMethods": OPTED_OUT}
    params: dict[str, Any] = {"cwd": cwd, "approvalPolicy": approval, "sandbox": sandbox}
    params |= {"model": model} if model else {}
    params |= {"developerInstructions": instructions} if instructions else {}
    params |= {"threadId": thread, "excludeTurns": True} if thread is not None else {}
    params |= {"lastTurnId": fork.at} if fork is not None and fork.at is not None else {}
    method = "thread/start" if thread is None else "thread/resume" if fork is None else "thread/fork"
    lines: tuple[dict[str, Any], ...] = (
        {
            "id": messages.INITIALIZED,
            "method": "initialize",
            "params": {"clientInfo": client, "capabilities": capabilities},
        },
        {"method": "initialized"},
        {"id": messages.OPENED, "method": method, "params": params},
    )
    return tuple(msgspec.json.encode(line).decode() for line in lines)


def fixed_opening(lines: Sequence[str]) -> tuple[object, ...]:
    """Return what the turns of one process have in common of the lines of :func:`opening`."""
    fixed: list[object] = []
    for line in lines:
        message = typed.decode(line)
        params = message.get("params", {})
        fixed.append({key: value for key, value in params.items() if key not in _CHANGEABLE})
    return tuple(fixed)


def mode_of(policy: events.Policy | None) -> str | None:
    """Return the name of a sandbox in the settings; None if they have no such sandbox."""
    return next((mode for mode, of in MODES.items() if policy is not None and of["type"] == policy.kind), None)
