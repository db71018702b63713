"""The budgets of sessions, which change while they are at work, and the prices by which their costs are computed."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agentdash.sessions.model.errors import AgentdashError, UnknownSessionError, UsageError
from agentdash.sessions.model.membership import Budget
from agentdash.sessions.model.threads import in_threads
from agentdash.sessions.rules.costs.pricing import Pricing
from agentdash.sessions.rules.costs.repricing import Choice, RepricedCosts, Repricing, Tally
from agentdash.sessions.rules.limits.period_budgets import Kind, Period, PeriodState
from agentdash.sessions.runner.queue.pump import pump
from agentdash.sessions.runner.runner_process import poke
from agentdash.sessions.service.families.rights import acts
from agentdash.sessions.service.managing.housekeeping import WRITERS, ManagerPart
from agentdash.sessions.settings.prices import Imported, import_prices, in_force
from agentdash.sessions.settings.sections import real
from agentdash.sessions.storage.families.family_budgets import FamilyState
from agentdash.sessions.storage.files import trash
from agentdash.sessions.storage.use.day_sums import forget

if TYPE_CHECKING:
    from agentdash.sessions.storage.use.repriced_rows import RepricedRows


class SessionBudgets(ManagerPart):
    """Changes budgets, and wakes the runners that compare the sums with them."""

    def raise_to(self, folder: str, period: Period, most: Budget, back: Collection[Kind] = ()) -> list[PeriodState]:
        """Permit another amount until the day or the week ends, and start what waits for it; return all budgets.

        Args:
            folder: the folder of the budget in the settings; empty for that of all folders.
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


_NAMED = 8


class SessionPrices(ManagerPart):
    """Changes prices, and computes costs again."""

    def import_file(self, file: Path) -> Imported:
        """Replace the imported prices by those of a file in the form of models.dev.

        Limits and budgets in dollars follow from prices, so that only the user can change them.

        Raises:
            NotAllowedError: an agent asks.
            UsageError: the file cannot be read or is not valid; the earlier prices stay.
            AgentdashError: the prices cannot be written.
        """
        self.rights.check_no_agent("An import of prices, by which limits and budgets are computed,")
        return import_prices(file)

    def reprice(self, choice: Choice, since: int | None = None, *, dry_run: bool = False) -> RepricedCosts:
        """Compute the costs of ended turns again, with the prices that a start would use now.

        What an agent reported stays.  Budgets count what is spent, so that only the user can change it.

        Args:
            since: the time (UTC ms) before which nothing changes; None for all.

        Raises:
            NotAllowedError: an agent asks; a dry run is not checked.
            UsageError: no report has a model that is meant.
            ConfigError: the settings or the imported prices cannot be used.
        """
        from agentdash.sessions.storage.use.repriced_rows import RepricedRows  # no other act needs them

        if not dry_run:
            self.rights.check_no_agent("A change of the costs that budgets count")
            self._layout.check_writable()
        repricing = Repricing(Pricing(in_force(self._reader.settings.config())), choice)
        rows, tally = RepricedRows(self._store.database), Tally()
        _check(choice, rows.models())
        for batch in rows.batches(since or 0, every=choice.every):
            found = rows.computed(batch, repricing)
            changing = [one.turn for one in found if one.changes]
            if changing and not dry_run:
                written = rows.write(changing, repricing)
                self._record(rows, dict.fromkeys(one.turn.session for one in written if one.changes))
                found = [*(one for one in found if not one.changes), *written]
            for one in found:
                tally.add(one.turn.session, one.cost, ended=one.ended)
        result = tally.result()
        if result.turns and not dry_run:
            pump(self._layout, self._store)  # a budget may have room for what waits
        return result

    def _record(self, rows: "RepricedRows", sessions: Iterable[str]) -> None:
        """Write the costs into the folders of sessions; the runner of one at work does it at the end of the turn."""
        listed = {session: self._store.session(session) for session in sessions}
        if None in listed.values():  # the sums of days follow the sessions that are there
            forget(self._layout.day_sums)

        def record(session: str) -> None:
            if listed[session] is not None:
                if not rows.at_work(session):
                    self._housekeeping.record(self._layout.session(session))
            elif (estimates := rows.estimates(session)) is not None:
                with suppress(OSError, AgentdashError):  # it is not in the trash, or its record was damaged before
                    trash.set_estimates(self._layout, session, estimates)

        list(in_threads(record, listed, WRITERS))


def _check(choice: Choice, models: list[str]) -> None:
    """Refuse a pattern that means no model of the reports."""
    if choice.model is None or any(map(choice.covers, models)):
        return
    more = ", …" if len(models) > _NAMED else ""
    known = f" Models: {', '.join(models[:_NAMED])}{more}." if models else " No report names a model."
    raise UsageError(f"No model in the recorded use matches {choice.model!r}.{known}")
