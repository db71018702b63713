"""The lock that shows whether a session's runner lives, and agentdash's own processes in the tree below an agent.

The kernel drops the lock with the process, whatever kills it.  The runner writes its identity into the file, so that
others know which process holds it.

An agent can start sessions, so their runners descend from its own runner, and so does a process that waits for the
queue's sake.  A program chooses its own command line and environment, so neither proves anything.  The command line
only names a lock of the state folder; the proof is that the lock is held and that the process's identity is written in
it.  A program can lock a file that it can only read, but it cannot write there.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Sequence
from pathlib import Path

from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.processes.processes import Process
from agentdash.sessions.storage import paths
from agentdash.sessions.storage.paths import SESSION_ID, SessionFolder

RETRY_SECONDS = 0.02
LONGEST_SIGNATURE = 300
"""Bytes of a lock file that are read; a signature has about 70."""

is_held = paths.is_held


class HeldLock:
    """An exclusive ``flock`` held by this process; ends with the process, or with :meth:`release`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def sign(self) -> None:
        """Write the identity of this process into the file; on a full disk the file is left empty."""
        me = processes.by_pid(os.getpid(), commands=False)
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            if me is not None:
                os.pwrite(self._descriptor, identity(me).encode(), 0)

    def release(self) -> None:
        """Release the lock."""
        os.close(self._descriptor)

    def __enter__(self) -> "HeldLock":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def hold(path: Path, timeout: float = 0.0) -> HeldLock | None:
    """Take the lock, waiting at most ``timeout`` seconds; None if another process has it.

    Raises:
        FileNotFoundError: the session's folder is gone.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + timeout
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return None
            time.sleep(RETRY_SECONDS)
        else:
            return HeldLock(descriptor)


def identity(process: Process) -> str:
    """Return the text that names a process on any host and in any container."""
    return f"{process.pid} {process.start} {processes.boot_id()} {processes.pid_namespace()}"


def signature(path: Path) -> str | None:
    """Return the identity that is written in the lock; "" if none is, and None if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(LONGEST_SIGNATURE).decode("utf-8", "replace")
    except OSError:
        return None


def signer(path: Path) -> tuple[int, int] | None:
    """Return the pid and the start time of the process that holds the lock; None if none does, or it did not sign."""
    words = (signature(path) or "").split()
    if len(words) < 3 or not words[0].isdecimal() or not words[1].isdecimal() or not is_held(path):
        return None
    process = processes.by_pid(int(words[0]), commands=False)
    if process is None or process.zombie:  # it is dead, though not reaped: it holds no lock
        return None
    return process.key if identity(process).split() == words else None


RUNNER_MODES = frozenset({"run", "adopt", "warm", "sweep"})
WAITER_MODE = "wait"

YOUNG_SECONDS = 10.0
"""Age below which such a process may not hold its lock yet."""


class Helpers:
    """The processes of agentdash that work for a state folder."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def lock_of(self, pid: int) -> Path | None:
        """Return the lock that a process should hold by its command line; None for any other program.

        The last arguments of agentdash's processes are the state folder, a session, a number, and what they do.
        """
        argv = processes.arguments(pid)
        if len(argv) < 5 or not SESSION_ID.fullmatch(argv[-3]) or not argv[-2].isdecimal():
            return None
        folder = SessionFolder(self._home / "sessions" / argv[-3])
        lock = folder.lock if argv[-1] in RUNNER_MODES else folder.waiter_lock if argv[-1] == WAITER_MODE else None
        return lock if lock is not None and _is_same_folder(argv[-4], self._home) else None


def is_proven(lock: Path, process: Process) -> bool:
    """Return whether a process holds a lock of the state folder as its signer; on a full disk it signs none."""
    return is_held(lock) and signature(lock) in (identity(process), "")


def is_young(process: Process) -> bool:
    """Return whether a process may not have taken its lock yet."""
    age = processes.age_seconds(process)
    return age is not None and age < YOUNG_SECONDS


def arguments(home: Path, session_id: str, number: int, mode: str) -> Sequence[str]:
    """Return the last arguments of a process of agentdash, by which it is found."""
    return str(home), session_id, str(number), mode


def _is_same_folder(given: str, home: Path) -> bool:
    try:
        return os.path.samefile(given, home)  # noqa: PTH121 - the text can be anything
    except (OSError, ValueError):
        return False
