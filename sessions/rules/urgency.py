"""The order of urgency, in which the user should see sessions.  Pure; the database stores its results."""

from ..model import Session, Status
from .attention import AttentionKind, kind_of_need
from .urgency_levels import Urgency

_OF_NEED = {
    AttentionKind.WAITING: Urgency.WAITING,
    AttentionKind.STUCK: Urgency.STUCK,
    AttentionKind.UNCONFIRMED: Urgency.FAILED,
    AttentionKind.FAILED: Urgency.FAILED,
    AttentionKind.HELD: Urgency.FAILED,
    AttentionKind.DENIED: Urgency.DENIED,
    AttentionKind.ASKS: Urgency.ASKS,
    AttentionKind.SILENT: Urgency.AT_WORK,
    AttentionKind.DONE: Urgency.DONE,
}


def urgency(session: Session) -> Urgency:
    """Return the urgency of a session, by recorded facts alone.

    Silence does not count: it begins and ends without a recorded fact.
    """
    need = kind_of_need(session, session.last_sign_at)
    if need is not None:
        return _OF_NEED[need]
    if session.taken_by is not None and not session.put_away:
        return Urgency.AT_WORK
    if session.status is Status.QUEUED:
        return Urgency.QUEUED
    return Urgency.AT_REST if session.status.ended else Urgency.AT_WORK


def needs_you(session: Session) -> bool:
    """Return whether a session needs a decision of the user.

    It waits, is stuck, failed, was denied, asks, has an unconfirmed prompt, or holds prompts after its end.
    """
    return urgency(session) <= Urgency.ASKS and not session.put_away


def is_to_visit(session: Session) -> bool:
    """Return whether the user should go to a session: it needs a decision, or it is done and unread."""
    return kind_of_need(session, session.last_sign_at) is not None


def by_urgency(session: Session) -> tuple[bool, Urgency, int, str]:
    """Return the sort key of the usual order: pinned first, then the most urgent, then the newest."""
    return session.pinned_at is None, urgency(session), -session.created_at, session.id
