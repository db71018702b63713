"""A disk that can be made full and free again: a small tmpfs, or a limit of file sizes where nothing can be mounted."""

import errno
import os
import resource
import subprocess
from pathlib import Path

from torture import book as world

TMPFS_BYTES = 6 << 20
LIMIT_BYTES = 6 << 20
"""More than the log of the database grows to (1 MB): what fails is the agents' own output, at a moment they choose."""

ROOMY = resource.RLIM_INFINITY


class SmallDisk:
    """A tmpfs of a few megabytes, filled by agents, and to the last byte by a file of ours."""

    name = "tmpfs"

    def __init__(self, folder):
        self.path = Path(folder) / "small"
        self.path.mkdir()
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={TMPFS_BYTES},mode=0700", "torture", str(self.path)],
            check=True,
            capture_output=True,
        )
        self._ballast = self.path / "ballast"
        self._ballast.write_bytes(b"x" * (TMPFS_BYTES // 3))
        self._filler = self.path / "filler"

    def options(self):
        """What a process on this disk must be started with."""
        return {}

    def fill(self, _home):
        """Take all that is free."""
        with self._filler.open("wb", buffering=0) as file:
            for size in (1 << 16, 1 << 12, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise

    def free(self, _home):
        """Give it back, and the ballast with it: what agents took stays taken."""
        self._filler.unlink()
        self._ballast.unlink()

    def close(self):
        """Unmount it."""
        subprocess.run(["umount", "-l", str(self.path)], check=True)


class LimitedFiles:
    """No file of those concerned may grow beyond a limit: to them, that is a disk without room (EFBIG)."""

    name = "RLIMIT_FSIZE"

    def __init__(self, folder):
        self.path = Path(folder) / "small"
        self.path.mkdir()

    def options(self):
        """The limit is inherited: it holds for every process that is started below, too."""
        return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT_BYTES, ROOMY))}

    def fill(self, home):
        """It is full as soon as a file reaches the limit; nothing can be taken in advance."""

    def free(self, home):
        """Lift the limit of all living processes; only they can start others during this."""
        while limited := [pid for pid, _, _ in world.tagged(home) if _limited(pid)]:
            for pid in limited:
                try:
                    resource.prlimit(pid, resource.RLIMIT_FSIZE, (ROOMY, ROOMY))
                except ProcessLookupError:
                    continue

    def close(self):
        """Nothing was taken from the machine."""


def _limited(pid):
    try:
        return resource.prlimit(pid, resource.RLIMIT_FSIZE)[0] != ROOMY
    except ProcessLookupError:
        return False


def make_disk(folder):
    """The small disk; where it cannot be mounted, or ``TORTURE_DISK=limit`` asks for it, the limit."""
    if os.environ.get("TORTURE_DISK") != "limit" and os.geteuid() == 0:
        try:
            return SmallDisk(folder)
        except (OSError, subprocess.CalledProcessError):
            (Path(folder) / "small").rmdir()
    return LimitedFiles(folder)
