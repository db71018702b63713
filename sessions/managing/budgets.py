"""The budgets of sessions: the user changes them while the sessions are at work."""

from collections.abc import Collection

from ..errors import UnknownSessionError, UsageError
from ..families.guarded import Guarded, acts
from ..families.rights import Rights
from ..reader import SessionReader
from ..rules.limits.period_budgets import Kind, Period, PeriodState
from ..settings.budgets import real
from ..storage.families.family_budgets import FamilyState
from ..storage.paths import Layout
from ..storage.store import Store
from ..supervision.queue.pump import pump
from ..supervision.runner_process import poke
from ..values.membership import Budget
from .housekeeping import Housekeeping


class SessionBudgets(Guarded):
    """Changes budgets, and wakes the runners that compare the sums with them.

    Args:
        rights: those of the caller.
        layout: the state folder.
        store: the rows.
        reader: every query.
        housekeeping: writes the record of the session.
    """

    def __init__(
        self, rights: Rights, layout: Layout, store: Store, reader: SessionReader, housekeeping: Housekeeping
    ) -> None:
        super().__init__(rights)
        self._layout = layout
        self._store = store
        self._reader = reader
        self._housekeeping = housekeeping

    def raise_to(self, folder: str, period: Period, most: Budget, back: Collection[Kind] = ()) -> list[PeriodState]:
        """Permit another amount until the day or the week ends, and start what waits for it; return all budgets.

        Args:
            folder: the folder of the budget in the settings; empty for that of all folders.
            period: the period.
            most: the amounts; a kind without one keeps its own.
            back: the kinds whose earlier change is taken back: the amount of the settings counts again.

        Raises:
            UsageError: the settings have no such budget.
            NotAllowedError: an agent asks.
        """
        self._layout.check_writable()
        self.rights.check_no_agent("A change of the budget of a day or a week")
        place = real(folder) if folder else ""
        if not self._store.period_budgets.raise_to(place, period, most, back):
            where = f" for {folder}" if folder else ""
            raise UsageError(f"The settings have no budget of a {period}{where}. Next: set one in [budgets].")
        pump(self._layout, self._store)
        return self._reader.period_budgets()

    @acts("change the budget of", on_itself=False)
    def change(self, ref: str, budget: Budget) -> FamilyState:
        """Set the budget of a session and all sessions below it; without tokens and money it has none.

        Raises:
            UnknownSessionError, AmbiguousSessionError: no such session, or several fit.
            UsageError: it names an outside lead, whose budget is in the settings.
            NotYoursError: the request comes from that session, or from one that is not above it.
        """
        self._layout.check_writable()
        if ":" in ref:
            raise UsageError(f"{ref} runs outside agentdash: its budget is [orchestration] budget in the settings.")
        session = self._reader.get(ref)
        if not self._store.set_budget(session.id, budget):
            raise UnknownSessionError(f"Session {session.short_id} was deleted.")
        self._housekeeping.record(self._layout.session(session.id))
        for member in self._store.family_budgets.below(session.id):
            poke(self._layout.session(member).poke)
        return self._reader.budget(session.id)
