"""Find the file system of a path in the kernel's mount table; pure."""

import re
from pathlib import Path

from msgspec import Struct

MOUNTS = "proc/self/mountinfo"

REMOTE = frozenset(
    {
        "9p", "afs", "beegfs", "ceph", "cifs", "davfs", "drvfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2",
        "smb3", "smbfs", "fuse.ceph", "fuse.davfs2", "fuse.gcsfuse", "fuse.glusterfs", "fuse.goofys",
        "fuse.grpcfuse", "fuse.osxfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs",
    }
)  # fmt: skip
"""File systems on which other machines write unseen: no events, unreliable locks, no shared memory for SQLite's WAL."""

_OCTAL = re.compile(r"\\([0-7]{3})")


class Mount(Struct, frozen=True, kw_only=True):
    """One line of mountinfo (proc(5))."""

    point: Path
    kind: str
    """``ext4``, ``nfs4``, ``fuse.sshfs``."""
    options: frozenset[str]
    """The options of the file system, such as ``hidepid=2``."""


def parse(mountinfo: str) -> list[Mount]:
    """Return the mounts in their order; invalid lines are skipped."""
    mounts = []
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        place, system = before.split(), after.split()
        if len(place) >= 5 and len(system) >= 3:
            point = _OCTAL.sub(lambda code: chr(int(code[1], 8)), place[4])
            options = frozenset(system[2].split(","))
            mounts.append(Mount(point=Path(point), kind=system[0], options=options))
    return mounts


def mount_of(mounts: list[Mount], path: Path) -> Mount | None:
    """Return the mount of a path without links: the deepest, and the last of several on the same mount point."""
    around = [mount for mount in mounts if path.is_relative_to(mount.point)]
    return max(reversed(around), key=lambda mount: len(mount.point.parts), default=None)
