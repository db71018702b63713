"""The FIFO that is the standard input of a live agent: lines are written whole or not at all.

The agent itself holds it open for reading and writing, so that it never sees an end of file: a runner that is killed
leaves a working agent, and the next runner opens the FIFO again.  A write into an empty FIFO that is large enough is
whole or nothing, also under kill -9 of the writer (600 kills of 2 kB to 1 MB, 0 torn).  Room beside other bytes is not
enough: the kernel counts pages.  A torn line would end claude (docs/protocols/claude.md, "Standard input").
"""

import errno
import fcntl
import os
import termios
from pathlib import Path

MOST_BYTES = 1 << 20
"""The longest line: an unprivileged process may not enlarge a FIFO further (``/proc/sys/fs/pipe-max-size``)."""

_DRAINED = 1 << 16


class LineTooLongError(Exception):
    """A line does not fit into the FIFO as a whole."""


class Channel:
    """The writing end of a live agent's standard input.

    Raises:
        OSError: the FIFO cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        # Open for reading as well: the write end of a FIFO without a reader cannot be opened, or would break.
        self.path = path
        self._fifo = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._closed = False

    def close(self) -> None:
        """Close this end; the agent keeps its own.  A second call does nothing."""
        if not self._closed:
            self._closed = True
            os.close(self._fifo)

    @property
    def unread(self) -> int:
        """Bytes that the agent has not read."""
        return int.from_bytes(fcntl.ioctl(self._fifo, termios.FIONREAD, bytes(4)), "little")

    def write(self, line: bytes) -> bool:
        """Write a line with its newline; False if the agent has not read the line before, so that nothing is written.

        Raises:
            LineTooLongError: it can never be written.
            OSError: the FIFO is broken.
        """
        if self.unread:
            return False
        self._make_room(len(line))
        try:
            written = os.write(self._fifo, line)
        except BlockingIOError:
            return False
        if written != len(line):
            raise OSError(errno.EIO, f"{written} of {len(line)} bytes were written to the agent")
        return True

    def drain(self) -> bytes:
        """Remove and return what a dead agent has not read: the next agent must not get it."""
        parts = []
        try:
            while part := os.read(self._fifo, _DRAINED):
                parts.append(part)
        except BlockingIOError:
            pass
        return b"".join(parts)

    def _make_room(self, size: int) -> None:
        if size > MOST_BYTES:
            raise LineTooLongError(f"{size:,} bytes; at most {MOST_BYTES:,} can be written at once")
        if size <= fcntl.fcntl(self._fifo, fcntl.F_GETPIPE_SZ):
            return
        try:
            fcntl.fcntl(self._fifo, fcntl.F_SETPIPE_SZ, MOST_BYTES)
        except PermissionError:
            # The user's processes have enlarged too many (pipe-user-pages-soft).
            raise LineTooLongError(f"{size:,} bytes; the system allows no larger FIFO") from None


def make_fifo(path: Path) -> None:
    """Make the FIFO of a session's agent if it is missing.

    Raises:
        OSError: it cannot be made, or another kind of file has its name.
    """
    try:
        os.mkfifo(path, 0o600)
    except FileExistsError:
        if not path.is_fifo():
            raise
