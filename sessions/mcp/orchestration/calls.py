"""One call of a tool: the manager, the caller's workers, the client's patience, and the ends that the answer names.

Such an end counts as read by the lead when the answer was written to the client.  Until then this server holds a lock
in the worker's folder, so that no other server names the same end.  The kernel releases it with the process: an end
whose server was killed before it wrote the answer is named again.
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentdash.sessions.mcp.orchestration.quoting import words
from agentdash.sessions.mcp.orchestration.refusals import refusal
from agentdash.sessions.model.errors import AgentdashError, UnknownSessionError
from agentdash.sessions.model.membership import Budget
from agentdash.sessions.model.session import Session, Status, short_id
from agentdash.sessions.rules.costs.cost import cost_words
from agentdash.sessions.rules.limits.family_account import Account
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.runner.processes import runner_lock
from agentdash.sessions.runner.processes.runner_lock import HeldLock
from agentdash.sessions.settings.sections import OrchestrationSettings
from agentdash.sessions.storage.families.families import Families
from agentdash.sessions.storage.families.family_budgets import FamilyState
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.text.units import count, money, tokens

if TYPE_CHECKING:
    from agentdash.sessions.mcp.clients import Client
    from agentdash.sessions.service.manager import SessionManager


SHORTEST = 4
"""The fewest characters of an id that name a worker."""

_MOST_NAMED = 8


class Family:
    """The sessions below a caller.

    Args:
        sessions: all sessions below, the oldest first.
    """

    def __init__(self, caller: Caller, sessions: Sequence[Session]) -> None:
        self._caller = caller
        self.sessions = sessions
        self._by_id = {session.id: session for session in sessions}
        self._short = Counter(short_id(session.id) for session in sessions)

    def name(self, session_id: str) -> str:
        """Return the id by which the tools name a worker: short if that is unique."""
        short = short_id(session_id)
        return short if self._short[short] <= 1 else session_id

    def get(self, session_id: str) -> Session | None:
        """Return the worker with exactly this id."""
        return self._by_id.get(session_id)

    def own(self) -> list[Session]:
        """Return the workers that the caller started itself."""
        return [session for session in self.sessions if self.is_own(session)]

    def is_own(self, session: Session) -> bool:
        """Return whether the caller itself started a worker."""
        inside = self._caller.session is not None and session.parent == self._caller.session
        return inside or (self._caller.lead is not None and session.lead == self._caller.lead)

    def named(self, ref: str) -> Session | None:
        """Return the worker that a text means; None if it means none of them.

        Raises:
            RefusalError: it means several.
        """
        ref = ref.strip().lower()
        if ref in self._by_id:
            return self._by_id[ref]
        found = [one for one in self.sessions if one.id.startswith(ref)] if len(ref) >= SHORTEST else []
        if len(found) > 1:
            ids = ", ".join(one.id for one in found[:_MOST_NAMED])
            raise refusal("ambiguous", f"{words(ref, 40)!r} begins {len(found)} ids: {ids}.", "give the whole id.")
        return found[0] if found else None

    def known(self) -> str:
        """Return a sentence with the workers' names."""
        names = [self.name(one.id) for one in reversed(self.sessions)]
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        return f"Your workers: {', '.join(names[:_MOST_NAMED])}{more}." if names else "You have no workers."


def need(session: Session) -> str:
    """Return why a worker that has not ended needs its lead; empty if it does not."""
    if session.status.ended:
        return ""
    if session.blocked:
        return "blocked"
    if session.asking:
        return "waiting"
    if session.is_stuck:
        return "stuck"
    if session.unconfirmed:
        return "unconfirmed"
    return "denied" if session.denied and session.status is Status.RUNNING else ""


def overview(family: Family, state: FamilyState | None, spoken_to: Sequence[str]) -> str:
    """Return the state of a family in a line: ``6 workers, 4 at work, 1 needs you, $1.20 of $5.00``.

    Args:
        state: the caller's budget, and what it and its workers used; None if it is the user.
        spoken_to: ids of the workers to which the user spoke.
    """
    listed = [one for one in family.sessions if not one.put_away]
    at_work = sum(not one.status.ended for one in listed)
    needing = sum(bool(need(one)) for one in listed)
    failed = sum(one.status in (Status.FAILED, Status.LOST) for one in listed)
    parts = [count(len(listed), "worker"), f"{at_work} at work"]
    parts += [f"{needing} {'needs' if needing == 1 else 'need'} you"] if needing else []
    parts += [f"{failed} failed"] if failed else []
    parts += _spent(state) if state is not None else []
    text = ", ".join(parts)
    return f"{text}; the user spoke to {', '.join(spoken_to[:_MOST_NAMED])}" if spoken_to else text


def _spent(state: FamilyState) -> list[str]:
    limit, spent, parts = state.budget or Budget(), state.account.spent, []
    if spent.cost_usd or spent.missing or limit.cost_usd is not None:
        of = f" of {money(limit.cost_usd)}" if limit.cost_usd is not None else ""
        parts.append(f"{cost_words(spent.cost, money(0.0))}{of}")
    if limit.tokens is not None:
        parts.append(f"{spent.tokens_words(exact=False)} of {tokens(limit.tokens)} tokens")
    return parts


class Reading:
    """The ends that the answer of one call names."""

    def __init__(self, layout: Layout, workers: Families) -> None:
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
        self.workers = manager.store.families
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
