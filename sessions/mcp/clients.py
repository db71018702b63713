"""The client of the MCP server, with the time for which it waits, and the caller in whose name it acts.

A call must be answered before its client gives up.  Seen with claude 2.1.197 and codex 0.169.0: progress reports
prolong no time limit (docs/protocols/claude.md, "MCP servers"; docs/protocols/codex.md, "MCP servers").
"""

import math
import os
import uuid
from collections.abc import Callable, Mapping
from copy import copy
from threading import Lock
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

if TYPE_CHECKING:
    from agentdash.sessions.service.manager import SessionManager
    from agentdash.sessions.settings.sections import OrchestrationSettings


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


_WAITS: dict[str, Callable[[Mapping[str, str]], float]] = {
    "claude-code": _claude,  # 2.1.197, 2.1.330
    "codex-mcp-client": lambda _: 270.0,  # 0.169.0 ends a call after 300 s unless tool_timeout_sec is set
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


_CALL_KEYS = ("claudecode/toolUseId", "callId")
"""The id of the lead's tool call in ``_meta`` (claude 2.1.197, codex 0.169.0)."""

_THREAD_KEY = "threadId"
"""The conversation of codex in ``_meta`` (0.169.0)."""

_MOST_MANAGERS = 8
_LONGEST_ID = 200


def call_of(meta: Mapping[str, Any]) -> str | None:
    """Return the id of the lead's own tool call; None if the client names none."""
    return next((found for key in _CALL_KEYS if (found := _id(meta.get(key)))), None)


def lead_of(meta: Mapping[str, Any]) -> str | None:
    """Return the lead that a request names, as ``codex:ID``; None if it names none."""
    thread = _id(meta.get(_THREAD_KEY))
    return f"codex:{thread}" if thread else None


def _id(value: object) -> str | None:
    fits = isinstance(value, str) and 0 < len(value) <= _LONGEST_ID and value.isprintable()
    return value if isinstance(value, str) and fits else None


class Managers:
    """The managers of one server, one for each lead: a client can have several conversations.

    The first call opens the first one, so that a server whose tools are only listed never touches the state folder.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._managers: dict[str, SessionManager] = {}
        self._unnamed = f"mcp:{uuid.uuid4()}"

    def of(self, meta: Mapping[str, Any]) -> "SessionManager":
        """Return a manager whose caller has the lead and the call that a request names.

        Raises:
            AgentdashError: the state folder cannot be used.
        """
        manager = copy(self._of_lead(lead_of(meta) or self._unnamed))
        manager.caller = structs.replace(manager.caller, call=call_of(meta))
        return manager

    def _of_lead(self, lead: str) -> "SessionManager":
        with self._lock:
            if lead not in self._managers:
                while len(self._managers) >= _MOST_MANAGERS:
                    del self._managers[next(iter(self._managers))]
                self._managers[lead] = _opened(lead)
            return self._managers[lead]


def _opened(lead: str) -> "SessionManager":
    """Open a manager; the caller is found first, because its environment can name the state folder."""
    from agentdash.sessions.runner.caller import find_caller

    caller = find_caller()
    if caller.session is None:  # outside of any session, and of claude, the lead is the one that the client names
        caller = structs.replace(caller, lead=caller.lead or lead, evidence="client")
    _complete_environment()
    from agentdash.sessions.service.manager import SessionManager
    from agentdash.sessions.service.projects import state_folder

    state_folder.choose()
    return SessionManager(caller=caller)


def _complete_environment() -> None:
    """Add the variables that the client did not hand on: workers find their settings and sign in with them.

    codex (0.169.0) gives a server eighteen variables of its own choice and those that ``env_vars`` names.
    """
    from agentdash.sessions.runner.caller import CLAUDE_SESSION
    from agentdash.sessions.runner.processes import processes

    client = os.getppid()
    own = {processes.SESSION_TAG, processes.RUN_TAG, processes.RUNNER_MARK, processes.HOOK_TAG, CLAUDE_SESSION}
    for name, value in processes.environment(client).items() if client > 1 else ():
        if name and name not in own:
            os.environ.setdefault(name, value)
