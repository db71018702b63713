"""The sessions that need attention, with reason and time, and the order in which the user should see all.  Pure.

A session has at most one such reason, the most urgent.  This module guesses nothing: the runner concludes that a turn
is stuck, from steps and processor time (:mod:`.limits.loop_detector`, :mod:`..runner.limits.stuck`).  The
database stores the order."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct

from agentdash.sessions.model.session import Led, Session, Status
from agentdash.sessions.rules.prompts.delivery import HELD_BY_USER
from agentdash.sessions.rules.urgency_levels import Urgency
from agentdash.sessions.text import units
from agentdash.sessions.text.sanitize import one_line

SILENT_MS = 120_000
"""The silence after which a running agent needs attention."""


class AttentionSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[attention]``: the limits from which a running session counts as stuck."""

    repeats: Annotated[
        int,
        Meta(ge=2, description="Number of repeated failures or identical calls after which a session counts as stuck."),
    ] = 4
    idle_seconds: Annotated[
        float,
        Meta(gt=0, description="Seconds without output or CPU use after which a running session counts as stuck."),
    ] = 300.0


class Stuck(Struct, frozen=True):
    """An episode in which a running turn makes no progress, as its runner concluded."""

    key: str
    """The id of the episode: it does not change while the episode lasts."""
    evidence: str
    """One line."""
    since: int
    """UTC ms."""


class AttentionKind(StrEnum):
    """The kinds of need for attention, the most urgent first."""

    WAITING = "waiting"
    STUCK = "stuck"
    UNCONFIRMED = "unconfirmed"
    FAILED = "failed"
    HELD = "held"
    DENIED = "denied"
    ASKS = "asks"
    SILENT = "silent"
    DONE = "done"


class Attention(Struct, frozen=True):
    """The reason why a session needs attention."""

    kind: AttentionKind
    reason: str
    """One clean line."""
    since: int
    """UTC ms."""


def attention(session: Session, now: int) -> Attention | None:
    """Return the most urgent reason why a session needs attention; None if it needs none."""
    kind = kind_of_need(session, now)
    return None if kind is None else Attention(kind, one_line(_reason(session, kind, now)), _since(session, kind))


def is_needed(session: Session, now: int) -> bool:
    """Return whether a session needs attention; it makes no text, because it is called for every session."""
    return kind_of_need(session, now) is not None


def is_set_aside(session: Session) -> bool:
    """Return whether a session is archived, deleted, being stopped or taken over: the user has dealt with it."""
    return session.put_away or session.stopping is not None or session.taken_by is not None


def kind_of_need(session: Session, now: int) -> AttentionKind | None:
    """Return the kind of attention that a session needs, or None.

    An ended session needs attention until the user has seen it, also if it ended well and its queue is held.  So does a
    session that waits for another one and does not start by itself, because that one did not end well.  A
    question, a loop, a refusal, an unconfirmed prompt and silence need it while they last.  A session that is archived,
    deleted, being stopped or taken over needs none.  What a worker needs is for its lead first (``left_to_lead``),
    except an unconfirmed prompt and silence.
    """
    if is_set_aside(session):
        return None
    first = _first_need(session)
    if first is not None and not session.left_to_lead:
        return first
    if session.unconfirmed:
        return AttentionKind.UNCONFIRMED
    return _need_of_running(session, now) if session.status is Status.RUNNING else _need_of_ended(session)


def needs_answer(session: Session) -> bool:
    """Return whether a worker needs something of its lead that counts for the user if the lead does not see to it."""
    if session.led in (None, Led.OVER) or is_set_aside(session) or session.status is Status.DONE:
        return False
    denied = session.status is Status.RUNNING and session.denied > 0
    return _first_need(session) is not None or denied or session.is_new_end


def _first_need(session: Session) -> AttentionKind | None:
    # A live agent that waits for prompts can ask too, such as whether it may read a message of another program.
    if session.status is Status.WAITING or (session.status.ended and session.asking):
        return AttentionKind.WAITING
    return AttentionKind.STUCK if session.is_stuck else None


def _need_of_running(session: Session, now: int) -> AttentionKind | None:
    if session.denied and not session.left_to_lead:
        return AttentionKind.DENIED
    return AttentionKind.SILENT if now - session.last_sign_at >= SILENT_MS else None


