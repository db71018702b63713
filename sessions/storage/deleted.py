"""The tombstones of deleted sessions, made again from the trash: families go on counting what these spent."""

from collections.abc import Iterable

from ..model import Session
from .rows import dump
from .store import Store

_INSERT = (
    "INSERT INTO tombstones (session, seq, deleted_at, parent, lead, budget, total_tokens, cost_usd, cost_about_usd,"
    " cost_missing, tokens_missing) SELECT ?1, 0, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10"
    " WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE id = ?1)"
    " AND NOT EXISTS (SELECT 1 FROM tombstones WHERE session = ?1)"
)
"""Its place in the change feed is before all others: the deletion is not a change that a reader has missed."""


def remember(store: Store, deleted: Iterable[Session]) -> None:
    """Record deleted sessions that have neither rows nor a tombstone, because the database was lost.

    Args:
        store: the rows.
        deleted: the sessions as their records in the trash have them, with the times of their deletion.
    """
    rows = [
        (
            one.id, one.deleted_at or 0, one.parent, one.lead, dump(one.budget) if one.budget else None,
            one.usage.total_tokens, one.cost_usd, one.cost_about_usd, one.cost_missing, one.tokens_missing,
        )
        for one in deleted
    ]  # fmt: skip
    if rows:
        with store.database.transaction() as db:
            db.executemany(_INSERT, rows)
