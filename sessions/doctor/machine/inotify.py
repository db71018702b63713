"""Check the kernel's file events: their limits, and whether they work in the state folder."""

import os
import select
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ...storage.paths import is_read_only
from ...supervision.inotify import watch_growth
from ..model import Finding, Subject, ok, warn

FEW_INSTANCES = 128
"""The kernel's default; each runner and each front end takes one, and editors take many."""

FEW_WATCHES = 8192

_SECONDS = 2.0
"""Time limit for an event, which normally takes microseconds."""

_LIMITS = "proc/sys/fs/inotify"


def instances_and_watches(subject: Subject) -> Iterator[Finding]:
    """Check the limits of this user; no finding if the system has no limits."""
    instances = _number(subject.text(f"{_LIMITS}/max_user_instances"))
    watches = _number(subject.text(f"{_LIMITS}/max_user_watches"))
    if instances is None or watches is None:
        return
    found = f"{instances} instances, {watches} watches for this user"
    if instances < FEW_INSTANCES:
        yield warn("inotify", found, "sudo sysctl fs.inotify.max_user_instances=512")
    elif watches < FEW_WATCHES:
        yield warn("inotify", found, "sudo sysctl fs.inotify.max_user_watches=65536")
    else:
        yield ok("inotify", found)


def file_events(subject: Subject) -> Iterator[Finding]:
    """Write to a file in the state folder and wait for the event; no finding if the folder is missing or read-only."""
    home = subject.layout.home
    if not home.is_dir() or is_read_only(home):
        return
    with tempfile.TemporaryDirectory(prefix=".doctor-", dir=home) as scratch:
        reported = growth_is_reported(Path(scratch) / "file")
    if reported is None:
        remedy = "close other programs that watch files, or: sudo sysctl fs.inotify.max_user_instances=512"
        yield warn("file events", "the kernel refuses a watch: agentdash polls twice a second instead", remedy)
    elif reported:
        yield ok("file events", "writes in the state folder are reported")
    else:
        found = "writes in the state folder are not reported: updates are up to two seconds late"
        yield warn("file events", found, "set AGENTDASH_HOME to a folder on a local disk")


def growth_is_reported(path: Path) -> bool | None:
    """Return whether a write to this file is reported; None if it cannot be watched."""
    path.touch(0o600)
    descriptor = watch_growth(path)
    if descriptor is None:
        return None
    try:
        path.write_bytes(b"!")
        return bool(select.select([descriptor], [], [], _SECONDS)[0])
    finally:
        os.close(descriptor)


def _number(text: str) -> int | None:
    return int(text) if text.strip().isdigit() else None
