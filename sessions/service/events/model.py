"""The lines of ``agentdash events``, and the kind of change between two states of a session.  Pure."""

from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct, structs

from agentdash.sessions.model.session import Session, Status


class EventKind(StrEnum):
    """The kinds of changes of a session."""

    PRESENT = "present"
    """It was there at the beginning."""
    STARTED = "started"
    """A turn of it was started, or is at work."""
    STATUS = "status"
    """Its status changed in another way, or its earlier status is not known."""
    WAITING = "waiting"
    """Its agent asks the user."""
    STUCK = "stuck"
    """Its turn seems to make no progress."""
    ENDED = "ended"
    """A turn of it ended."""
    USAGE = "usage"
    """Its tokens or its cost changed."""
    CHANGED = "changed"
    """Another fact of it changed: its title, its queue, its place in the archive."""
    DELETED = "deleted"
    """It was moved to the trash, or deleted for good."""


class Event(Struct, frozen=True, kw_only=True):
    """One change of one session.  Each event has a position of its own, so that a reader can go on behind any."""

    seq: int
    """Its position in the change feed."""
    at: int
    """UTC ms."""
    event: EventKind
    id: str
    """Id of the session."""
    turn: int | None
    """The turn that ended, else the newest; null if the session is gone without a record."""
    status: Status | None
    """The status with which that turn ended, else that of the session; null if it is gone without a record."""
    before: Status | None = None
    """The last status that was seen before; null if none was."""
    session: Session | None
    """The session in its newest state, null if it is gone without a record."""


class Begin(Struct, frozen=True, kw_only=True):
    """The first line; it comes again if the database was replaced, and voids what was printed before."""

    event: Literal["begin"] = "begin"
    seq: int
    """The position from which on nothing is missed."""
    at: int
    """UTC ms."""


class StepEvent(Struct, frozen=True, kw_only=True):
    """A step of a session, as ``trajectory --json`` prints it."""

    seq: int
    """The position of the change feed before it: steps have none of their own."""
    at: int
    """UTC ms."""
    event: Literal["step"] = "step"
    id: str
    step: dict[str, Any]


class EventRecord(Struct, frozen=True, kw_only=True):
    """An event as it is printed."""

    seq: int
    at: int
    event: EventKind
    id: str
    turn: int | None
    status: Status | None
    before: Status | None
    session: dict[str, Any] | None


def event_json(event: Event) -> EventRecord:
    """Return an event with its session as every verb prints it."""
    from agentdash.sessions.rules.json_schema import session_json

    session = None if event.session is None else session_json(event.session)
    return EventRecord(**structs.asdict(event) | {"session": session})


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
        begins = now.status.live and (now.turn != before.turn or not before.status.live)
        asks = now.status is Status.WAITING
        return EventKind.WAITING if asks else EventKind.STARTED if begins else EventKind.STATUS
    if now.status is Status.WAITING and now.asking > before.asking:
        return EventKind.WAITING
    if now.is_stuck and not before.is_stuck:
        return EventKind.STUCK
    if (now.usage, now.cost_usd, now.cost_about_usd) != (before.usage, before.cost_usd, before.cost_about_usd):
        return EventKind.USAGE
    others = before.is_stuck != now.is_stuck or any(getattr(before, name) != getattr(now, name) for name in _OTHERS)
    return EventKind.CHANGED if others else None
