"""The compactions of conversations that agents reported; runners write them with the reports of use."""

from ..values.compaction import RecordedCompaction
from .database import Database

_FIRST_STEP = 1
"""The number of a turn's first step: its prompt is 0, and the row has the parser's number, from 0."""


def compactions_of(database: Database, session_id: str) -> list[RecordedCompaction]:
    """Return the compactions of a session, oldest first.

    Raises:
        StoreError: the database cannot be read.
    """
    return [
        RecordedCompaction(
            turn=row["turn"],
            step=None if row["step"] is None else row["step"] + _FIRST_STEP,
            at=row["at"],
            trigger=row["trigger"],
            tokens_before=row["tokens_before"],
            tokens_after=row["tokens_after"],
        )
        for row in database.rows("SELECT * FROM compactions WHERE session = ? ORDER BY turn, n", (session_id,))
    ]
