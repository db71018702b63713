"""The caller: the session from inside which a command comes, or the agent outside agentdash that leads.

Rights follow from this.  They are guards against accidents, not walls: a program that hides its ancestors counts as
the user.
"""

import os
import re
from collections.abc import Iterator, Mapping, MutableMapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from ..processes import processes
from ..storage.paths import SESSION_ID

CLAUDE_SESSION = "CLAUDE_CODE_SESSION_ID"
"""The variable in which claude names its conversation to the commands that it runs (2.1.330)."""

_OWN_KEYS = ("AGENTDASH_HOME", "AGENTDASH_CONFIG", "AGENTDASH_PROFILE", "PATH", "HOME")
"""The variables by which a command finds the same state folder and the same settings."""

_MOST_ANCESTORS = 64
_LEAD = re.compile(r"[A-Za-z0-9._:-]{1,200}")

Evidence = Literal["", "environment", "ancestor", "lead key", "client"]


class Caller(Struct, frozen=True, kw_only=True):
    """The requester of what a manager does; without a session and a lead it is the user."""

    session: str | None = None
    """Id of the session from inside which the call comes."""
    lead: str | None = None
    """The agent outside agentdash that calls: ``claude:ID``, ``codex:ID`` or ``mcp:ID``."""
    call: str | None = None
    """Id of the lead's tool call."""
    evidence: Evidence = ""
    """The way in which the session or the lead was found; empty for the user.

    It is ``environment`` or ``ancestor`` also inside a session of another state folder, and ``client`` for every
    client of the MCP server outside a session.
    """

    @property
    def acts_for_user(self) -> bool:
        """True if it has the rights of the user: also a command of an agent outside any session has them."""
        return self.session is None and self.evidence != "client"


class _Ancestor(Struct, frozen=True):
    """The nearest ancestor process that belongs to a session."""

    session: str
    env: Mapping[str, str]
    """Its environment; empty if it is the session's runner."""


def find_caller(env: MutableMapping[str, str] | None = None) -> Caller:
    """Return who runs this process, and complete a stripped environment from the ancestor that belongs to a session.

    codex 0.169 runs commands and MCP servers with an environment of its own choice, so the tag of the session may be
    missing.  The ancestors are read once per process, and only without a tag.

    Args:
        env: the environment to read and to complete; None for that of this process.
    """
    env = os.environ if env is None else env
    lead = _lead_key(env)
    if (session := _tag(env)) is not None:
        return Caller(session=session, lead=lead, evidence="environment")
    if processes.RUNNER_MARK in env or processes.HOOK_TAG in env:
        return Caller()
    ancestor = nearest_ancestor()
    if ancestor is None:
        return Caller(lead=lead, evidence="lead key" if lead else "")
    complete(env, ancestor.env)
    return Caller(session=ancestor.session, lead=_lead_key(env), evidence="ancestor")


def complete(env: MutableMapping[str, str], other: Mapping[str, str]) -> None:
    """Add to an environment the variables that it lacks and another one has: those of agentdash and of the adapters."""
    if not other:
        return
    from ..agents.registry import agent_named, agent_names  # only a stripped environment needs the adapters

    agents = map(agent_named, agent_names(demo=True))
    keys = [*_OWN_KEYS, CLAUDE_SESSION, *(key for agent in agents for key in agent.env_keys)]
    for key in keys:
        if key in other:
            env.setdefault(key, other[key])


@cache
def nearest_ancestor() -> _Ancestor | None:
    """Return the nearest ancestor with the tag of a session; None if there is none, or if a hook is between."""
    for pid in _ancestors():
        env = processes.environment(pid)
        if (session := _tag(env)) is not None:
            return _Ancestor(session, MappingProxyType(env))
        if processes.HOOK_TAG in env:
            return None
        if processes.RUNNER_MARK in env:
            # The runner adopts what cleared its environment and left the tree.
            lock = Path(env[processes.RUNNER_MARK])
            known = SESSION_ID.fullmatch(lock.parent.name)
            return _Ancestor(lock.parent.name, {processes.HOME: str(lock.parents[2])}) if known else None
    return None


def _ancestors() -> Iterator[int]:
    pid = os.getppid()
    for _ in range(_MOST_ANCESTORS):
        if pid <= 1:
            return
        yield pid
        process = processes.by_pid(pid, commands=False)
        pid = process.parent if process is not None else 0


def _tag(env: Mapping[str, str]) -> str | None:
    tag = env.get(processes.SESSION_TAG, "")
    return tag if SESSION_ID.fullmatch(tag) else None


def _lead_key(env: Mapping[str, str]) -> str | None:
    conversation = env.get(CLAUDE_SESSION, "")
    return f"claude:{conversation}" if _LEAD.fullmatch(conversation) else None
