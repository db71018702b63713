"""The share of a worker in the budgets above it, extended in the transaction that records what the worker used."""

import sqlite3

from ...launch import Launch
from ...rules.limits.admission import extend
from ...rules.limits.period_shares import Share
from ...values.membership import Budget
from ..rows import dump, load
from .family_budgets import accounts_of, ledgers_of, name_of
from .usual_worker import usual_worker

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
    line, members, sums = accounts_of(lambda sql, values: db.execute(sql, values).fetchall(), session_id)
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
