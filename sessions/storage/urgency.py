"""The order of urgency as a column: computed by :mod:`..rules.urgency`, written in the transaction that changes a row.

A row's urgency counts only for the position in the change feed (``seq``) for which it was computed.  A runner of an
earlier version does not know the column: what it writes moves ``seq``, so the urgency reads as outdated until the next
transaction of this version.  Archived sessions are on no first screen, and have none.
"""

import sqlite3
from contextlib import suppress

from msgspec import MsgspecError

from ..rules.urgency import urgency
from .rows import SELECT_SESSION, session_from

OUTDATED = "archived_at IS NULL AND urgency_seq IS NOT sessions.seq"
"""Sessions in use with an urgency that was not computed for their present facts, as SQL."""

CURRENT = "archived_at IS NULL AND urgency_seq IS sessions.seq"
"""The other sessions in use."""

_WRITE = "UPDATE sessions SET urgency = ?, urgency_seq = (SELECT seq + 1 FROM counter) WHERE id = ?"
"""The trigger of the change feed gives the row that next number as its ``seq``."""


def write_urgency(connection: sqlite3.Connection) -> None:
    """Compute and write the urgency of the sessions in use whose facts changed; part of the caller's transaction."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    for row in cursor.execute(f"{SELECT_SESSION} WHERE {OUTDATED}").fetchall():
        # A row that cannot be read must not keep the others from being written.
        with suppress(MsgspecError):
            connection.execute(_WRITE, (urgency(session_from(row)), row["id"]))
