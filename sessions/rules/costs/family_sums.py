"""The states, tokens and money of a lead and its workers together, counted as sessions change.  Pure.

A change of one session costs as many steps as it has leads above it; no session is counted twice, and none is counted
again when time passes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct

from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.rules.costs.cost import Cost, CostCount
from agentdash.sessions.rules.costs.usage_totals import lacks_tokens, session_cost

STATES = (
    Status.WAITING, "stuck", Status.RUNNING, Status.QUEUED, Status.DONE, Status.FAILED, Status.STOPPED,
)  # fmt: skip
"""The states that are counted apart, in the order in which they are shown."""

_COUNTED_AS = {Status.STARTING: Status.RUNNING, Status.FINISHING: Status.RUNNING, Status.LOST: Status.FAILED}
"""States that are counted as another one."""

_OUTSIDE = "\0lead:"
"""Begins the key of an outside lead; a NUL cannot be in an id."""


class FamilySum(Struct, frozen=True, kw_only=True):
    """The workers below a lead; tokens and money are those of the lead and all its workers."""

    workers: int
    states: tuple[tuple[str, int], ...]
    """The number of workers in each state that any worker has; ``stuck`` is a state here."""
    tokens: int | None = None
    """The sum of the known figures; None if none is known."""
    cost: Cost = Cost()
    """``missing`` counts the sessions that cost an unknown amount."""
    tokens_missing: int = 0
    """Sessions that used an unknown number of tokens."""


def outside_key(lead: str) -> str:
    """Return the key of a lead that is not a session: ``claude:ID``, ``codex:ID`` or ``mcp:ID``."""
    return f"{_OUTSIDE}{lead}"


def family_of(sessions: Iterable[Session], key: str) -> list[Session]:
    """Return a lead and all its workers, in the order of ``sessions``; key is an id or :func:`outside_key`."""
    listed = list(sessions)
    families = Families()
    families.update(listed)
    meant = {key, *families.below(key)}
    return [session for session in listed if session.id in meant]


class Families:
    """The sums of all families; the sessions come in any order."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self._members: dict[str, dict[str, None]] = {}
        """The ids of the sessions that name a lead, by its key; the lead itself may not be known."""
        self._totals: dict[str, _Total] = {}
        """The counts of all workers below a lead, by its key."""

    def update(self, updated: Iterable[Session], removed: Iterable[str] = ()) -> None:
        """Apply changes."""
        for session_id in removed:
            if (session := self._sessions.get(session_id)) is not None:
                self._take_out(session)
        # Workers before their lead: a sum is then passed on once, not to each lead above.
        for session in sorted(updated, key=lambda one: one.created_at, reverse=True):
            earlier = self._sessions.get(session.id)
            if earlier is None:
                self._put_in(session)
            elif _place(earlier) != _place(session):
                self._take_out(earlier)
                self._put_in(session)
            else:
                self._sessions[session.id] = session
                for key in self.above(session):
                    self._totals[key].count(earlier, -1)
                    self._totals[key].count(session, 1)

    def is_lead(self, key: str) -> bool:
        """Return whether it has workers."""
        return key in self._totals

    def sum(self, key: str) -> FamilySum | None:
        """The sum of a lead and its workers; None if it has no workers."""
        total = self._totals.get(key)
        if total is None:
            return None
        lead = self._sessions.get(key)
        return total.sum() if lead is None else total.copy().count(lead, 1, worker=False).sum()

    def workers(self, key: str) -> list[Session]:
        """The sessions that a lead started itself, oldest first."""
        return sorted((self._sessions[one] for one in self._valid(key)), key=lambda one: one.created_at)

    def below(self, key: str) -> Iterator[str]:
        """The ids of all workers of a lead, and of their workers."""
        waiting = list(self._valid(key))
        while waiting:
            session_id = waiting.pop()
            yield session_id
            waiting += self._valid(session_id)

    def above(self, session: Session) -> Iterator[str]:
        """The keys of the leads of a session, the nearest first."""
        here: Session | None = session
        while here is not None and (key := self._lead(here)) is not None:
            yield key
            here = self._sessions.get(key)

    def _lead(self, session: Session) -> str | None:
        """The key of the lead to which a session counts; None if it has none, or the lead is not known."""
        if session.parent is None:
            return outside_key(session.lead) if session.lead is not None else None
        parent = self._sessions.get(session.parent)
        # A lead is older than its workers, so that no session is its own lead.
        return session.parent if parent is not None and parent.created_at < session.created_at else None

    def _valid(self, key: str) -> list[str]:
        """The members of a lead that count to it."""
        return [one for one in self._members.get(key, ()) if self._lead(self._sessions[one]) == key]

    def _put_in(self, session: Session) -> None:
        self._sessions[session.id] = session
        if (named := _named(session)) is not None:
            self._members.setdefault(named, {})[session.id] = None
        if session.id in self._members:
            # Its workers came before it: it begins with what they count.
            total = _Total()
            for one in self._valid(session.id):
                total.add(self._weight(self._sessions[one]))
            if total.workers:
                self._totals[session.id] = total
        self._pass_on(session, 1)

    def _take_out(self, session: Session) -> None:
        self._pass_on(session, -1)
        self._totals.pop(session.id, None)
        if (named := _named(session)) is not None:
            members = self._members[named]
            del members[session.id]
            if not members:
                del self._members[named]
        del self._sessions[session.id]

    def _pass_on(self, session: Session, by: int) -> None:
        """Add a session and its workers to all leads above it, or subtract them."""
        if session.parent is None and session.lead is None:
            return
        weight = self._weight(session)
        for key in self.above(session):
            total = self._totals.setdefault(key, _Total())
            total.add(weight, by)
            if not total.workers:
                del self._totals[key]

    def _weight(self, session: Session) -> "_Total":
        """The counts of a session and its workers together."""
        below = self._totals.get(session.id)
        return (below.copy() if below is not None else _Total()).count(session, 1)


