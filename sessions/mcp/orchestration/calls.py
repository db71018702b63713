"""One call of a tool: the manager, the caller's workers, the client's patience, and the ends that the answer names.

Such an end counts as read by the lead when the answer was written to the client.  Until then this server holds a lock
in the worker's folder, so that no other server names the same end.  The kernel releases it with the process: an end
whose server was killed before it wrote the answer is named again.
"""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentdash.sessions.mcp.orchestration.family import Family, overview
from agentdash.sessions.mcp.orchestration.quoting import words
from agentdash.sessions.mcp.orchestration.refusals import refusal
from agentdash.sessions.model.errors import AgentdashError, UnknownSessionError
from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.limits.family_account import Account
from agentdash.sessions.runner.processes import runner_lock
from agentdash.sessions.runner.processes.runner_lock import HeldLock
from agentdash.sessions.settings.sections import OrchestrationSettings
from agentdash.sessions.storage.families.family_budgets import FamilyState
from agentdash.sessions.storage.families.workers import Workers
from agentdash.sessions.storage.paths import Layout

if TYPE_CHECKING:
    from agentdash.sessions.mcp.clients import Client
    from agentdash.sessions.service.manager import SessionManager


class Reading:
    """The ends that the answer of one call names."""

    def __init__(self, layout: Layout, workers: Workers) -> None:
        self._layout, self._workers = layout, workers
        self._ends: list[Session] = []
        self._refused: list[Session] = []
        self._locks: list[HeldLock] = []

    def claim(self, ends: Sequence[Session], most: int, own: Callable[[Session], bool]) -> tuple[list[Session], int]:
        """Take ends for this answer; return them, and how many were not tried because it names enough.

        An end that another answer names at this moment, or has named, is passed over.

        Args:
            ends: ends that no answer has named, the first ones first.
            most: the most ends to take.
            own: whether the caller itself started a worker; only such an end is recorded as read.
        """
        taken: list[Session] = []
        for tried, end in enumerate(ends):
            if len(taken) >= most:
                return taken, len(ends) - tried
            if not own(end) or self._take(end):
                taken.append(end)
        return taken, 0

    def _take(self, end: Session) -> bool:
        try:
            lock = runner_lock.hold(self._layout.session(end.id).reading)
        except OSError:  # its folder is gone, or cannot be written: two servers may name it
            return self._add(end)
        if lock is None:
            return False
        self._locks.append(lock)
        return self._add(end)

    def _add(self, end: Session) -> bool:
        unread = self._workers.is_unread(end)
        if unread:
            self._ends.append(end)
        return unread

    def turns(self) -> dict[str, int]:
        """Return the turns by worker whose ends this answer names."""
        return {end.id: end.turn for end in self._ends}

    def name(self, end: Session) -> None:
        """Add an end that the call itself brought about."""
        self._ends.append(end)

    def name_in_refusal(self, end: Session) -> None:
        """Take an end that the text of a refusal names."""
        self._refused.append(end)

    def written(self, *, refused: bool = False) -> None:
        """Record that the lead has read the ends, because it has the answer.

        Args:
            refused: the answer is the text of a refusal or of a failure, so it does not name the claimed ends.

        Raises:
            StoreError: it cannot be recorded; the ends are named again.
        """
        ends = self._refused if refused else self._ends
        try:
            if ends:
                self._workers.report(ends)
        finally:
            self.drop()

    def drop(self) -> None:
        """Give the ends back: another answer can name them."""
        self._ends, self._refused = [], []
        while self._locks:
            self._locks.pop().release()


class Calls:
    """One call of a tool.

    Args:
        cancelled: set when the client no longer waits.
        progress: reports a line to the client.
    """

    def __init__(
        self, manager: "SessionManager", client: "Client", cancelled: threading.Event, progress: Callable[[str], None]
    ) -> None:
        self.manager = manager
        self.client = client
        self.cancelled = cancelled
        self.progress = progress
        self.workers = Workers(manager.store.database)
        """The caller's workers in the store."""
        self.reading = Reading(manager.layout, self.workers)
        """The ends that the answer names."""

    def family(self) -> Family:
        """Return the caller's workers as they are recorded at this moment."""
        caller = self.manager.caller
        return Family(caller, self.manager.store.descendants(caller.session, caller.lead))

    def settings(self) -> OrchestrationSettings:
        """Return ``[orchestration]``; the defaults if the settings cannot be used, so that reading goes on."""
        try:
            return self.manager.reader.settings.config().orchestration
        except AgentdashError:
            return OrchestrationSettings()

    def root(self) -> str:
        """Return the folder from which relative folders begin: that of the caller's session, else of this process."""
        session = self.manager.caller.session
        own = self.manager.store.session(session) if session is not None else None
        return own.cwd if own is not None else str(Path.cwd())

    def slice(self, seconds: float) -> float:
        """Return how long a call waits that asks for this time, so that it answers before its client gives up."""
        longest = self.settings().wait_seconds or self.client.wait_seconds
        return max(0.0, min(seconds, longest))

    def find(self, ref: str, family: Family | None = None) -> Session:
        """Return the worker that a text means.

        Raises:
            RefusalError: none or several fit, or the session is not below the caller.
        """
        family = family or self.family()
        found = family.named(ref)
        if found is not None:
            return found
        outside = self._outside(ref)
        if outside is not None and self.settings().reach == "all":
            return outside
        if outside is not None:
            fact = f"Session {outside.short_id} is not one of your workers."
            raise refusal("not_yours", f"{fact} {family.known()}", "use the id of one of them, or ask the user.")
        fact = f"No worker has the id {words(ref, 60)!r}. {family.known()}"
        raise refusal("unknown_session", fact, "list_sessions shows them.")

    def _outside(self, ref: str) -> Session | None:
        """Return a session of another lead, or of the user, that a text means."""
        try:
            return self.manager.reader.get(ref, destructive=True) if not ref.strip().startswith("@") else None
        except AgentdashError:
            return None

    def overview(self, family: Family | None = None) -> str:
        """Return the state of the caller's workers in a line."""
        family, caller = family or self.family(), self.manager.caller
        spoken = [family.name(one) for one in self.workers.spoken_to(caller.session, caller.lead, self.reading.turns())]
        return overview(family, self._budget(caller.session or caller.lead), spoken)

    def _budget(self, name: str | None) -> FamilyState | None:
        """Return the caller's budget and what it and its workers used, the deleted ones included."""
        limits = self.settings().limits
        try:
            return self.manager.store.family_budgets.state(name, limits) if name is not None else None
        except UnknownSessionError:  # an outside lead that has no workers yet
            return FamilyState(id=name or "", budget=limits.budget, own=False, account=Account())
