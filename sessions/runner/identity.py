"""Processes as a runner records them: itself, and those that its agent left running."""

import os

from agentdash.sessions.model.session import Left
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.storage.turns.claim import Owner


def owner() -> Owner:
    """Return the identity of this process as the owner of a turn."""
    me = processes.by_pid(os.getpid())
    return Owner(
        pid=os.getpid(),
        start=me.start if me else 0,
        boot_id=processes.boot_id(),
        pid_ns=processes.pid_namespace(),
    )


def left_by_agent(living: dict[tuple[int, int], processes.Process]) -> tuple[Left, ...]:
    """Return the living processes of a session, with the ports on which they listen."""
    ports = processes.listening_ports([process.pid for process in living.values()])
    return tuple(
        Left(pid=p.pid, command=p.command, reason="left running by the agent", ports=ports.get(p.pid, ()))
        for p in living.values()
    )
