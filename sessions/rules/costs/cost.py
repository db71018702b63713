"""A cost with its provenance, and its text with the marks that show it.  Pure.

Every sum of money keeps apart what the agents reported, what was computed from tokens at list prices, and how much has
no figure: a text without these marks would be wrong.
"""

import math
import re
from collections.abc import Iterable
from functools import reduce

from msgspec import Struct

from agentdash.sessions.model.usage import known_sum
from agentdash.sessions.text import units

AT_LEAST = "≥"
"""The mark of a sum of which a part is not known."""
COMPUTED = "~"
"""The mark of a sum of which a part is computed."""
UNKNOWN = "?"
"""The text in place of a sum of which nothing is known."""

_MEANINGS = {
    COMPUTED: ("computed", " at list prices"),
    AT_LEAST: ("at least", ", a part is not known"),
    UNKNOWN: ("not known", ""),
}
"""The meaning of each mark of a figure: in short, and what a line with room adds."""
_MARKED = re.compile(rf"([{COMPUTED}{AT_LEAST}])(?=[$<\d])|(?<!\S)(\{UNKNOWN})(?!\S)")


class Cost(Struct, frozen=True, kw_only=True):
    """US dollars of a turn, a session or a group of sessions."""

    reported_usd: float | None = None
    """The agents' own figures; None if no agent reported one."""
    computed_usd: float | None = None
    """The cost of tokens at the prices of their models, if the agent reported none; None if nothing was computed."""
    missing: int = 0
    """Turns or sessions that used a model and have no figure."""

    def plus(self, other: "Cost") -> "Cost":
        """Add both; an unknown figure counts as absent, two unknown figures stay unknown."""
        return Cost(
            reported_usd=known_sum(self.reported_usd, other.reported_usd),
            computed_usd=known_sum(self.computed_usd, other.computed_usd),
            missing=self.missing + other.missing,
        )

    @property
    def known_usd(self) -> float | None:
        """The sum of both figures, at least what was spent; None if neither is known."""
        return known_sum(self.reported_usd, self.computed_usd)

    @property
    def mark(self) -> str:
        """The sign before the figure: ``≥`` if something is missing, else ``~`` if any part is computed; ``?`` alone.

        A figure has one sign.  What is missing counts more: a computed figure is nearly right, a part is not.
        """
        if self.known_usd is None:
            return UNKNOWN if self.missing else ""
        return AT_LEAST if self.missing else "" if self.computed_usd is None else COMPUTED


def marks_explained(texts: Iterable[str], width: int) -> str:
    """Return what the marks of the figures in some texts mean, each once: ``~ computed at list prices``.

    In a line of ``width`` cells that is too narrow for all of it, the meanings are short.
    """
    there = {mark for text in texts for pair in _MARKED.findall(text) for mark in pair}
    known = [(mark, short, more) for mark, (short, more) in _MEANINGS.items() if mark in there]
    line = "   ".join(f"{mark} {short}{more}" for mark, short, more in known)
    return line if len(line) <= width else "   ".join(f"{mark} {short}" for mark, short, _ in known)


def total_of(costs: Iterable[Cost]) -> Cost:
    """Return the sum of several costs."""
    return reduce(Cost.plus, costs, Cost())


def tokens_words(tokens: int | None, missing: int, *, exact: bool = False) -> str:
    """Return a count of tokens: ``412k``; ``≥412k`` if some sessions' are not known, ``?`` if none is.

    With ``exact`` it has all digits: ``≥412,345``.
    """
    words = f"{tokens:,}" if exact and tokens is not None else units.tokens(tokens)
    return f"{AT_LEAST if missing and tokens is not None else ''}{words}"


def cost_words(cost: Cost, unused: str = "", cells: int | None = None) -> str:
    """Return a cost with its marks: ``$0.31``, ``~$0.31``, ``≥$0.31``, ``?``.

    Args:
        unused: the text if no model was used.
        cells: the room of the text; as many decimals are rounded off as have no room. None for any length.
    """
    known = cost.known_usd
    if known is None:
        return cost.mark or unused
    for finest in (4, 3, 2):
        words = f"{cost.mark}{units.money(known, finest=finest)}"
        if cells is None or len(words) <= cells:
            return words
    # A lower bound is not rounded up to the next dollar.
    whole = math.floor(known) if cost.missing and known >= 1 else known
    return f"{cost.mark}{units.money(whole, finest=0)}"


_MILLION = 1_000_000


class CostCount:
    """A sum of costs; money is in millionths of a dollar, so that it is exactly 0 if all costs are subtracted."""

    def __init__(self) -> None:
        self._reported = self._computed = 0
        self._reports = self._computations = 0
        """The number of costs with such a part."""
        self._missing = 0

    def count(self, cost: Cost, by: int) -> None:
        """Add a cost (``by`` 1), or subtract it (-1)."""
        if cost.reported_usd is not None:
            self._reported += by * round(cost.reported_usd * _MILLION)
            self._reports += by
        if cost.computed_usd is not None:
            self._computed += by * round(cost.computed_usd * _MILLION)
            self._computations += by
        self._missing += by * cost.missing

    def add(self, other: "CostCount", by: int) -> None:
        """Add another sum (``by`` 1), or subtract it (-1)."""
        self._reported += by * other._reported
        self._computed += by * other._computed
        self._reports += by * other._reports
        self._computations += by * other._computations
        self._missing += by * other._missing

    @property
    def cost(self) -> Cost:
        """The sum."""
        return Cost(
            reported_usd=self._reported / _MILLION if self._reports else None,
            computed_usd=self._computed / _MILLION if self._computations else None,
            missing=self._missing,
        )
