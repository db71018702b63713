"""Totals of tokens and money over many sessions, and how many sessions lack a figure.  Pure."""

from collections.abc import Iterable

from msgspec import Struct

from ..model import Session, Status

WITHOUT_MODEL = frozenset({"command"})
"""The agents that use no model: their sessions lack neither tokens nor money."""


class Sums(Struct, frozen=True, kw_only=True):
    """What sessions used together."""

    tokens: int | None = None
    """The sum of those that are known; None if none is."""
    dollars: float | None = None
    tokens_missing: int = 0
    """Sessions that used tokens, and how many is not known."""
    dollars_missing: int = 0


def sums(sessions: Iterable[Session]) -> Sums:
    """Add up what is known, and count the sessions of which it is not."""
    listed = list(sessions)
    tokens = [session.usage.total_tokens for session in listed if session.usage.total_tokens is not None]
    dollars = [session.cost_usd for session in listed if session.cost_usd is not None]
    return Sums(
        tokens=sum(tokens) if tokens else None,
        dollars=sum(dollars) if dollars else None,
        tokens_missing=sum(map(lacks_tokens, listed)),
        dollars_missing=sum(map(lacks_cost, listed)),
    )


def lacks_tokens(session: Session) -> bool:
    """Return whether the session used tokens, and how many is not known."""
    return session.usage.total_tokens is None and _used_a_model(session)


def lacks_cost(session: Session) -> bool:
    """Return whether the session cost money, and how much is not known."""
    return session.cost_usd is None and _used_a_model(session)


def _used_a_model(session: Session) -> bool:
    """Whether a model was called: a plain command has none, and a start that failed reached none."""
    if session.agent in WITHOUT_MODEL or session.started_at is None:
        return False
    never_ran = session.exit_code is None and session.signal is None and session.steps == 0
    return not (session.status is Status.FAILED and never_ran)
