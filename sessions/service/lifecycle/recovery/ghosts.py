"""Session folders without rows, classified so that nothing of value is removed.

A start creates the folder first and the rows right after.  Killed between the two, it leaves an empty folder.  A
deletion removes the rows first and moves the folder right after.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import NewerStoreError, StoreError
from agentdash.sessions.runner.processes import runner_lock
from agentdash.sessions.storage.files.session_record import read_identity
from agentdash.sessions.storage.paths import SESSION_ID, Layout, SessionFolder

GRACE_SECONDS = 60.0
"""A folder younger than this may belong to a start that is still in progress."""


class Ghost(StrEnum):
    """Kinds of session folders without rows."""

    NEW = "new"
    """Empty and just created, or a runner holds its lock: left alone."""
    EMPTY = "empty"
    """A start that was cut off: the folder holds nothing, and no agent ever ran in it."""
    RECORDED = "recorded"
    """Its ``session.json`` can restore its rows."""
    UNRECORDED = "unrecorded"
    """It holds files, but no readable ``session.json``."""
    FOREIGN = "foreign"
    """A newer agentdash wrote its ``session.json``."""
    OTHER = "other"
    """Not a session's folder: agentdash did not create it."""


def ghosts(layout: Layout, known: set[str]) -> Iterator[tuple[SessionFolder, Ghost]]:
    """Yield the session folders whose ids are not ``known``, each with its kind, ordered by id."""
    for path in sorted(layout.sessions.iterdir()):
        if SESSION_ID.fullmatch(path.name) and path.name not in known and path.is_dir():
            folder = layout.session(path.name)
            yield folder, kind_of(folder)


def kind_of(folder: SessionFolder) -> Ghost:
    """Classify a folder without rows."""
    try:
        read_identity(folder.identity)
    except NewerStoreError:
        return Ghost.FOREIGN
    except StoreError:
        if not folder.turns.is_dir():
            return Ghost.OTHER
        if runner_lock.is_held(folder.lock):
            return Ghost.NEW
        if not _holds_nothing(folder):
            return Ghost.UNRECORDED
        return Ghost.EMPTY if _age_seconds(folder.path) >= GRACE_SECONDS else Ghost.NEW
    return Ghost.RECORDED


def remove_empty(folder: SessionFolder) -> bool:
    """Remove the folder of a start that was cut off; False if it holds anything now, in which case it stays."""
    if not _holds_nothing(folder):
        return False
    with suppress(OSError):
        for path in (folder.poke, folder.lock, folder.environment):
            path.unlink(missing_ok=True)
        folder.turns.rmdir()
        folder.path.rmdir()
    return not folder.path.exists()


def _holds_nothing(folder: SessionFolder) -> bool:
    """True if the folder holds only what a start creates before its rows: no other file has a byte in it."""
    try:
        return all(_is_scaffold(folder, path) for path in folder.path.iterdir())
    except OSError:
        return False


def _is_scaffold(folder: SessionFolder, path: Path) -> bool:
    if path == folder.turns:
        return path.is_dir() and not any(path.iterdir())
    status = path.lstat()
    if path == folder.environment:
        return stat.S_ISREG(status.st_mode)
    if path == folder.poke:
        return stat.S_ISFIFO(status.st_mode)
    return path == folder.lock and stat.S_ISREG(status.st_mode) and status.st_size == 0


def _age_seconds(path: Path) -> float:
    """Seconds since anything was created in the folder; 0 if the clock went back."""
    try:
        changed = max(os.stat(place).st_mtime for place in (path, path / "turns") if place.exists())  # noqa: PTH116
    except (OSError, ValueError):
        return 0.0
    return max(0.0, now_ms() / 1000 - changed)
