"""Tokens and money that a session has used over all of its turns: limits on a whole session measure these.  Pure."""

from collections.abc import Iterable
from typing import TypeVar

from msgspec import Struct

from ..model import Turn

N = TypeVar("N", int, float)


class Spent(Struct, frozen=True):
    """Tokens and money; None is not known."""

    tokens: int | None = None
    cost_usd: float | None = None
    estimated: bool = False
    """Whether part of the cost was computed from tokens and prices, because the agent named none."""

    def plus(self, other: "Spent") -> "Spent":
        """Both together; what is not known counts as nothing, two unknowns stay unknown."""
        return Spent(
            _sum(self.tokens, other.tokens),
            _sum(self.cost_usd, other.cost_usd),
            self.estimated or other.estimated,
        )


def spent_by(turns: Iterable[Turn]) -> Spent:
    """What these turns used: the agent's own figures, and the estimates of what goes beyond them."""
    total = Spent()
    for turn in turns:
        total = total.plus(Spent(turn.usage.total_tokens, turn.cost_usd))
        total = total.plus(Spent(None, turn.cost_about_usd, bool(turn.cost_about_usd)))
    return total


def _sum(a: N | None, b: N | None) -> N | None:
    return b if a is None else a if b is None else a + b
