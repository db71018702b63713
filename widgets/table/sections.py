"""The sections of the table: sessions by what the user has to do with them.  Pure."""

from enum import StrEnum

from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.attention import urgency
from agentdash.sessions.rules.urgency_levels import Urgency


class Section(StrEnum):
    """A part of the table, from the top."""

    PINNED = "pinned"
    NEEDS_YOU = "needs you"
    RUNNING = "running"
    UNREAD = "done, unread"
    QUEUED = "queued"
    SEEN = "seen"
    ARCHIVED = "archived"
    DELETED = "deleted"


_OF_URGENCY = {
    Urgency.WAITING: Section.NEEDS_YOU,
    Urgency.STUCK: Section.NEEDS_YOU,
    Urgency.FAILED: Section.NEEDS_YOU,
    Urgency.DENIED: Section.NEEDS_YOU,
    Urgency.ASKS: Section.NEEDS_YOU,
    Urgency.AT_WORK: Section.RUNNING,
    Urgency.DONE: Section.UNREAD,
    Urgency.QUEUED: Section.QUEUED,
    Urgency.AT_REST: Section.SEEN,
}


def section(session: Session) -> Section:
    """Return the section of a session."""
    if session.put_away:
        return Section.ARCHIVED if session.deleted_at is None else Section.DELETED
    return Section.PINNED if session.pinned_at is not None else _OF_URGENCY[urgency(session)]
