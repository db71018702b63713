"""Check the state folder: whether it is writable, who may read it, its free space, and its file system."""

import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from ...storage.paths import Layout, is_read_only
from ...text.units import size
from ..machine.mounts import MOUNTS, REMOTE, mount_of, parse
from ..model import Finding, Subject, fail, ok, warn

LITTLE_BYTES = 1_000_000_000
TOO_LITTLE_BYTES = 50_000_000

_ELSEWHERE = "set AGENTDASH_HOME to a writable folder"


def folder(subject: Subject) -> Iterator[Finding]:
    """Report the folder's path, and whether it is writable."""
    home = subject.layout.home
    there = nearest(home)
    if not there.is_dir():
        yield fail("state folder", f"{there} is not a folder", _ELSEWHERE)
    elif is_read_only(there):
        yield _unwritable(home, there)
    elif there != home:
        yield ok("state folder", f"{home}, created on first use")
    else:
        yield ok("state folder", str(home))


def _unwritable(home: Path, there: Path) -> Finding:
    """Choose the remedy by the cause: the mount, or the owner and the mode."""
    can = "sessions can be read but not started or changed" if there == home else f"{home} cannot be created"
    if os.statvfs(there).f_flag & os.ST_RDONLY:
        return fail(
            "state folder", f"{there} is on a read-only file system: {can}", f"mount it writable, or {_ELSEWHERE}"
        )
    return fail("state folder", f"{there} cannot be written: {can}", f"chmod u+rwx it if it is yours, or {_ELSEWHERE}")


def permissions(subject: Subject) -> Iterator[Finding]:
    """Check whether other users may read it: prompts and answers may hold secrets."""
    home = subject.layout.home
    if not home.is_dir():
        return
    open_ones = [path for path in _private(subject.layout) if _mode(path) & 0o077]
    if not open_ones:
        yield ok("permissions", "folders 0700, files 0600")
        return
    first = open_ones[0]
    more = f" and {len(open_ones) - 1} more" if len(open_ones) > 1 else ""
    found = f"accessible to other users: {first} ({_mode(first):04o}){more}"
    yield warn("permissions", found, f"chmod -R go-rwx {shlex.quote(str(home))}")


def disk_space(subject: Subject) -> Iterator[Finding]:
    """Check the free space: a full disk ends turns."""
    there = nearest(subject.layout.home)
    free = shutil.disk_usage(there).free
    found = f"{size(free)} free"
    if free < TOO_LITTLE_BYTES:
        yield fail("disk space", f"{found}: too little to record a turn", f"free space on the disk of {there}")
    elif free < LITTLE_BYTES:
        yield warn("disk space", found, f"free space on the disk of {there}, or delete sessions: agentdash rm ID")
    else:
        yield ok("disk space", found)


def file_system(subject: Subject) -> Iterator[Finding]:
    """Check the file system: over a network neither locks nor file events are reliable."""
    mount = mount_of(parse(subject.text(MOUNTS)), nearest(subject.layout.home).resolve())
    if mount is None:
        return
    if mount.kind in REMOTE:
        found = f"{mount.kind} on {mount.point}: locks and file events are unreliable there"
        yield warn("file system", found, "set AGENTDASH_HOME to a folder on a local disk")
    else:
        yield ok("file system", f"{mount.kind} on {mount.point}")


def nearest(path: Path) -> Path:
    """Return the path itself, or its nearest existing parent."""
    return next((there for there in (path, *path.parents) if there.exists()), path)


def _mode(path: Path) -> int:
    """Return the permission bits; 0 for a file that was just deleted."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        return 0


def _private(layout: Layout) -> Iterator[Path]:
    """Yield the existing paths that no other user may read; each folder also hides its contents."""
    yield layout.home
    yield from layout.home.glob("agentdash.db*")
    for room in (layout.sessions, layout.live, layout.trash):
        if room.is_dir():
            yield room
            yield from (entry for entry in room.iterdir() if room == layout.sessions and entry.is_dir())
