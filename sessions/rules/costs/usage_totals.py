"""The tokens and the cost of turns and sessions, and their totals: for people and for limits.  Pure.

In a total for people a missing figure is counted.  In a sum for a limit it is nothing, and estimates are added."""

from collections.abc import Iterable

from msgspec import Struct, structs

from agentdash.sessions.model.session import Session, Status, Turn
from agentdash.sessions.model.usage import known_sum
from agentdash.sessions.rules.costs.cost import Cost, tokens_words, total_of

WITHOUT_MODEL = frozenset({"command"})
"""The agents that use no model: their sessions never count as missing, and no budget limits them.

They are those whose adapter takes no prompts.  The triggers of ``schema.sql`` name them too.
"""


class Sums(Struct, frozen=True, kw_only=True):
    """The total use of several sessions."""

    tokens: int | None = None
    """The sum of the known figures; None if none is known."""
    cost: Cost = Cost()
    tokens_missing: int = 0
    """Sessions that used an unknown number of tokens."""


def sums(sessions: Iterable[Session]) -> Sums:
    """Add up the known figures, and count the sessions without one."""
    listed = list(sessions)
    tokens = [session.usage.total_tokens for session in listed if session.usage.total_tokens is not None]
    return Sums(
        tokens=sum(tokens) if tokens else None,
        cost=total_of(map(session_cost, listed)),
        tokens_missing=sum(map(lacks_tokens, listed)),
    )


def session_cost(session: Session) -> Cost:
    """Return the cost of a session; it is missing if a part of it is not known."""
    cost = Cost(reported_usd=session.cost_usd, computed_usd=session.cost_about_usd)
    lacks = session.cost_missing > 0 or (cost.known_usd is None and _used_a_model(session))
    return structs.replace(cost, missing=1) if lacks else cost


def turn_cost(turn: Turn) -> Cost:
    """Return the cost of a turn; it is missing if a part of it is not known, or if it used tokens without a figure."""
    cost = Cost(reported_usd=turn.cost_usd, computed_usd=turn.cost_about_usd)
    lacks = turn.cost_missing or (cost.known_usd is None and turn.usage.known)
    return structs.replace(cost, missing=1) if lacks else cost


def turn_tokens(turn: Turn) -> str:
    """Return the tokens of a turn with their mark."""
    return tokens_words(turn.usage.total_tokens, turn.tokens_missing)


def lacks_tokens(session: Session) -> bool:
    """Return whether a turn of the session used an unknown number of tokens."""
    return session.tokens_missing > 0 or (session.usage.total_tokens is None and _used_a_model(session))


def session_tokens(session: Session) -> str:
    """Return the tokens of a session with their mark: ``412k``, ``≥412k``, ``?``."""
    return tokens_words(session.usage.total_tokens, session.tokens_missing)


def _used_a_model(session: Session) -> bool:
    """Return whether a model was called; a plain command has none, and a failed start reached none."""
    if session.agent in WITHOUT_MODEL or session.started_at is None:
        return False
    never_ran = session.exit_code is None and session.signal is None and session.steps == 0
    return not (session.status is Status.FAILED and never_ran)


class Spent(Struct, frozen=True):
    """Tokens and money; None if not known."""

    tokens: int | None = None
    cost_usd: float | None = None
    estimated: bool = False
    """True if part of the cost was computed from tokens and prices, because the agent reported none."""

    def plus(self, other: "Spent") -> "Spent":
        """Add both; an unknown counts as 0, two unknowns stay unknown."""
        cost = known_sum(self.cost_usd, other.cost_usd)
        return Spent(known_sum(self.tokens, other.tokens), cost, self.estimated or other.estimated)


def spent_by(turns: Iterable[Turn]) -> Spent:
    """Return the sum over these turns: the agent's own figures, plus the estimated cost beyond them."""
    total = Spent()
    for turn in turns:
        total = total.plus(Spent(turn.usage.total_tokens, turn.cost_usd))
        total = total.plus(Spent(None, turn.cost_about_usd, bool(turn.cost_about_usd)))
    return total
