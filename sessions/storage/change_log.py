"""Everything that happened after a point of the change feed, each with its position in the feed.

A row of a session has only its newest state.  The table ``ends`` has each end of a turn, so that an end is found also
if the session has begun its next turn, or was deleted, since.
"""

from msgspec import Struct

from ..model import Session, Status
from .database import Database
from .rows import SELECT_SESSION, session_from


class SessionAt(Struct, frozen=True):
    """A session, and the position of its last change."""

    seq: int
    session: Session


class End(Struct, frozen=True):
    """The end of a turn."""

    seq: int
    session: str
    turn: int
    status: Status
    at: int
    """UTC ms."""


class Deletion(Struct, frozen=True):
    """The deletion of a session."""

    seq: int
    session: str
    at: int
    """UTC ms."""


class ChangeLog(Struct, frozen=True, kw_only=True):
    """The changes after a position, each kind in the order of its positions."""

    seq: int
    """The newest position of the feed."""
    sessions: tuple[SessionAt, ...] = ()
    ends: tuple[End, ...] = ()
    deletions: tuple[Deletion, ...] = ()


def changes_after(database: Database, seq: int) -> ChangeLog:
    """Return the changes after a position, as one snapshot.

    Raises:
        StoreError: the database cannot be read.
    """
    with database.snapshot():
        newest = database.rows("SELECT seq FROM counter")
        sessions = database.rows(f"{SELECT_SESSION} WHERE sessions.seq > ? ORDER BY sessions.seq", (seq,))
        ends = database.rows("SELECT * FROM ends WHERE seq > ? ORDER BY seq", (seq,))
        gone = database.rows("SELECT * FROM tombstones WHERE seq > ? ORDER BY seq", (seq,))
    return ChangeLog(
        seq=newest[0]["seq"],
        sessions=tuple(SessionAt(row["seq"], session_from(row)) for row in sessions),
        ends=tuple(End(row["seq"], row["session"], row["turn"], Status(row["status"]), row["at"]) for row in ends),
        deletions=tuple(Deletion(row["seq"], row["session"], row["deleted_at"]) for row in gone),
    )
