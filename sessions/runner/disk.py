"""A full disk during a turn: the evidence for it, and the reserved space in which the turn's end is recorded anyway.

The agent writes its turn file itself, so the runner gets no error for output that did not fit.  A disk is called full
only on evidence: a write of ours failed, or the agent's stderr names the error and its output breaks off.
"""

import contextlib
import errno
import os
import re
import resource
import time
from pathlib import Path

from agentdash.sessions.model.errors import DiskFullError
from agentdash.sessions.rules.status import NoRoom

NEARLY_FULL_BYTES = 256 * 1024
"""Free space below which a test write checks whether the disk is full."""

PROBE_SECONDS = 1.0
"""Time between two test writes while the disk is nearly full."""

RESERVE_BYTES = 128 * 1024
"""Space for the last commit of a turn and its ``session.json``; together they take about half of it."""

BLOCK_BYTES = 4096
"""The page size: output cut by a full disk ends at a multiple of it."""

_FULL = {errno.ENOSPC: "the disk was full", errno.EDQUOT: "the disk quota was used up"}
_NAMED = re.compile(r"No space left on device|\bENOSPC\b|Disk quota exceeded|\bEDQUOT\b")


class DiskWatch:
    """Watches the file system of one turn file, in which the turn's output begins at an offset."""

    def __init__(self, output: Path, begin: int = 0) -> None:
        self._output = output
        self._begin = begin
        self._probed_at = float("-inf")
        self._found: tuple[str, str] | None = None
        """The message, and the evidence for it."""
        self._size = 0
        """Size of the output, in bytes, when the disk was found full."""

    @property
    def trouble(self) -> str | None:
        """The line beside the status of a running turn; None if there has always been room."""
        return self._found[0] if self._found is not None else None

    def check(self) -> None:
        """Check for a full disk; costs one ``statvfs`` while there is room, and nothing once it was found full."""
        if self._found is not None:
            return
        with contextlib.suppress(OSError):
            system = os.statvfs(self._output)
            if system.f_bavail * system.f_frsize >= NEARLY_FULL_BYTES:
                return
            now = time.monotonic()
            if now - self._probed_at >= PROBE_SECONDS:
                self._probed_at = now
                self._find(self._probe())

    def blame(self, error: Exception) -> None:
        """Take an error in the runner's own recording as evidence, if it reports a full disk."""
        if self._found is not None:
            return
        if isinstance(error, DiskFullError):
            self._find((_FULL[errno.ENOSPC], "the database could not be written"))
        elif isinstance(error, OSError) and error.errno in _FULL:
            self._find((_FULL[error.errno], f"a write of the runner failed: {error.strerror}"))

    def at_the_end(self, stderr: str, *, proven: bool) -> NoRoom | None:
        """Return the evidence after the agent is gone; None if there is none.

        ``proven``: the adapter saw the proper end, so no test write is needed if the disk has room.
        """
        size, torn = _end_of(self._output, self._begin)
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]  # the agent inherited ours
        if size == limit:  # a longer file shows that the agent's own limit was lifted
            return NoRoom(
                what="its output reached the file size limit (ulimit -f)",
                evidence=f"the turn file has {size} bytes, which is the limit",
                cut=True,
            )
        self.check()
        if self._found is None and (torn or not proven):
            self._find(self._probe())  # a quota is not visible in statvfs
        named = _NAMED.search(stderr)
        if self._found is None and torn and named is not None and size and size % BLOCK_BYTES == 0:
            self._find((_FULL[errno.ENOSPC], f"its stderr says: {named[0]}"))
        if self._found is None:
            return None
        # An agent may wait for room and continue: its output then ends where the agent ended it.
        cut = torn and (size == self._size or self._probe() is not None)
        return NoRoom(what=self._found[0], evidence=self._found[1], cut=cut)

    def _find(self, evidence: tuple[str, str] | None) -> None:
        """Keep the first evidence, and the size of the output at that time."""
        if evidence is not None:
            self._found, self._size = evidence, _end_of(self._output, self._begin)[0]

    def _probe(self) -> tuple[str, str] | None:
        """Write one block beside the turn file and remove it; return the evidence if it did not fit."""
        path = self._output.with_name(f"{self._output.name}.probe")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            try:
                if os.write(descriptor, bytes(BLOCK_BYTES)) < BLOCK_BYTES:
                    os.write(descriptor, b"\0")  # reports why the first write was short
            finally:
                os.close(descriptor)
        except OSError as error:
            if error.errno in _FULL:
                return _FULL[error.errno], f"a test write beside the turn file failed: {error.strerror}"
        finally:
            with contextlib.suppress(OSError):
                path.unlink()
        return None


def take_reserve(path: Path) -> None:
    """Reserve disk space while a turn runs, so that its end can be recorded on a full disk; none if it does not fit."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return
    try:
        os.posix_fallocate(descriptor, 0, RESERVE_BYTES)
    except OSError:
        give_back(path)
    finally:
        os.close(descriptor)


def give_back(path: Path) -> bool:
    """Free the reserved space; False if none was reserved."""
    try:
        path.unlink()
    except OSError:
        return False
    return True


def _end_of(path: Path, begin: int) -> tuple[int, bool]:
    """Return a file's size, and whether its part from ``begin`` looks cut: within a line, or at the end of a page."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            return size, size > begin and (file.read(1) != b"\n" or size % BLOCK_BYTES == 0)
    except OSError:
        return 0, False
