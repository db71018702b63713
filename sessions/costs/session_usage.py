"""The tokens and money of all turns of a session, for limits on the whole session.  Pure."""

from collections.abc import Iterable
from typing import TypeVar

from msgspec import Struct

from ..model import Turn

N = TypeVar("N", int, float)


class Spent(Struct, frozen=True):
    """Tokens and money; None if not known."""

    tokens: int | None = None
    cost_usd: float | None = None
    estimated: bool = False
    """True if part of the cost was computed from tokens and prices, because the agent reported none."""

    def plus(self, other: "Spent") -> "Spent":
        """Add both; an unknown counts as 0, two unknowns stay unknown."""
        return Spent(
            _sum(self.tokens, other.tokens),
            _sum(self.cost_usd, other.cost_usd),
            self.estimated or other.estimated,
        )


def spent_by(turns: Iterable[Turn]) -> Spent:
    """Return the sum over these turns: the agent's own figures, plus the estimated cost beyond them."""
    total = Spent()
    for turn in turns:
        total = total.plus(Spent(turn.usage.total_tokens, turn.cost_usd))
        total = total.plus(Spent(None, turn.cost_about_usd, bool(turn.cost_about_usd)))
    return total


def _sum(a: N | None, b: N | None) -> N | None:
    return b if a is None else a if b is None else a + b
