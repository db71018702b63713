"""The workers of one caller at one moment: their names, and which one a text means."""

from collections import Counter
from collections.abc import Sequence

from agentdash.sessions.mcp.orchestration.quoting import words
from agentdash.sessions.mcp.orchestration.refusals import refusal
from agentdash.sessions.model.membership import Budget
from agentdash.sessions.model.session import Session, Status, short_id
from agentdash.sessions.rules.costs.cost import cost_words
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.storage.families.family_budgets import FamilyState
from agentdash.sessions.text.units import count, money, tokens

SHORTEST = 4
"""The fewest characters of an id that name a worker."""

_LISTED = 8


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
            ids = ", ".join(one.id for one in found[:_LISTED])
            raise refusal("ambiguous", f"{words(ref, 40)!r} begins {len(found)} ids: {ids}.", "give the whole id.")
        return found[0] if found else None

    def known(self) -> str:
        """Return a sentence with the workers' names."""
        names = [self.name(one.id) for one in reversed(self.sessions)]
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        return f"Your workers: {', '.join(names[:_LISTED])}{more}." if names else "You have no workers."


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
    return f"{text}; the user spoke to {', '.join(spoken_to[:_LISTED])}" if spoken_to else text


def _spent(state: FamilyState) -> list[str]:
    limit, spent, parts = state.budget or Budget(), state.account.spent, []
    if spent.cost_usd or spent.missing or limit.cost_usd is not None:
        of = f" of {money(limit.cost_usd)}" if limit.cost_usd is not None else ""
        parts.append(f"{cost_words(spent.cost, money(0.0))}{of}")
    if limit.tokens is not None:
        parts.append(f"{spent.tokens_words(exact=False)} of {tokens(limit.tokens)} tokens")
    return parts
