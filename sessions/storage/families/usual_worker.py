"""The usual use of a worker, for the share that it reserves of the budgets above it."""

import sqlite3

from ...costs.usage_totals import WITHOUT_MODEL
from ...values.membership import Budget
from ..usual_use import usual_use


def usual_worker(db: sqlite3.Connection, agent: str) -> Budget | None:
    """Return what a turn of an agent usually uses, with None for an unknown kind; None if it uses no model."""
    if agent in WITHOUT_MODEL:
        return None
    return usual_use(lambda sql, values: db.execute(sql, values).fetchall(), agent)
