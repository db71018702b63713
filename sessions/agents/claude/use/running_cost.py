"""The cost of one turn of a live claude, from running totals (Claude Code 2.1.197 and 2.1.330)."""

import re
from functools import reduce

from ....model import Usage, exact_sum
from ....rules.turn_facts import Counted
from ..events import Result

_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})")


def counted_by(version: str | None) -> Counted | None:
    """Return what the running totals of a version of claude count; None if it is between the versions seen.

    Those of 2.1.197 begin with each process.  2.1.330 writes them into the transcript when its process ends, and the
    next process goes on from there, also if it forks the conversation; nothing is written if the process is killed
    (docs/protocols/claude.md, "Usage").
    """
    match = _VERSION.match(version or "")
    if match is None:
        return None
    numbers = tuple(map(int, match.groups()))
    if numbers <= _OF_PROCESS:
        return "process"
    return "conversation" if numbers >= _OF_CONVERSATION else None


_OF_PROCESS = (2, 1, 197)
_OF_CONVERSATION = (2, 1, 330)


class RunningCost:
    """Finds out which part of claude's running total belongs to this turn.

    The total counts the process (2.1.197), or the conversation with all processes that resumed it (2.1.330).  The
    lines of a turn show its own part only if the total began with the turn; else the caller has to subtract the total
    of the turn before.
    """

    def __init__(self) -> None:
        self.total: float | None = None
        """The newest total; None before the first result."""
        self._before: float | None = None
        """The total before this turn; None if it is not known."""

    @property
    def own(self) -> float | None:
        """The cost of this turn; None if it is not known."""
        return self.total - self._before if self.total is not None and self._before is not None else None

    def add(self, result: Result, used: Usage) -> float | None:
        """Read one result, and return the cost since the previous one; None if it is not known.

        Args:
            result: the result.
            used: the tokens that the turn has used, this result's included, as far as they could be read.
        """
        if result.total_cost_usd is None:
            return None
        earlier, self.total = self.total, result.total_cost_usd
        if earlier is not None:
            return self.total - earlier
        models = [one.counted() for one in (result.model_usage or {}).values()]
        self._before = 0.0 if not models or _within(_sum(models), used) else None
        return self.own


def _sum(models: list[Usage]) -> Usage:
    """Add up what models used; a count that one of them lacks is not known."""
    return reduce(_exactly, models)


def _exactly(one: Usage, other: Usage) -> Usage:
    output = exact_sum(one.output_tokens, other.output_tokens)
    return Usage.of(exact_sum(one.input_tokens, other.input_tokens), output=output)


def _within(total: Usage, used: Usage) -> bool:
    """Return whether a running total has no more than the turn used, by their sums or else by the counts of both."""
    if total.total_tokens is not None and used.total_tokens is not None:
        return total.total_tokens <= used.total_tokens
    pairs = [(total.input_tokens, used.input_tokens), (total.output_tokens, used.output_tokens)]
    known = [whole <= part for whole, part in pairs if whole is not None and part is not None]
    return bool(known) and all(known)
