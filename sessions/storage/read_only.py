"""Open the database of a state folder that cannot be written: a read-only mount, a backup, another user's folder.

SQLite reads a WAL database there only if the log's index (``-shm``) exists or is not needed (sqlite.org/wal.html,
"Read-Only Databases").  In the other cases the reader has to be opened again after each change of the files, because
SQLite does not notice it.
"""

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ..errors import StoreError
from . import schema

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

Signature = tuple[object, ...]
"""Inode, size and modification time of the database and its log."""


class Opened(Struct, frozen=True):
    """A connection that only reads."""

    connection: sqlite3.Connection
    signature: Signature | None = None
    """The state of the files when the connection was opened; None if SQLite notices changes itself."""
    copy: "TemporaryDirectory[str] | None" = None
    """The private copy that the connection reads; to be removed when the connection is closed."""


def open_read_only(path: Path, seconds: float) -> Opened:
    """Open the database for reading, waiting at most ``seconds`` for a lock.

    Raises:
        sqlite3.DatabaseError: the file is damaged, or may not be read.
        NewerStoreError: a newer agentdash wrote it.
        OlderStoreError: an older agentdash wrote it.
        StoreError: a copy was needed and could not be made.
    """
    log = path.with_name(f"{path.name}-wal")
    before = signature(path)
    with suppress(sqlite3.OperationalError):
        return Opened(_opened(path, "mode=ro", seconds))
    if not log.exists() or log.stat().st_size == 0:
        with suppress(sqlite3.OperationalError):
            # No process of ours can write here, and the signature shows the writes of others.
            return Opened(_opened(path, "mode=ro&immutable=1", seconds), before)
    return _copied(path, log, before, seconds)


def signature(path: Path) -> Signature:
    """Return a value that changes with each commit, as far as the file system shows it."""
    return tuple(part for file in (path, path.with_name(f"{path.name}-wal")) for part in _facts(file))


def _facts(path: Path) -> Signature:
    try:
        status = path.stat()
    except OSError:
        return (None,)
    return status.st_ino, status.st_size, status.st_mtime_ns


def _opened(path: Path, how: str, seconds: float) -> sqlite3.Connection:
    """Open a connection and make a first query.

    Raises:
        sqlite3.OperationalError: SQLite cannot read the file in this way.
    """
    uri = f"{path.absolute().as_uri()}?{how}"
    connection = sqlite3.connect(uri, uri=True, timeout=seconds, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()
        schema.create(connection, path)  # an empty file cannot be written here: it is copied
    except BaseException:
        connection.close()
        raise
    return connection


def _copied(path: Path, log: Path, before: Signature, seconds: float) -> Opened:
    """Open a private copy of the database and its log: the last resort, always correct."""
    import shutil  # here only: runners would load it for nothing
    from tempfile import TemporaryDirectory

    from .scratch import scratch_parent

    try:
        folder = TemporaryDirectory(dir=scratch_parent())
        copy = Path(folder.name) / path.name
        shutil.copyfile(path, copy)
        if log.exists():
            shutil.copyfile(log, copy.with_name(log.name))
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}.") from None
    connection = sqlite3.connect(copy, timeout=seconds, isolation_level=None, check_same_thread=False)
    try:
        schema.create(connection, path)
    except BaseException:
        connection.close()
        folder.cleanup()
        raise
    return Opened(connection, before, folder)
