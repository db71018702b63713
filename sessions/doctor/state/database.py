"""Check whether the database is intact, and whether this agentdash understands it.

It is opened read-only and never created.  A caller that needs its rows gets None if it cannot be read.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import AgentdashError, NewerStoreError, OlderStoreError
from ...storage import schema
from ...storage.database import open_read_only
from ...storage.paths import is_read_only
from ..model import Finding, Subject, fail, ok, warn

REBUILD = "agentdash doctor --rebuild"

_PATIENCE_SECONDS = 5.0


def database(subject: Subject) -> Iterator[Finding]:
    """Check its pages, then its schema."""
    path = subject.layout.database
    if not path.exists():
        yield ok("database", "none yet")
        return
    try:
        with opened(path) as connection:
            problem = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            complete = schema.is_there(connection, path)
    except sqlite3.OperationalError as error:
        yield fail("database", f"{path} cannot be read: {error}", "check the owner of the file and its folder")
    except sqlite3.DatabaseError as error:
        yield fail("database", f"{path} is damaged: {error}", REBUILD)
    except NewerStoreError as error:
        yield fail("database", str(error), "upgrade agentdash")
    except OlderStoreError as error:
        yield fail("database", error.fact, f"agentdash stop ID, or wait; then {REBUILD}" if error.runs else REBUILD)
    except AgentdashError as error:
        yield fail("database", str(error), "check the owner of the file and its folder")
    else:
        yield judge(problem, complete=complete)


def judge(problem: str, *, complete: bool) -> Finding:
    """Judge the result of SQLite's check, and whether the file has the schema."""
    if problem != "ok":
        return fail("database", f"damaged: {problem}", REBUILD)
    if not complete:
        return warn("database", "empty", "agentdash ls gives it its tables")
    return ok("database", f"ok, schema {schema.VERSION}")


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a connection that writes no page.

    Raises:
        sqlite3.OperationalError: there is no such file, or it may not be read.
    """
    copy = None
    if is_read_only(path.parent):
        database = open_read_only(path, _PATIENCE_SECONDS)
        connection, copy = database.connection, database.copy
    else:
        uri = f"{path.absolute().as_uri()}?mode=ro"
        connection = sqlite3.connect(uri, uri=True, timeout=_PATIENCE_SECONDS, isolation_level=None)
    connection.row_factory = sqlite3.Row
    try:
        yield connection
    finally:
        connection.close()
        if copy is not None:
            copy.cleanup()


def rows(path: Path, sql: str, parameters: tuple[object, ...] = ()) -> list[sqlite3.Row] | None:
    """Return all rows of a query; [] if there is no database yet, None if it cannot be read."""
    if not path.exists():
        return []
    try:
        with opened(path) as connection:
            return connection.execute(sql, parameters).fetchall()
    except (sqlite3.Error, AgentdashError):
        return None
