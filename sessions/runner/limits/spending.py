"""The session's tokens and money, the running turn included: from the earlier turns' record and the agent's meter."""

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

from agentdash.sessions.agents.parsing.usage_meter import Meter
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.model.session import Turn
from agentdash.sessions.rules.costs.usage_totals import Spent, spent_by
from agentdash.sessions.rules.turn_facts import Facts


class Spending:
    """One turn's use, added to that of the turns before it.

    Args:
        turns: reads all turns of the session; may raise StoreError.
        n: the number of this turn.
        meter: follows this turn while it runs; None if only the stream's own facts are known.
        at_end: the meter is read only when the turn has ended: no limit needs it earlier.
    """

    def __init__(
        self, turns: Callable[[], Sequence[Turn]], n: int, meter: Meter | None, *, at_end: bool = False
    ) -> None:
        self._turns = turns
        self._n = n
        self._meter = meter
        self._at_end = at_end
        self._earlier: Spent | None = None

    @property
    def meter_path(self) -> Path | None:
        """The file whose growth means more use; None if there is none, or it is not found yet."""
        return self._meter.path if self._meter is not None and not self._at_end else None

    @property
    def polled(self) -> bool:
        """True if the meter may have to be polled, because no event announces its figures."""
        return self._meter is not None and not self._at_end and (self._meter.seeks or self._meter.path is not None)

    @property
    def trouble(self) -> str | None:
        """The reason why a limit cannot act, in words; None if there is none."""
        return self._meter.trouble if self._meter is not None and not self._at_end else None

    def feed(self, line: bytes) -> None:
        """Pass a line of the agent's output to the meter."""
        if self._meter is not None:
            self._meter.feed(line)

    def update(self, facts: Facts) -> bool:
        """Update the facts from the meter; return whether there is more to read at once."""
        if self._meter is None or self._at_end:
            return False
        return self._meter.take(facts)

    def finish(self, facts: Facts) -> None:
        """Read the rest after the agent is gone, and close the meter."""
        if self._meter is not None:
            self._meter.take_rest(facts)

    def now(self, facts: Facts) -> Spent:
        """Return the use so far; without the earlier turns while the store cannot be read."""
        if self._earlier is None:
            with contextlib.suppress(StoreError):
                self._earlier = spent_by(turn for turn in self._turns() if turn.n < self._n)
        reported, about = facts.cost_usd, facts.cost_about_usd
        cost = None if reported is None and about is None else (reported or 0.0) + (about or 0.0)
        return (self._earlier or Spent()).plus(Spent(facts.usage.total_tokens, cost, bool(about)))

    def recorded(self) -> Spent:
        """Return the use of all turns as recorded in the store; nothing if it cannot be read."""
        with contextlib.suppress(StoreError):
            return spent_by(self._turns())
        return Spent()
