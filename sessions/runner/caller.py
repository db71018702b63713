"""The caller: the session from inside which a command comes, or the agent outside agentdash that leads.

Rights follow from this.  They are guards against accidents, not walls: a program that leaves the processes that
agentdash recorded, and clears its environment, counts as the user.
"""

import os
import re
from collections.abc import Mapping, MutableMapping
from functools import cache
from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.storage.paths import SESSION_ID

CLAUDE_SESSION = "CLAUDE_CODE_SESSION_ID"
"""The variable in which claude names its conversation to the commands that it runs (2.1.330)."""

_OWN_KEYS = ("AGENTDASH_HOME", "AGENTDASH_CONFIG", "AGENTDASH_PROFILE", "PATH", "HOME")
"""The variables by which a command finds the same state folder and the same settings."""

_MOST_WALKS = 200
_LEAD = re.compile(r"[A-Za-z0-9._:-]{1,200}")

THE_USER = (None, None)
"""The parent and the lead of a session that the user started."""

Evidence = Literal["", "environment", "ancestor", "lead key", "client", "elsewhere", "namespace"]


class Link(Struct, frozen=True):
    """One process of the line from a caller up to the first process; the caller itself is the first link."""

    pid: int
    start: int
    env: Mapping[str, str] = field(default_factory=dict)
    """The environment with which it was started: a claim, because the process that starts another one chooses it."""

    @property
    def key(self) -> tuple[int, int]:
        """The identity of the process within this boot."""
        return self.pid, self.start

    @property
    def session(self) -> str | None:
        """The session that its environment claims: by the tag, or by the mark of that session's runner."""
        return _tag(self.env) or self.runs

    @property
    def runs(self) -> str | None:
        """The session whose runner it claims to be."""
        mark = self.env.get(processes.RUNNER_MARK)
        name = Path(mark).parent.name if mark else ""
        return name if SESSION_ID.fullmatch(name) else None

    @property
    def completing(self) -> Mapping[str, str]:
        """The variables that it adds to a stripped environment: of a runner only its state folder."""
        if _tag(self.env) is None and self.runs:
            folders = Path(self.env[processes.RUNNER_MARK]).parents
            return {processes.HOME: str(folders[2])} if len(folders) > 2 else {}
        return self.env


class Caller(Struct, frozen=True, kw_only=True):
    """The requester of what a manager does; without a session and a lead it is the user."""

    session: str | None = None
    """Id of the session from inside which the call comes."""
    lead: str | None = None
    """The agent outside agentdash that calls: ``claude:ID``, ``codex:ID`` or ``mcp:ID``.

    It is ``agentdash:ID`` for a session of another state folder.
    """
    call: str | None = None
    """Id of the lead's tool call."""
    evidence: Evidence = ""
    """The way in which the session or the lead was found; empty for the user.

    It is ``client`` for every client of the MCP server outside a session, ``elsewhere`` for a session of another state
    folder, and ``namespace`` for a command whose ancestors are hidden, because it is in another pid namespace than
    sessions that have processes.
    """
    line: tuple[Link, ...] = ()
    """The processes from the caller up, by which a state folder checks the claim; empty if there is nothing to check.
    """

    @property
    def acts_for_user(self) -> bool:
        """True if it has the rights of the user: also a command of an agent outside any session has them."""
        return self.session is None and self.evidence not in ("client", "elsewhere", "namespace")

    @property
    def starters(self) -> tuple[tuple[str | None, str | None], ...]:
        """The parent and the lead of the sessions that it started; then those of the user, if it acts for the user."""
        own = (self.session, self.lead if self.session is None else None)
        return (own, THE_USER) if self.acts_for_user else (own,)


def find_caller(env: MutableMapping[str, str] | None = None) -> Caller:
    """Return who claims to run this process, and complete a stripped environment from the ancestor with the claim.

    codex 0.169 runs commands and MCP servers with an environment of its own choice, so the tag of the session may be
    missing.  The session is that of the nearest claim; :func:`..service.families.reach.known_caller` checks it.  The
    ancestors are read once per process.

    Args:
        env: the environment to read and to complete; None for that of this process.
    """
    env = os.environ if env is None else env
    line = (Link(*_itself(), dict(env)), *ancestors())
    claims = [link for link in line if link.session]
    lead = _lead_key(env)
    if not claims:
        return Caller(lead=lead, evidence="lead key" if lead else "", line=line)
    own = claims[0] is line[0]
    if not own:
        complete(env, claims[0].completing)
    evidence: Evidence = "environment" if own else "ancestor"
    return Caller(session=claims[0].session, lead=_lead_key(env), evidence=evidence, line=line)


def complete(env: MutableMapping[str, str], other: Mapping[str, str]) -> None:
    """Add to an environment the variables that it lacks and another one has: those of agentdash and of the adapters."""
    if not other:
        return
    from agentdash.sessions.agents.registry import (  # only a stripped environment needs the adapters
        agent_named,
        agent_names,
    )

    agents = map(agent_named, agent_names())
    keys = [*_OWN_KEYS, CLAUDE_SESSION, *(key for agent in agents for key in agent.env_keys)]
    for key in keys:
        if key in other:
            env.setdefault(key, other[key])


@cache
def ancestors() -> tuple[Link, ...]:
    """Return the ancestors of this process up to the first process, the nearest first, however many there are.

    Raises:
        AgentdashError: they end faster than they can be read, so that it is not known who calls.
    """
    for _ in range(_MOST_WALKS):
        if (line := _walked(os.getpid())) is not None:
            return line
    raise AgentdashError("The processes above this command end before they can be read. Run it again.")


def _walked(pid: int) -> tuple[Link, ...] | None:
    """Return the ancestors of a process; None if one of them ended meanwhile: its child has another parent now."""
    line: list[Link] = []
    child = processes.by_pid(pid, commands=False)
    while child is not None and child.parent > 1:
        parent = processes.by_pid(child.parent, commands=False)
        if parent is None or parent.start > child.start:  # a number that another process got
            return None
        line.append(Link(parent.pid, parent.start, processes.environment(parent.pid)))
        child = parent
    return tuple(line) if child is not None else None


@cache
def _itself() -> tuple[int, int]:
    process = processes.by_pid(os.getpid(), commands=False)
    return os.getpid(), process.start if process is not None else 0


def _tag(env: Mapping[str, str]) -> str | None:
    tag = env.get(processes.SESSION_TAG, "")
    return tag if SESSION_ID.fullmatch(tag) else None


def _lead_key(env: Mapping[str, str]) -> str | None:
    conversation = env.get(CLAUDE_SESSION, "")
    return f"claude:{conversation}" if _LEAD.fullmatch(conversation) else None
