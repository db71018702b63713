"""Totals of tokens and money over many sessions, and the number of sessions without a figure.  Pure."""

from collections.abc import Iterable

from msgspec import Struct

from ..model import Session, Status
from ..usage import known_sum

WITHOUT_MODEL = frozenset({"command"})
"""The agents that use no model: their sessions never count as missing."""


class Sums(Struct, frozen=True, kw_only=True):
    """The total use of several sessions."""

    tokens: int | None = None
    """The sum of the known figures; None if none is known."""
    dollars: float | None = None
    """With the estimated costs."""
    estimated: bool = False
    """True if a part of ``dollars`` is estimated."""
    tokens_missing: int = 0
    """Sessions that used an unknown number of tokens."""
    dollars_missing: int = 0


def sums(sessions: Iterable[Session]) -> Sums:
    """Add up the known figures, and count the sessions without one."""
    listed = list(sessions)
    tokens = [session.usage.total_tokens for session in listed if session.usage.total_tokens is not None]
    return Sums(
        tokens=sum(tokens) if tokens else None,
        dollars=known_sum(*(dollars(session) for session in listed)),
        estimated=any(session.cost_about_usd is not None for session in listed),
        tokens_missing=sum(map(lacks_tokens, listed)),
        dollars_missing=sum(map(lacks_cost, listed)),
    )


def dollars(session: Session) -> float | None:
    """Return the cost of a session with its estimated part; None if neither is known."""
    return known_sum(session.cost_usd, session.cost_about_usd)


def lacks_tokens(session: Session) -> bool:
    """Return whether the session used an unknown number of tokens."""
    return session.usage.total_tokens is None and _used_a_model(session)


def lacks_cost(session: Session) -> bool:
    """Return whether the session cost an unknown amount of money."""
    return dollars(session) is None and _used_a_model(session)


def _used_a_model(session: Session) -> bool:
    """Return whether a model was called; a plain command has none, and a failed start reached none."""
    if session.agent in WITHOUT_MODEL or session.started_at is None:
        return False
    never_ran = session.exit_code is None and session.signal is None and session.steps == 0
    return not (session.status is Status.FAILED and never_ran)
