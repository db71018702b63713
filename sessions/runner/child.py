"""Processes as a runner records them: its agent, alive or gone, itself, and those that its agent left running."""

import os
import subprocess

from agentdash.sessions.model.session import Left
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.storage.turns.claim import Owner


class AgentChild:
    """An agent that this runner started, or adopted from a runner that was killed.

    Every orphan that became a child of the runner is reaped too, so that none stays as a zombie.
    """

    def __init__(self) -> None:
        self.identity: tuple[int, int] | None = None
        """Pid and start time; None if there is no agent."""
        self.gone = True
        self.adopted = False
        """True if another runner started it: its exit code can never be known."""
        self.wait_status: int | None = None
        self.rusage: dict[str, float] | None = None
        self.reaped: dict[int, int] = {}
        """Wait status by pid of the processes that ended since the last :meth:`forget`."""
        self._process: subprocess.Popen[bytes] | None = None

    def started(self, process: subprocess.Popen[bytes]) -> tuple[int, int]:
        """Take a process just started, and return its identity; it cannot vanish before :meth:`reap` collects it."""
        agent = processes.by_pid(process.pid)
        self._process = process
        self.identity = (process.pid, agent.start if agent else 0)
        self.gone = False
        return self.identity

    def adopt(self, identity: tuple[int, int] | None) -> None:
        """Take over a process that another runner started."""
        self.identity = identity
        self.adopted = True
        self.gone = identity is None or not processes.alive(*identity)

    def reap(self) -> None:
        """Collect every child that ended."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            self.reaped[pid] = status
            if self._process is not None and pid == self._process.pid:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                self.wait_status = status
                self.rusage = {
                    "user_s": usage.ru_utime,
                    "system_s": usage.ru_stime,
                    "max_rss_kb": usage.ru_maxrss,
                }
                self.gone = True
        if self.adopted and not self.gone and self.identity is not None:
            self.gone = not processes.alive(*self.identity)

    def forget(self) -> None:
        """Drop the collected wait statuses: only a stop needs those of other processes."""
        self.reaped.clear()

    @property
    def exit_code(self) -> int | None:
        """The agent's exit code; None after a signal, or if it is not known."""
        code = self._code()
        return code if code is not None and code >= 0 else None

    @property
    def signal(self) -> str | None:
        """The name of the signal that ended the agent; None after an exit."""
        code = self._code()
        return processes.signal_name(-code) if code is not None and code < 0 else None

    def _code(self) -> int | None:
        return None if self.wait_status is None else os.waitstatus_to_exitcode(self.wait_status)


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
