"""Everything that happened after a point of the change feed, each with its position in the feed.

A row of a session has only its newest state.  The table ``ends`` has each end of a turn, so that an end is found also
if the session has begun its next turn, or was deleted, since.
"""

from msgspec import Struct

from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.storage.database import Database
from agentdash.sessions.storage.rows import SELECT_SESSION, session_from, struct_from

_BEHIND = "WHERE seq > coalesce(?, (SELECT seq FROM counter)) ORDER BY seq"


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


def changes_after(database: Database, seq: int | None, *, every_session: bool = False) -> ChangeLog:
    """Return the changes after a position, as one snapshot.

    Args:
        seq: the position; None for the newest, behind which there is no end and no deletion.
        every_session: return all sessions.  The ends before ``seq`` are not read: there is one for each turn ever.

    Raises:
        StoreError: the database cannot be read.
    """
    with database.snapshot():
        newest = database.rows("SELECT seq FROM counter")
        sessions = database.rows(
            f"{SELECT_SESSION} WHERE sessions.seq > ? ORDER BY sessions.seq", (0 if every_session else seq,)
        )
        ends = database.rows(f"SELECT * FROM ends {_BEHIND}", (seq,))  # noqa: S608
        gone = database.rows(f"SELECT * FROM tombstones {_BEHIND}", (seq,))  # noqa: S608
    return ChangeLog(
        seq=newest[0]["seq"],
        sessions=tuple(SessionAt(row["seq"], session_from(row)) for row in sessions),
        ends=tuple(struct_from(End, row, status=Status(row["status"])) for row in ends),
        deletions=tuple(Deletion(row["seq"], row["session"], row["deleted_at"]) for row in gone),
    )
