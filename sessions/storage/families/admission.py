"""Admission of workers and of prompts to them, and of more than their share, inside the transaction that records it.

Of several processes that ask at the same time, each sees what the others were granted."""

import sqlite3
from typing import TypeVar

from msgspec import structs

from agentdash.sessions.model.membership import Budget, Membership
from agentdash.sessions.model.steps import OTHER_PROGRAM
from agentdash.sessions.rules.costs.usage_totals import WITHOUT_MODEL
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.limits.admission import (
    FamilyLimits,
    Numbers,
    check_numbers,
    check_rounds,
    check_spent,
    extend,
    share_of,
)
from agentdash.sessions.rules.limits.family_account import Account, accounts
from agentdash.sessions.rules.limits.period_budgets import Share
from agentdash.sessions.storage.families.families import LEAD_KEY
from agentdash.sessions.storage.families.family_budgets import (
    accounts_of,
    budgets_of,
    ledgers_of,
    line_of,
    members_of,
    name_of,
)
from agentdash.sessions.storage.rows import dump, inside, load
from agentdash.sessions.storage.usual_use import usual_use

N = TypeVar("N", int, float)


def admit(
    db: sqlite3.Connection, place: Membership, limits: FamilyLimits, agent: str
) -> tuple[Membership, Budget | None]:
    """Admit a start that an agent requests, inside the caller's transaction; return its place and its share.

    ``agent`` is the agent of the new session.

    Raises:
        RefusalError: ``too_deep``, ``too_many`` or ``over_budget``.
    """
    query = inside(db)
    line = line_of(query, place.parent, place.lead)
    same_key = "SELECT 1 FROM sessions WHERE coalesce(parent, lead) = ? AND key = ?"
    if not line or (place.key is not None and query(same_key, (place.parent or place.lead, place.key))):
        return place, place.budget  # the unique index refuses the second of a key
    members = members_of(query, line[-1].id)
    sums = accounts(members)
    asking = sums.get(line[0].id, Account())
    check_numbers(limits, Numbers(leads=len(line), workers=asking.workers, open=asking.open))
    ledgers = ledgers_of(line, members, sums, limits)
    usual = usual_worker(db, agent) if ledgers else None
    share = share_of(place.budget, ledgers, limits, asking.open, usual)
    return structs.replace(place, depth=sum(not one.outside for one in line)), share


def admit_chained(db: sqlite3.Connection, session_id: str, limits: FamilyLimits) -> None:
    """Admit again a worker that waited for another session, inside the transaction that starts it; renew its share.

    It was admitted when it was requested, and since then limits, budgets and its family may have changed.

    Raises:
        RefusalError: ``too_deep``, ``too_many`` or ``over_budget``.
    """
    query = inside(db)
    own, *line = line_of(query, session_id, None)
    if not line:
        return
    members = members_of(query, line[-1].id)
    sums = accounts(members)
    asking = sums.get(line[0].id, Account())
    others = max(0, asking.open - 1)
    check_numbers(limits, Numbers(leads=len(line), workers=max(0, asking.workers - 1), open=others))
    above = [one for one in ledgers_of([own, *line], members, sums, limits) if one.name != name_of(own)]
    share = share_of(own.budget, above, limits, others, _usual(db, session_id))
    db.execute("UPDATE sessions SET share = ? WHERE id = ?", (dump(share) if share else None, session_id))


def admit_prompt(db: sqlite3.Connection, session_id: str, limits: FamilyLimits) -> None:
    """Admit the next prompt of a session, inside the caller's transaction, and renew its share.

    A session at work, and a lead whose workers are at work, need only that something is left.

    Raises:
        RefusalError: ``over_budget``.
    """
    query = inside(db)
    line = line_of(query, session_id, None)
    if not budgets_of(line, limits):
        return
    members = members_of(query, line[-1].id)
    sums = accounts(members)
    own, *above = line
    led = sums[own.id].workers > 0
    budgets = ledgers_of(line, members, sums, limits)
    for one in budgets:
        if one.name != name_of(own) or own.budget is not None or led:
            check_spent(one)
    row = next(member for member in members if member.id == own.id)
    if row.open or not above:
        return
    others = [one for one in budgets if one.name != name_of(own)]
    part = share_of(None, others, limits, sums[above[0].id].open, _usual(db, session_id))
    if part is not None:
        spent, most = sums[own.id].spent, own.budget or Budget()
        share = Budget(
            tokens=_least(part.tokens, spent.tokens, most.tokens),
            cost_usd=_least(part.cost_usd, spent.cost_usd, most.cost_usd),
        )
        db.execute("UPDATE sessions SET share = ? WHERE id = ?", (dump(share), session_id))


