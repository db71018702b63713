"""The order of urgency: which sessions the user should see first.  Pure; the database stores what it returns."""

from enum import IntEnum

from ..model import Session, Status
from .attention import AttentionKind, kind_of_need


class Urgency(IntEnum):
    """How soon a session is to be seen, the most urgent first.

    The numbers are stored (:mod:`..storage.urgency`): another order needs another version of the schema.
    """

    WAITING = 0
    STUCK = 1
    FAILED = 2
    DENIED = 3
    DONE = 4
    AT_WORK = 5
    QUEUED = 6
    AT_REST = 7


_OF_NEED = {
    AttentionKind.WAITING: Urgency.WAITING,
    AttentionKind.STUCK: Urgency.STUCK,
    AttentionKind.FAILED: Urgency.FAILED,
    AttentionKind.DENIED: Urgency.DENIED,
    AttentionKind.SILENT: Urgency.AT_WORK,
    AttentionKind.DONE: Urgency.DONE,
}


def urgency(session: Session) -> Urgency:
    """Return how soon the user should see a session, by recorded facts alone.

    Silence moves no row: it begins and ends without a fact being recorded.
    """
    need = kind_of_need(session, session.last_sign_at)
    if need is not None:
        return _OF_NEED[need]
    if session.status is Status.QUEUED:
        return Urgency.QUEUED
    return Urgency.AT_REST if session.status.ended else Urgency.AT_WORK


def by_urgency(session: Session) -> tuple[bool, Urgency, int, str]:
    """Return the sort key of the usual order: pinned first, then the most urgent, then the newest."""
    return session.pinned_at is None, urgency(session), -session.created_at, session.id
