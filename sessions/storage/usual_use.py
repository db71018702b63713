"""The usual use of a turn of an agent, from its recent turns that ended."""

import math

from agentdash.sessions.model.membership import Budget
from agentdash.sessions.rules.limits.period_budgets import RECENT, usual_of
from agentdash.sessions.storage.rows import OPEN, Query

_SEARCHED = 400
"""Newest rows of ``use_sums`` in which the turns of an agent are searched, so that the query costs the same always."""

_RECENT = f"""
    WITH newest AS (SELECT session, turn, quarter FROM use_sums ORDER BY quarter DESC LIMIT {_SEARCHED}),
    recent AS (
        SELECT newest.session, newest.turn, max(quarter) AS at FROM newest
        LEFT JOIN sessions ON sessions.id = newest.session
        LEFT JOIN tombstones AS gone ON gone.session = newest.session
        LEFT JOIN turns ON turns.session = newest.session AND turns.n = newest.turn
        WHERE coalesce(sessions.agent, gone.agent) = ? AND (turns.status IS NULL OR turns.status NOT IN ({OPEN}))
        GROUP BY newest.session, newest.turn ORDER BY at DESC LIMIT {RECENT}
    )
    SELECT sum(total_tokens) AS tokens, sum(reported_usd) AS reported, sum(computed_usd) AS computed
    FROM recent CROSS JOIN use_sums AS used ON used.session = recent.session AND used.turn = recent.turn
    GROUP BY recent.session, recent.turn
"""  # noqa: S608


def usual_use(query: Query, agent: str) -> Budget:
    """Return what a turn of an agent usually uses; None for a kind that none of its recent turns reported."""
    return usual_of([_used(*row) for row in query(_RECENT, (agent,))])


def _used(tokens: int | None, reported: float | None, computed: float | None) -> Budget:
    cost = None if reported is None and computed is None else (reported or 0.0) + (computed or 0.0)
    known = cost is not None and math.isfinite(cost)
    return Budget(tokens=None if tokens is None else max(0, tokens), cost_usd=max(0.0, cost or 0.0) if known else None)
