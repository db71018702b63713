"""The order of urgency as a column: computed by :mod:`..rules.urgency`, written in the transaction that changes a row.

A row's urgency is valid only for the position in the change feed (``seq``) for which it was computed.  A runner of an
earlier version does not know the column: its writes move ``seq``, so the urgency is outdated until the next
transaction of this version.  Archived sessions are not on the first screen and have no urgency.
"""

import sqlite3
from contextlib import suppress

from msgspec import MsgspecError

from ..rules.urgency import urgency
from .rows import SELECT_SESSION, session_from

OUTDATED = "archived_at IS NULL AND urgency_seq IS NOT sessions.seq"
"""Sessions in use whose urgency was not computed from their present facts, as SQL."""

CURRENT = "archived_at IS NULL AND urgency_seq IS sessions.seq"
"""Sessions in use whose urgency is up to date, as SQL."""

_WRITE = "UPDATE sessions SET urgency = ?, urgency_seq = (SELECT seq + 1 FROM counter) WHERE id = ?"
"""The trigger of the change feed gives the row this next number as its ``seq``."""


def write_urgency(connection: sqlite3.Connection) -> None:
    """Compute and write the urgency of the sessions in use whose facts changed; part of the caller's transaction."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    for row in cursor.execute(f"{SELECT_SESSION} WHERE {OUTDATED}").fetchall():
        # An unreadable row must not prevent the others from being written.
        with suppress(MsgspecError):
            connection.execute(_WRITE, (urgency(session_from(row)), row["id"]))
