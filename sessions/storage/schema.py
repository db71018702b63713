"""The schema of the database: ``schema.sql``, its version, and the refusal of a database with another one.

A change of ``schema.sql``, or of what a column means, takes the next version: a runner writes with the statements of
its own version until its session ends, and no other version's process may open that database.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from agentdash.sessions.model.errors import NewerStoreError, OlderStoreError
from agentdash.sessions.storage.paths import Layout, is_held

VERSION = 16
"""``user_version`` of a database with this schema."""

_TITLE = 40
"""Characters of a title in a message."""


def create(connection: sqlite3.Connection, path: Path) -> None:
    """Make sure that the database has this schema: an empty file gets all of it, or nothing.

    If several processes do this at once, one does the work; the others wait and find it done.

    Raises:
        NewerStoreError: a newer agentdash wrote the file.
        OlderStoreError: an older agentdash wrote the file.
        sqlite3.DatabaseError: the file cannot be written; it is unchanged.
    """
    if is_there(connection, path):
        return
    connection.execute("BEGIN EXCLUSIVE")
    try:
        if not is_there(connection, path):
            for statement in _statements():
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def is_there(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether the database has this schema; False for an empty file.

    Raises:
        NewerStoreError: a newer agentdash wrote the file.
        OlderStoreError: an older agentdash wrote the file.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > VERSION:
        raise NewerStoreError(f"{path} was written by a newer agentdash (schema {version}). Upgrade this one.")
    if 0 < version < VERSION:
        raise _older(connection, path, version)
    return version == VERSION


def _older(connection: sqlite3.Connection, path: Path, version: int) -> OlderStoreError:
    """Return the error of a database with an older schema; it names the sessions that the older version runs."""
    running = ", ".join(_running(connection, Layout(path.parent)))
    fact = f"{path} was written by an older agentdash (schema {version}; this one has {VERSION})."
    if not running:
        return OlderStoreError(fact, "Rebuild it from the session folders: agentdash doctor --rebuild", runs=False)
    fact = f"{fact} Sessions of the older one run and have to end first: {running}."
    return OlderStoreError(fact, "Wait, or stop them: agentdash stop ID. Then: agentdash doctor --rebuild", runs=True)


def _running(connection: sqlite3.Connection, layout: Layout) -> Iterator[str]:
    """Yield the sessions whose runners live: short ids and titles."""
    # A process that opens its own version's database needs neither.
    from agentdash.sessions.model.session import short_id
    from agentdash.sessions.text.sanitize import one_line

    for path in sorted(layout.sessions.glob("*/runner.lock")):
        if is_held(path):
            session = path.parent.name
            row = connection.execute("SELECT title, task FROM sessions WHERE id = ?", (session,)).fetchone()
            yield f'{short_id(session)} "{one_line(row[0] or row[1], _TITLE)}"' if row else short_id(session)


def _statements() -> Iterator[str]:
    """Yield the statements one by one: ``executescript`` would commit the caller's transaction."""
    pending = ""
    for line in Path(__file__).with_name("schema.sql").read_text("utf-8").splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
