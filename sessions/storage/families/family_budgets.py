"""The rows of families: admission in the caller's transaction, and the sums of a lead and all sessions below it.

A deleted session stays in its family as a tombstone with what it spent.  Every query walks the indexes over parents
and leads, so that its cost follows from the size of the family, not from the number of sessions.
"""

import sqlite3
from collections.abc import Sequence

from msgspec import Struct

from agentdash.sessions.model.errors import UnknownSessionError
from agentdash.sessions.model.membership import Budget
from agentdash.sessions.model.session import LIVE, Status, short_id
from agentdash.sessions.rules.limits.admission import FamilyLimits, Ledger
from agentdash.sessions.rules.limits.family_account import Account, Amount, Member, accounts, crossed, reserved_beside
from agentdash.sessions.storage.database import DatabasePart
from agentdash.sessions.storage.rows import USES_MODEL, WITHOUT_FIGURES, Query, load

_OPEN = LIVE | {Status.QUEUED}

_ONE = (
    "SELECT id, parent, lead, budget FROM sessions WHERE id = ?1"
    " UNION ALL SELECT session, parent, lead, budget FROM tombstones WHERE session = ?1"
)
FAMILY = (
    "WITH RECURSIVE family (id) AS (SELECT ?1"
    " UNION SELECT sessions.id FROM family JOIN sessions ON sessions.parent = family.id"
    " UNION SELECT sessions.id FROM family JOIN sessions ON sessions.lead = family.id AND sessions.parent IS NULL"
    " UNION SELECT gone.session FROM family JOIN tombstones AS gone ON gone.parent = family.id"
    " UNION SELECT gone.session FROM family JOIN tombstones AS gone ON gone.lead = family.id AND gone.parent IS NULL)"
)
"""The ids of ``?1``, a session or an outside lead, and of everything below it, as the table ``family``."""
# Figures are missing by the rule of costs.usage_totals; of a deleted session only its reports are left.
_RAN = f"""{USES_MODEL} AND sessions.started_at IS NOT NULL AND NOT (sessions.status = 'failed'
        AND sessions.exit_code IS NULL AND sessions.signal IS NULL AND sessions.steps = 0)"""
_SUMS = f""" SELECT family.id, coalesce(sessions.parent, sessions.lead, gone.parent, gone.lead) AS above,
    coalesce(sessions.total_tokens, gone.total_tokens, 0) AS tokens,
    coalesce(sessions.cost_usd, gone.cost_usd, 0.0)
    + coalesce(sessions.cost_about_usd, gone.cost_about_usd, 0.0) AS cost,
    coalesce(sessions.cost_about_usd, gone.cost_about_usd, 0.0) AS computed,
    coalesce(sessions.cost_missing, gone.cost_missing, 0) > 0 OR coalesce({WITHOUT_FIGURES}, 0)
    OR coalesce(sessions.cost_usd, sessions.cost_about_usd, gone.cost_usd, gone.cost_about_usd) IS NULL
    AND iif(sessions.id IS NULL, EXISTS (SELECT 1 FROM use_sums WHERE use_sums.session = family.id AND missing),
        {_RAN}) AS missing,
    coalesce(sessions.tokens_missing, gone.tokens_missing, 0) > 0 OR coalesce({WITHOUT_FIGURES}, 0)
    OR coalesce(sessions.total_tokens, gone.total_tokens) IS NULL AND iif(sessions.id IS NULL,
        EXISTS (SELECT 1 FROM use_sums WHERE use_sums.session = family.id AND use_sums.total_tokens IS NULL),
        {_RAN}) AS tokens_missing,
    sessions.status, sessions.share
    FROM family LEFT JOIN sessions ON sessions.id = family.id
    LEFT JOIN tombstones AS gone ON gone.session = family.id"""  # noqa: S608
_MEMBERS = FAMILY + _SUMS
_TOTALS = """coalesce(sum(tokens), 0) AS tokens, coalesce(sum(cost), 0.0) AS cost,
    coalesce(sum(computed), 0.0) AS computed, coalesce(sum(missing), 0) AS missing,
    coalesce(sum(tokens_missing), 0) AS tokens_missing"""
_SPENT = f"SELECT {_TOTALS} FROM ({_MEMBERS})"  # noqa: S608


class Above(Struct, frozen=True, kw_only=True):
    """A session of a line of leads, or an outside lead, which has no row."""

    id: str
    budget: Budget | None = None
    outside: bool = False


class FamilyState(Struct, frozen=True, kw_only=True):
    """The budget of a lead, and the sums of it and all sessions below it."""

    id: str
    budget: Budget | None
    """None if nothing limits it."""
    own: bool
    """True if the budget is recorded with the session; else it is that of the settings."""
    account: Account

    @property
    def name(self) -> str:
        """The short id of a session, or the key of an outside lead."""
        return self.id if ":" in self.id else short_id(self.id)


