"""Open the SQLite file: the kinds of connection, and messages for its errors.

Merely opening a connection can touch the WAL and wake every watcher.  A process therefore opens one ``query_only``
connection for reading and one for writing, when first needed, and keeps both.

A folder that cannot be written (a read-only mount, a backup, another user's folder) gets only the reader.  SQLite
reads a WAL database there only if the log's index (``-shm``) exists or is not needed (sqlite.org/wal.html, "Read-Only
Databases").  In the other cases the reader has to be opened again after each change of the files, because SQLite does
not notice it."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from time import sleep
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.errors import DiskFullError, ReadOnlyError, Remedy, StoreError
from agentdash.sessions.storage import schema
from agentdash.sessions.storage.paths import is_read_only, read_only_error

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory


BUSY_SECONDS = 15.0
"""Longest wait of a writer for the others; transactions here take milliseconds."""

_BETWEEN_SECONDS = 0.01
"""Time between two attempts to give a new file its log."""

_LOG_BYTES = 1 << 20
"""Size of the log, in bytes, from which on it is moved into the file: what it takes of a disk that becomes full."""

_SHARED_BYTES = 32 * 1024
"""Size of the file with which the connections of a database share memory (SQLite's ``-shm``)."""


class Database:
    """The connections of one process; safe to use from several threads.

    Args:
        cache_kib: pages of the file that each connection keeps, in KiB; None for SQLite's own 2,000.
    """

    def __init__(self, path: Path, cache_kib: int | None = None) -> None:
        self.path = path
        self._cache_kib = cache_kib
        self._lock = RLock()
        self._inode: int | None = None
        self._openings = 0
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None
        self._writing: sqlite3.Connection | None = None
        """The connection of the transaction that runs; None if none runs."""
        self._opened: Opened | None = None
        """The opened reader, if the folder cannot be written."""

    def close(self) -> None:
        """Close both connections; a later use opens them again."""
        with self._lock:
            for connection in (self._reader, self._writer):
                if connection is not None:
                    connection.close()
            if self._opened is not None and self._opened.copy is not None:
                self._opened.copy.cleanup()
            self._reader = self._writer = self._inode = self._opened = None

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run one ``BEGIN IMMEDIATE`` transaction: all of it is committed, or nothing.

        Raises:
            StoreError: disk full, file damaged or gone, or other writers held the lock for ``BUSY_SECONDS``.
            ReadOnlyError: the folder cannot be written.
        """
        with self._lock, self._told():
            self._drop_if_replaced()
            from agentdash.sessions.storage.urgency import write_urgency  # a status line reads without the rules

            connection = self._writer = self._writer or self._open_writer()
            connection.execute("BEGIN IMMEDIATE")
            self._writing = connection
            try:
                yield connection
                write_urgency(connection)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.rollback()
                raise
            finally:
                self._writing = None

    def run(self, sql: str, parameters: tuple[object, ...] = ()) -> bool:
        """Run one statement as a transaction of its own; return whether it changed a row."""
        with self.transaction() as db:
            return db.execute(sql, parameters).rowcount > 0

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let the queries inside see one state of the database: no commit comes between them."""
        with self._lock, self._told():
            self._drop_if_replaced()
            reader = self._reader = self._reader or self._open_reader()
            reader.execute("BEGIN")
            try:
                yield
            finally:
                with suppress(sqlite3.Error):
                    reader.execute("COMMIT")

    def rows(self, sql: str, parameters: tuple[object, ...] = ()) -> list[sqlite3.Row]:
        """Return all rows of a query, fetched at once so that no read transaction stays open.

        Inside a transaction the rows are as the transaction has left them so far.

        Raises:
            StoreError: the file is damaged or gone.
        """
        with self._lock, self._told():
            if self._writing is not None:
                return self._writing.execute(sql, parameters).fetchall()
            self._drop_if_replaced()
            reader = self._reader = self._reader or self._open_reader()
            return reader.execute(sql, parameters).fetchall()

    def value(self, sql: str, parameters: tuple[object, ...] = ()) -> Any | None:
        """Return the first value of the first row of a query; None if there is no row.  Errors are those of `rows`."""
        return next((row[0] for row in self.rows(sql, parameters)), None)

    def data_version(self) -> tuple[int, int, int]:
        """A value that changes when another connection, our writer included, commits; first item: the file's inode."""
        with self._lock:
            value = self.rows("PRAGMA data_version")[0][0]
            return self._inode or 0, self._openings, int(value)

    def _drop_if_replaced(self) -> None:
        """Close a file that is no longer the database: it was rebuilt, or its folder was removed.

        Also close a file that changed, if SQLite does not notice the change.
        """
        inside = self._reader is not None and self._reader.in_transaction
        if self._inode is None or inside:
            return
        fixed = self._opened.signature if self._opened is not None else None
        if self._inode != _inode(self.path) or (fixed is not None and fixed != signature(self.path)):
            self.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn SQLite's errors into readable ones, and close the connections; the next use opens them again."""
        try:
            yield
        except sqlite3.IntegrityError:
            raise
        except sqlite3.DatabaseError as error:
            full = _is_full(error, self.path.parent)
            if full:
                self._reuse_log()
            self.close()
            if full:
                raise DiskFullError(f"The disk is full: {self.path} cannot be written.") from None
            if _code(error) == sqlite3.SQLITE_READONLY:
                raise ReadOnlyError(
                    f"The database {self.path} is read-only: nothing can be recorded.",
                    Remedy.DIAGNOSE,
                    "Details: agentdash doctor",
                ) from None
            raise StoreError(_meaning(error, self.path)) from None

    def _reuse_log(self) -> None:
        """Move what the log holds into the file, so that the next transaction has room: its log is empty."""
        if self._writer is not None:
            with suppress(sqlite3.Error):
                self._writer.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def _open_reader(self) -> sqlite3.Connection:
        if is_read_only(self.path.parent):
            return self._open_fixed()
        self._writer = self._writer or self._open_writer()
        self._openings += 1  # a new connection's data_version starts at the same number
        reader = self._connect()
        reader.execute("PRAGMA query_only = ON")
        return reader

    def _open_fixed(self) -> sqlite3.Connection:
        """Open the reader in a folder that cannot be written."""
        self._openings += 1
        self._inode = _inode(self.path)
        if self._inode is None:
            raise ReadOnlyError(f"The state folder {self.path.parent} is read-only and has no database.")
        self._opened = open_read_only(self.path, BUSY_SECONDS)
        reader = self._opened.connection
        reader.row_factory = sqlite3.Row
        reader.execute("PRAGMA query_only = ON")
        return reader

    def _open_writer(self) -> sqlite3.Connection:
        if is_read_only(self.path.parent):
            raise read_only_error(self.path.parent)
        writer = self._connect()
        try:
            _use_wal(writer)
            writer.execute("PRAGMA synchronous = FULL")
            writer.execute("PRAGMA foreign_keys = ON")
            writer.execute(f"PRAGMA wal_autocheckpoint = {_LOG_BYTES // 4096}")
            writer.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
            schema.create(writer, self.path)
        except BaseException:
            writer.close()
            raise
        return writer

    def _connect(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            self.path.chmod(0o600)
        except OSError as error:
            raise StoreError(f"The database {self.path} cannot be opened: {error}.") from None
        if self._cache_kib is not None:
            connection.execute(f"PRAGMA cache_size = -{self._cache_kib}")
        connection.row_factory = sqlite3.Row
        self._inode = _inode(self.path)
        return connection


class DatabasePart:
    """The reads and writes of one subject."""

    def __init__(self, database: Database) -> None:
        self._database = database


def _use_wal(writer: sqlite3.Connection) -> None:
    """Use a write-ahead log, which the file keeps; wait for other processes that open the new file at the same moment.

    SQLite (3.40) refuses all but one of them at once, whatever the time limit of the connection is.
    """
    deadline = monotonic() + BUSY_SECONDS
    while True:
        try:
            writer.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or monotonic() >= deadline:
                raise
        sleep(_BETWEEN_SECONDS)


def _inode(path: Path) -> int | None:
    try:
        return os.stat(path).st_ino  # noqa: PTH116 - asked for at every look at the feed
    except OSError:
        return None


def _code(error: sqlite3.DatabaseError) -> int:
    """The primary result code of an extended SQLite error code."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _is_full(error: sqlite3.DatabaseError, folder: Path) -> bool:
    """Return whether the disk is full; SQLite reports the file for its shared memory, which has no room, otherwise."""
    if _code(error) != sqlite3.SQLITE_IOERR:
        return _code(error) == sqlite3.SQLITE_FULL
    try:
        system = os.statvfs(folder)
    except OSError:
        return False
    return system.f_bavail * system.f_frsize < _SHARED_BYTES


def _meaning(error: sqlite3.DatabaseError, path: Path) -> str:
    code = _code(error)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return (
            f"The database {path} is damaged: {error}. Rebuild it from the session folders: agentdash doctor --rebuild"
        )
    return f"The database {path} cannot be used: {error}. Details: agentdash doctor"


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

    from agentdash.sessions.storage.scratch import scratch_parent

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