def _usual(db: sqlite3.Connection, session_id: str) -> Budget | None:
    row = db.execute("SELECT agent FROM sessions WHERE id = ?", (session_id,)).fetchone()
    return usual_worker(db, row["agent"]) if row is not None else None


def _least(part: N | None, spent: N, most: N | None) -> N | None:
    """Return the share up to which a session may go on: a part beyond what it spent, but not above its own budget."""
    if part is None:
        return None
    return part + spent if most is None else min(part + spent, most)


_SENT = (
    "SELECT COUNT(*) + (SELECT COUNT(*) FROM turns WHERE session = ?1 AND asked_by = ?3) AS sent"
    " FROM queue WHERE session = ?1 AND state <> 'cancelled'"
    " AND (key GLOB ?2 OR asked_by IN (SELECT id FROM sessions WHERE id <> ?1))"
)
"""The prompts of agents to a worker, and those that other programs sent past agentdash."""


def admit_round(
    db: sqlite3.Connection, session_id: str, limits: FamilyLimits, *, asked_by: str | None, key: str
) -> None:
    """Admit a prompt of an agent to one of its workers; a prompt of the user, and to itself, is never limited.

    Args:
        asked_by: the session from inside which the prompt comes.
        key: the key of the request, which shows a prompt of a lead outside agentdash.

    Raises:
        RefusalError: ``too_many_rounds``.
    """
    if not limits.max_rounds or (asked_by in (None, session_id) and not key.startswith(LEAD_KEY)):
        return
    check_rounds(limits, int(db.execute(_SENT, (session_id, f"{LEAD_KEY}*", OTHER_PROGRAM)).fetchone()["sent"]))


_WORKER = (
    "SELECT share, budget, agent, coalesce(total_tokens, 0) AS tokens,"
    " coalesce(cost_usd, 0.0) + coalesce(cost_about_usd, 0.0) AS cost,"
    " EXISTS (SELECT 1 FROM sessions AS below WHERE below.parent = sessions.id) AS leads"
    " FROM sessions WHERE id = ? AND share IS NOT NULL"
)


def keep_worker_share(db: sqlite3.Connection, session_id: str, turn: int) -> Share | None:
    """Extend the share of a worker that used it up, with all below it; None if it has no share."""
    row = db.execute(_WORKER, (session_id,)).fetchone()
    share = load(row["share"], Budget) if row is not None else None
    if row is None or share is None:
        return None
    if not row["leads"] and _within(share, row["tokens"], row["cost"]):
        return Share(most=share)
    line, members, sums = accounts_of(inside(db), session_id)
    spent = sums[session_id].spent
    if _within(share, spent.tokens, spent.cost_usd):
        return Share(most=share)
    found = db.execute("SELECT launch FROM turns WHERE session = ? AND n = ?", (session_id, turn)).fetchone()
    launch = load(found["launch"], Launch) if found is not None else None
    if launch is None:
        return Share(most=share)
    own = load(row["budget"], Budget) or Budget()
    above = [one for one in ledgers_of(line, members, sums, launch.family) if one.name != name_of(line[0])]
    kept, lacking = extend(share, own, spent, above, usual_worker(db, row["agent"]))
    if kept != share:
        db.execute("UPDATE sessions SET share = ? WHERE id = ?", (dump(kept), session_id))
    return Share(most=kept, lacking=lacking)


def _within(share: Budget, tokens: int, cost_usd: float) -> bool:
    fits = share.tokens is None or tokens < share.tokens
    return fits and (share.cost_usd is None or cost_usd < share.cost_usd)


def usual_worker(db: sqlite3.Connection, agent: str) -> Budget | None:
    """Return what a turn of an agent usually uses, with None for an unknown kind; None if it uses no model."""
    if agent in WITHOUT_MODEL:
        return None
    return usual_use(inside(db), agent)