class FamilyBudgets(DatabasePart):
    """The budgets of leads, for front ends and runners."""

    def state(self, name: str, limits: FamilyLimits) -> FamilyState:
        """Return the budget of a session or an outside lead, and its sums.

        Raises:
            UnknownSessionError: no session and no outside lead has this name.
        """
        with self._database.snapshot():
            query = self._database.rows
            line = line_of(query, name, None) or line_of(query, None, name)
            members = members_of(query, name)
        if line[0].outside and len(members) == 1:
            raise UnknownSessionError(f"No session and no lead has the id {name!r}.")
        account = accounts(members)[name]
        top = line[0].outside or (len(line) == 1 and account.workers > 0)
        budget = line[0].budget or (limits.budget if top and limits.budget != Budget() else None)
        return FamilyState(id=name, budget=budget, own=line[0].budget is not None, account=account)

    def states(self, session_id: str, limits: FamilyLimits) -> list[FamilyState]:
        """Return the state of each budget that counts what a session spends, the nearest lead first."""
        line = line_of(self._database.rows, session_id, None)
        states = [self.state(one.id, limits) for one, _ in budgets_of(line, limits)]
        return [one for one in states if one.budget is not None]

    def above(self, session_id: str) -> list[str]:
        """Return the ids of the sessions above a session, the nearest first."""
        return [one.id for one in line_of(self._database.rows, session_id, None)[1:] if not one.outside]

    def below(self, session_id: str) -> list[str]:
        """Return the ids of a session and all sessions below it; deleted ones are among them."""
        return [member.id for member in members_of(self._database.rows, session_id)]

    def budgets(self, session_id: str, limits: FamilyLimits) -> list[Budget]:
        """Return the budgets that count what a session spends; empty for nearly all sessions."""
        return [budget for _, budget in budgets_of(line_of(self._database.rows, session_id, None), limits)]

    def crossed(self, session_id: str, limits: FamilyLimits) -> str | None:
        """Return the first budget that is crossed, of those that count what a session spends; None if none is.

        The text names it: ``budget of its lead: $2.03 of $2.00``.
        """
        query = self._database.rows
        line = line_of(query, session_id, None)
        for one, budget in budgets_of(line, limits):
            row = query(_SPENT, (one.id,))[0]
            over = crossed(budget, _amount(row))
            if over is not None and (
                one.budget is not None or one.id != session_id or len(members_of(query, session_id)) > 1
            ):
                return f"{_owner(line, one)}: {over}"
        return None


def line_of(query: Query, session: str | None, lead: str | None) -> list[Above]:
    """Return a session and all above it, the nearest first; the last may be an outside lead."""
    line: list[Above] = []
    seen: set[str] = set()
    while session is not None and session not in seen:
        seen.add(session)
        rows = query(_ONE, (session,))
        if not rows:
            break
        line.append(Above(id=session, budget=load(rows[0]["budget"], Budget)))
        session, lead = rows[0]["parent"], rows[0]["lead"]
    if session is None and lead is not None:
        line.append(Above(id=lead, outside=True))
    return line


def members_of(query: Query, name: str) -> list[Member]:
    """Return a session or an outside lead and everything below it, each after the one above it."""
    return [
        Member(
            id=row["id"],
            above=row["above"] if row["id"] != name else None,
            spent=_amount(row),
            open=row["status"] in _OPEN,
            share=load(row["share"], Budget),
        )
        for row in query(_MEMBERS, (name,))
    ]


def accounts_of(query: Query, session_id: str) -> tuple[list[Above], list[Member], dict[str, Account]]:
    """Return the line of a session, its whole family, and the sums of each."""
    line = line_of(query, session_id, None)
    members = members_of(query, line[-1].id)
    return line, members, accounts(members)


def budgets_of(line: Sequence[Above], limits: FamilyLimits) -> list[tuple[Above, Budget]]:
    """Return the leads of a line that have a budget, the nearest first; the last has that of the settings."""
    budgets = [(one, one.budget) for one in line if one.budget is not None]
    if line and line[-1].budget is None and limits.budget != Budget():
        budgets.append((line[-1], limits.budget))
    return budgets


def ledgers_of(
    line: Sequence[Above], members: Sequence[Member], sums: dict[str, Account], limits: FamilyLimits
) -> list[Ledger]:
    """Return the budgets of a line, each with what is left of it for the first of the line."""
    path = [one.id for one in line]
    return [
        Ledger(
            name=name_of(one),
            outside=one.outside,
            budget=budget,
            spent=sums[one.id].spent,
            reserved=reserved_beside(members, sums, path[: path.index(one.id) + 1]),
        )
        for one, budget in budgets_of(line, limits)
    ]


def name_of(one: Above) -> str:
    """Return the name of a lead in texts: the short id of a session, or the key of an outside lead."""
    return one.id if one.outside else short_id(one.id)


def _amount(row: sqlite3.Row) -> Amount:
    return Amount(row["tokens"], row["cost"], row["computed"], row["missing"], row["tokens_missing"])


def _owner(line: Sequence[Above], one: Above) -> str:
    if one is line[0]:
        return "its budget"
    return "budget of its lead" if len(line) > 1 and one is line[1] else f"budget of lead {name_of(one)}"
