"""The agent's process in the runner's hands: alive or gone, and how it went."""

import os
import subprocess

from . import processes


class AgentChild:
    """An agent that this runner started, or adopted from a runner that was killed.

    Every orphan that became ours is reaped too, so that none stays behind as a zombie.
    """

    def __init__(self) -> None:
        self.identity: tuple[int, int] | None = None
        """Pid and start time; None where there is no agent any more."""
        self.gone = True
        self.adopted = False
        """Started by another runner: its exit code can never be known."""
        self.wait_status: int | None = None
        self.rusage: dict[str, float] | None = None
        self.reaped: dict[int, int] = {}
        """Wait status by pid of what ended since the last :meth:`forget`."""
        self._process: subprocess.Popen[bytes] | None = None

    def started(self, process: subprocess.Popen[bytes]) -> tuple[int, int]:
        """Take a process just started; it cannot vanish before :meth:`reap` collects it."""
        found = processes.look(process.pid)
        self._process = process
        self.identity = (process.pid, found.start if found else 0)
        self.gone = False
        return self.identity

    def adopt(self, identity: tuple[int, int] | None) -> None:
        """Take over a process of another runner."""
        self.identity = identity
        self.adopted = True
        self.gone = identity is None or not processes.alive(*identity)

    def reap(self) -> None:
        """Collect whatever ended."""
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
        """Drop what was reaped: only a stop asks how others ended."""
        self.reaped.clear()

    @property
    def exit_code(self) -> int | None:
        """The code it ended with; None after a signal, or where it is not known."""
        code = self._code()
        return code if code is not None and code >= 0 else None

    @property
    def signal(self) -> str | None:
        """The name of the signal that ended it."""
        code = self._code()
        return processes.signal_name(-code) if code is not None and code < 0 else None

    def _code(self) -> int | None:
        return None if self.wait_status is None else os.waitstatus_to_exitcode(self.wait_status)
