"""Opening the SQLite file: version, migrations, and the two kinds of connection.

Merely opening a connection can touch the WAL and wake every watcher, so a process opens one ``query_only``
connection for reading and one for writing, when first needed, and keeps both.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

from ..errors import StoreError

VERSION = 1
"""``user_version`` of the schema in ``schema.sql``; a file with a higher one is refused."""

BUSY_SECONDS = 15.0
"""How long a writer waits for the others; transactions here take milliseconds."""


class Database:
    """The connections of one process; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = RLock()
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None

    def close(self) -> None:
        """Close both connections; a later use opens them again."""
        with self._lock:
            for connection in (self._reader, self._writer):
                if connection is not None:
                    connection.close()
            self._reader = self._writer = None

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """One ``BEGIN IMMEDIATE`` transaction: all of it is committed, or nothing.

        Raises:
            StoreError: the database cannot be opened.
            sqlite3.OperationalError: disk full, or other writers held it for ``BUSY_SECONDS``.
        """
        with self._lock:
            connection = self._writer = self._writer or self._open_writer()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            try:
                connection.execute("COMMIT")
            except BaseException:
                connection.rollback()
                raise

    def rows(self, sql: str, parameters: tuple[object, ...] = ()) -> list[sqlite3.Row]:
        """All rows of a query, fetched at once so that no read transaction stays open."""
        with self._lock:
            reader = self._reader = self._reader or self._open_reader()
            return reader.execute(sql, parameters).fetchall()

    def data_version(self) -> int:
        """A number that changes when another connection (ours for writing included) has committed."""
        value = self.rows("PRAGMA data_version")[0][0]
        return int(value)

    def _open_reader(self) -> sqlite3.Connection:
        self._writer = self._writer or self._open_writer()
        reader = self._connect()
        reader.execute("PRAGMA query_only = ON")
        return reader

    def _open_writer(self) -> sqlite3.Connection:
        writer = self._connect()
        try:
            writer.execute("PRAGMA journal_mode = WAL")
            writer.execute("PRAGMA synchronous = FULL")
            writer.execute("PRAGMA foreign_keys = ON")
            writer.execute("PRAGMA journal_size_limit = 4194304")
            migrate(writer, self.path)
        except sqlite3.Error as error:
            writer.close()
            raise StoreError(f"The database {self.path} cannot be used: {error}.") from None
        except BaseException:
            writer.close()
            raise
        return writer

    def _connect(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            self.path.chmod(0o600)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"The database {self.path} cannot be opened: {error}.") from None
        connection.row_factory = sqlite3.Row
        return connection


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the schema up to date; migrations only add, because older runners go on writing.

    Raises:
        StoreError: the file was written by a newer agentdash.
    """
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found == VERSION:
        return
    if found > VERSION:
        raise StoreError(f"{path} was written by a newer agentdash (schema {found}); please upgrade this one.")
    connection.execute("BEGIN EXCLUSIVE")
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            for statement in _statements((Path(__file__).parent / "schema.sql").read_text("utf-8")):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def _statements(script: str) -> Iterator[str]:
    """Cut a script into statements: ``executescript`` would commit the transaction we hold."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
