"""Notice at once that a file grew: inotify through ctypes, because a runner has to stay small."""

import ctypes
import os
import select
import sys
from pathlib import Path

_IN_MODIFY = 0x2  # sys/inotify.h


def watch_growth(path: Path) -> int | None:
    """Return a descriptor that becomes readable when the file is written; None if the kernel cannot watch it.

    The watch is on the file itself, not on the name that a writer uses.
    """
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = int(libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
    if descriptor < 0:
        return None
    if libc.inotify_add_watch(descriptor, os.fsencode(path), _IN_MODIFY) < 0:
        os.close(descriptor)
        return None
    return descriptor


class LateWatch:
    """Watches a file that may be found only after the wait began."""

    def __init__(self, poll: select.poll) -> None:
        self._poll = poll
        self.descriptor: int | None = None
        """Readable when the file was written; None if there is no file, or the kernel cannot watch it."""
        self._path: Path | None = None

    def on(self, path: Path | None) -> None:
        """Wait for this file, too; a repeated call has no effect."""
        if path is None or path == self._path:
            return
        self._path, self.descriptor = path, watch_growth(path)
        if self.descriptor is not None:
            self._poll.register(self.descriptor, select.POLLIN)

    def off(self) -> None:
        """Stop waiting for the file."""
        if self.descriptor is not None:
            self._poll.unregister(self.descriptor)
            os.close(self.descriptor)
            self.descriptor = None


def drain(descriptor: int) -> None:
    """Read and drop the pending events: that one arrived is all that matters."""
    try:
        while os.read(descriptor, 65536):
            pass
    except BlockingIOError:
        pass
