"""The kind of change between two states of a session.  Pure."""

from ..model import Session, Status
from .model import EventKind

_OTHERS = (
    "title", "cwd", "model", "parent", "lead", "queued", "held", "unconfirmed", "archived_at", "pinned_at", "denied",
    "asks", "mode", "after", "blocked", "left", "stopping", "taken_by", "lifecycle", "budget",
)  # fmt: skip
"""Facts whose change is an event.  Steps, activity, messages and marks of reading are not among them."""


def kind_of_change(before: Session | None, now: Session) -> EventKind | None:
    """Return the kind of change, the most important if there are several; None if there is none worth a line."""
    if before is None:
        return EventKind.STARTED if now.status.live else EventKind.STATUS
    if (now.status, now.turn) != (before.status, before.turn):
        return _of_status(before, now)
    if now.status is Status.WAITING and now.asking > before.asking:
        return EventKind.WAITING
    if now.is_stuck and not before.is_stuck:
        return EventKind.STUCK
    if (now.usage, now.cost_usd, now.cost_about_usd) != (before.usage, before.cost_usd, before.cost_about_usd):
        return EventKind.USAGE
    return EventKind.CHANGED if _differ(before, now) else None


def _of_status(before: Session, now: Session) -> EventKind:
    if now.status is Status.WAITING:
        return EventKind.WAITING
    begins = now.status.live and (now.turn != before.turn or not before.status.live)
    return EventKind.STARTED if begins else EventKind.STATUS


def _differ(before: Session, now: Session) -> bool:
    return before.is_stuck != now.is_stuck or any(getattr(before, name) != getattr(now, name) for name in _OTHERS)
