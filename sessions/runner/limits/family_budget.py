"""The budgets that count what a session spends, as its runner checks them.

They are its own, those of the leads above it, and those of days and weeks.
"""

from contextlib import suppress

from msgspec import structs

from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.model.membership import Budget
from agentdash.sessions.rules.costs.usage_totals import Spent
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.limits.admission import FamilyLimits
from agentdash.sessions.rules.limits.period_budgets import Share
from agentdash.sessions.storage.store import Store


class FamilyBudget:
    """Compares the sums in the store with each budget; makes no query for a session that no budget counts.

    Args:
        limits: those of its start; the budgets of leads are read from their rows.
    """

    def __init__(self, store: Store, session_id: str, turn: int, limits: FamilyLimits) -> None:
        self._store = store
        self._session = session_id
        self._turn = turn
        self._limits = limits
        self.over: str | None = None
        """The crossed budget, in words, at the last check; None if none was."""
        self.warning: str | None = None
        """The crossed budget that only warns, in words, at the last check; None if none was."""
        self.share: Share | None = None
        """The turn's share of the budgets, as its last record left it; None if it has none."""
        self._stays = False
        self._budgets: list[Budget] = []
        self._family = self._periods = False
        self.watched = False
        """True if a budget counts what the session spends."""
        self.read()

    def read(self) -> None:
        """Read which budgets there are: the user can change them while the turn runs."""
        with suppress(StoreError):
            self._budgets = self._store.family_budgets.budgets(self._session, self._limits)
            periods = self._store.period_budgets.limits(self._session)
            self._family = bool(self._budgets)
            self._periods = bool(periods)
            self._budgets += periods
            self.watched = bool(self._budgets)
            self.over = self.over if self.watched else None

    def check(self) -> str | None:
        """Return the crossed budget in words; None if none is crossed, or the store cannot be read."""
        if self.watched:
            with suppress(StoreError):
                family = self._store.family_budgets.crossed(self._session, self._limits) if self._family else None
                period, self.warning = None, None
                if self._periods:
                    period, self.warning = self._store.period_budgets.crossed(self._session, self._turn)
                self.over = family or period or (self.share.lacking if self.share is not None else None)
        return self.over

    def note(self, share: Share | None, spent: Spent) -> None:
        """Take the share as a record left it, with what the session had spent by then."""
        self.share = share
        self._stays = share is not None and share.used_up(spent.tokens, spent.cost_usd)

    def outgrown(self, spent: Spent) -> bool:
        """Return whether the session's use reached the end of the share since the last record.

        False if that record found it used up and could not extend it: the next record at its usual time tries again.
        """
        share = self.share
        if share is None or share.lacking is not None or self._stays:
            return False
        return share.used_up(spent.tokens, spent.cost_usd)

    def limited(self, launch: Launch) -> Launch:
        """Return the launch with the least of the budgets as its limits, so that the agent's use is followed."""
        if not self.watched:
            return launch
        tokens = [one.tokens for one in self._budgets if one.tokens is not None]
        costs = [one.cost_usd for one in self._budgets if one.cost_usd is not None]
        limits = launch.limits
        most = structs.replace(
            limits,
            tokens=limits.tokens if limits.tokens is not None else min(tokens, default=None),
            cost_usd=limits.cost_usd if limits.cost_usd is not None else min(costs, default=None),
        )
        return structs.replace(launch, limits=most)