class _Total:
    """Counts that can be added and subtracted without a remainder: money as in :mod:`.cost`."""

    def __init__(self) -> None:
        self.workers = 0
        self._counts: Counter[str] = Counter()
        self._cost = CostCount()

    def copy(self) -> "_Total":
        """The same counts, to be changed apart."""
        twin = _Total()
        twin.add(self)
        return twin

    def add(self, other: "_Total", by: int = 1) -> None:
        """Add other counts, or subtract them."""
        self.workers += by * other.workers
        self._cost.add(other._cost, by)
        for name, number in other._counts.items():
            self._counts[name] += by * number

    def count(self, session: Session, by: int, *, worker: bool = True) -> "_Total":
        """Add one session, or subtract it; a lead itself is not one of its workers."""
        counts = self._counts
        if worker:
            self.workers += by
            counts[_state(session)] += by
        if (tokens := session.usage.total_tokens) is not None:
            counts["tokens"] += by * tokens
            counts["tokens known"] += by
        counts["no tokens"] += by * lacks_tokens(session)
        self._cost.count(session_cost(session), by)
        return self

    def sum(self) -> FamilySum:
        """The counts as they are now."""
        counts = self._counts
        return FamilySum(
            workers=self.workers,
            states=tuple((str(state), counts[state]) for state in STATES if counts[state]),
            tokens=counts["tokens"] if counts["tokens known"] else None,
            cost=self._cost.cost,
            tokens_missing=counts["no tokens"],
        )


def _state(session: Session) -> str:
    if session.is_stuck:
        return "stuck"
    return Status.WAITING if session.asks_user else _COUNTED_AS.get(session.status, session.status)


def _named(session: Session) -> str | None:
    """The key of the lead that a session names, known or not."""
    if session.parent is not None:
        return session.parent
    return outside_key(session.lead) if session.lead is not None else None


def _place(session: Session) -> tuple[object, ...]:
    """The facts that decide the family of a session, and that of its workers."""
    return session.parent, session.lead, session.created_at