def _need_of_ended(session: Session) -> AttentionKind | None:
    failed_for_lead = session.left_to_lead and session.status is not Status.DONE
    held = (_is_held_unseen(session) and not failed_for_lead) or (session.blocked and session.is_unseen)
    if not session.attention:
        return AttentionKind.HELD if held else None
    if session.status is not Status.DONE:
        return AttentionKind.FAILED
    if held:
        return AttentionKind.HELD
    if session.denied:
        return AttentionKind.DENIED
    return AttentionKind.ASKS if session.asks is not None else AttentionKind.DONE


def _is_held_unseen(session: Session) -> bool:
    """Return whether prompts are held, and neither by the user nor after a stop of the user or the lead."""
    if not session.status.ended or not session.queued or session.held in (None, HELD_BY_USER):
        return False
    return not (session.stopped_by is not None and session.stopped_by.knows) and session.is_unseen


def _reason(session: Session, kind: AttentionKind, now: int) -> str:
    """Return the reason as a text, which may contain the agent's words."""
    if kind is AttentionKind.DENIED:
        return denials(session.denied, session.denied_names or ())
    if kind is AttentionKind.UNCONFIRMED:
        return unconfirmed(session.unconfirmed)
    if kind is AttentionKind.HELD and not session.blocked:
        return f"{units.count(session.queued, 'prompt')} held: {session.held}"
    if kind is AttentionKind.SILENT:
        return silence(now - session.last_sign_at)
    recorded = {AttentionKind.STUCK: session.stuck, AttentionKind.ASKS: session.asks}.get(kind, session.reason)
    return recorded or _UNRECORDED.get(kind, str(session.status))


_UNRECORDED = {
    AttentionKind.WAITING: "waiting for an answer",
    AttentionKind.STUCK: "stuck",
    AttentionKind.DONE: "done, unread",
}
"""The reason if the runner recorded none; for other kinds it is the status."""


def _since(session: Session, kind: AttentionKind) -> int:
    """Return the time from which the session needs attention, UTC ms."""
    if kind in (AttentionKind.STUCK, AttentionKind.WAITING):
        return session.standing_since
    return session.last_sign_at if session.status is Status.RUNNING else session.ended_at or session.updated_at


def silence(milliseconds: int) -> str:
    """Return a silence as a text, in one unit: a row that shows it is drawn again with each change of it."""
    return f"no output for {units.age(milliseconds)}"


def unconfirmed(count: int) -> str:
    """Return a number of unconfirmed prompts as a text."""
    return "a prompt is unconfirmed" if count == 1 else f"{count} prompts are unconfirmed"


def denials(count: int, names: Sequence[str]) -> str:
    """Return refusals as a text: ``2 permissions denied: Bash, Write``."""
    what = "permission" if count == 1 else "permissions"
    more = f" +{len(names) - _NAMED}" if len(names) > _NAMED else ""
    return f"{count} {what} denied" + (f": {', '.join(names[:_NAMED])}{more}" if names else "")


_NAMED = 3
"""The most tools that are named; the others are only counted."""


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


def asks_you(session: Session) -> bool:
    """Return whether an agent waits for an answer, or its last message ends in a question that is open."""
    return session.asking > 0 or kind_of_need(session, session.last_sign_at) is AttentionKind.ASKS


def is_to_visit(session: Session) -> bool:
    """Return whether the user should go to a session: it needs a decision, or it is done and unread."""
    return kind_of_need(session, session.last_sign_at) is not None


_LATEST = 1 << 43
"""A time that never comes, UTC ms: the greatest that a rank holds."""


def rank(session: Session) -> int:
    """Return the place of a session in the usual order, the first is the least; pins do not count.

    Those that need the user come first, the longest wait before the others.  Then come those at work, those done and
    unread, and the others, in each group the last that began or ended before the others.
    """
    level, since = max(urgency(session), Urgency.ASKS), min(max(session.standing_since, 0), _LATEST)
    return level * 2 * _LATEST + (since if level is Urgency.ASKS else _LATEST - since)


def by_urgency(session: Session) -> tuple[bool, int, int, str]:
    """Return the sort key of the usual order: pinned first, then by :func:`rank`."""
    return session.pinned_at is None, rank(session), -session.created_at, session.id
