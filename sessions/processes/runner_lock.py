"""The lock that shows whether a session's runner lives: the kernel drops it with the process, whatever kills it."""

import contextlib
import fcntl
import os
import time
from pathlib import Path

RETRY_SECONDS = 0.02


class HeldLock:
    """An exclusive ``flock`` held by this process; ends with the process, or with :meth:`release`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

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


def is_held(path: Path) -> bool:
    """Return whether a runner, or a process that reconciles, holds the lock; tested with a brief shared lock."""
    with contextlib.suppress(FileNotFoundError, PermissionError):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
    return False
