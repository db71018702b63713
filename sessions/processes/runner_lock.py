"""The lock that shows whether a session's runner lives: the kernel drops it with the process, whatever kills it.

The runner writes its identity into the file, so that others know which process holds it.
"""

import contextlib
import fcntl
import os
import time
from pathlib import Path

from ..storage import paths
from . import processes
from .processes import Process

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
