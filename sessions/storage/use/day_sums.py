"""The sums of use by local days, in a file beside the indexes, so that a year can be shown at once.

The file is derived from ``use_sums``: sessions that changed since it was written are added up again when use is asked
for, so a report of an agent costs no further write.  It is made again if it does not fit the database or the time zone,
and use is added up without it if it cannot be written.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock

from agentdash.sessions.storage.database import Database
from agentdash.sessions.storage.local_days import day_sql, zone
from agentdash.sessions.storage.paths import is_read_only

FIGURES = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
    "reported_usd",
    "computed_usd",
)
"""The columns that are added up."""

FLAGS = ("missing", "tokens_missing")
"""The columns that are 1 if a part has no cost, and if the tokens of a part are not known."""

_WAIT_SECONDS = 2.0
"""Longest wait for another process that writes the file; it is used without then."""

_FORMAT = 1
"""The number of the form of the file; another one is made again."""

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

COLUMNS = ("session", "day", "model", "price_as_of", "agent", "folder", *FIGURES, *FLAGS)
"""The columns of the table ``days``."""

_TABLES = (
    (
        "CREATE TABLE IF NOT EXISTS days (session TEXT NOT NULL, day INTEGER NOT NULL, model TEXT NOT NULL,"
        f" price_as_of TEXT NOT NULL, agent TEXT NOT NULL, folder TEXT NOT NULL, {', '.join(FIGURES)},"
        f" {', '.join(f'{name} INTEGER NOT NULL' for name in FLAGS)},"
        " PRIMARY KEY (session, day, model, price_as_of)) WITHOUT ROWID"
    ),
    "CREATE TABLE IF NOT EXISTS made (of TEXT NOT NULL, seq INTEGER NOT NULL)",
)


def by_days(condition: str = "") -> str:
    """Return the query of the sums by sessions, days, models and dates of prices, of the rows that fit a condition."""
    sums = ", ".join(f"sum({name}) AS {name}" for name in FIGURES)
    return (
        "SELECT used.session AS session, day, used.model AS model, price_as_of,"  # noqa: S608
        " coalesce(sessions.agent, gone.agent, '') AS agent, coalesce(sessions.cwd, gone.cwd, '') AS folder,"
        f" {', '.join(f'used.{name} AS {name}' for name in (*FIGURES, *FLAGS))}"
        f" FROM (SELECT session, {day_sql('quarter')} AS day, model, price_as_of, {sums}, max(missing) AS missing,"
        " max(total_tokens IS NULL) AS tokens_missing"
        f" FROM use_sums{f' WHERE {condition}' if condition else ''} GROUP BY 1, 2, 3, 4) AS used"
        " LEFT JOIN sessions ON sessions.id = used.session LEFT JOIN tombstones AS gone ON gone.session = used.session"
    )


class DaySums:
    """The file of one state folder; its table ``days`` has the rows of :func:`by_days`.

    Args:
        path: the file; its folder is made.
    """

    def __init__(self, database: Database, path: Path) -> None:
        self._database = database
        self._path = path
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = None
        self._of = ""
        """Names the database, the time zone and the form for which the connection was opened."""
        self._file = (0, 0)
        """The device and the inode of the file that is open."""

    def close(self) -> None:
        """Close the file; a later use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection | None]:
        """Let the queries inside see one state of the file, which is up to date, and of the database.

        None if the file cannot be used, for example because the folder cannot be written.
        """
        with self._lock:
            connection = self._current()
            if connection is None:
                yield None
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                with suppress(sqlite3.Error):
                    connection.execute("COMMIT")

    def _current(self) -> sqlite3.Connection | None:
        """Return a connection to the file as it is after all changes of the database; None if that is not possible."""
        try:
            file = self._database.path.stat()
            of = f"{_FORMAT} {file.st_dev} {file.st_ino} {zone()}"
            if of != self._of or self._file != _identity(self._path):
                self.close()
            self._of = of
            if self._connection is None:
                self._connection = self._open()
            self._add_changes(self._connection)
        except (sqlite3.Error, OSError) as error:
            self.give_up(error)
            return None
        return self._connection

    def give_up(self, error: Exception) -> None:
        """Close the file after an error, and remove it if it is damaged; a later use makes it again."""
        self.close()
        if isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
            forget(self._path)

    def _open(self) -> sqlite3.Connection:
        if is_read_only(self._database.path.parent):
            raise PermissionError(f"{self._database.path.parent} is read-only")
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self._path.exists():
            self._path.touch(mode=0o600)
        connection = sqlite3.connect(
            self._path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False, uri=True
        )
        try:
            connection.row_factory = sqlite3.Row
            for statement in _TABLES:
                connection.execute(statement)
            connection.execute("ATTACH ? AS store", (f"{self._database.path.absolute().as_uri()}?mode=ro",))
            self._file = _identity(self._path)
        except BaseException:
            connection.close()
            raise
        return connection

    def _add_changes(self, connection: sqlite3.Connection) -> None:
        """Add up again the sessions that changed; makes one query if none did."""
        state = "SELECT of, made.seq, counter.seq AS now FROM store.counter LEFT JOIN made"
        made = connection.execute(state).fetchone()
        if (made["of"], made["seq"]) == (self._of, made["now"]):
            return
        connection.execute("BEGIN")
        try:
            connection.execute("DELETE FROM days WHERE 0")  # takes the lock before the database is read
            made = connection.execute(state).fetchone()
            if made["of"] == self._of and made["seq"] <= made["now"]:
                later = f"seq > {made['seq']}"
                changed = (
                    f"session IN (SELECT id FROM sessions WHERE {later}"  # noqa: S608
                    f" UNION SELECT session FROM tombstones WHERE {later})"
                )
                connection.execute(f"DELETE FROM days WHERE {changed}")  # noqa: S608
                connection.execute(f"INSERT INTO days {by_days(changed)}")
            else:
                connection.execute("DELETE FROM days")
                connection.execute(f"INSERT INTO days {by_days()}")
            connection.execute("DELETE FROM made")
            connection.execute("INSERT INTO made VALUES (?, ?)", (self._of, made["now"]))
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.rollback()
            raise


def _identity(path: Path) -> tuple[int, int]:
    """Return the device and the inode of a file; zeros if there is none."""
    with suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return 0, 0


def forget(path: Path) -> None:
    """Remove the file, so that it is made again; one that cannot be removed does no harm."""
    with suppress(OSError):
        path.unlink()
