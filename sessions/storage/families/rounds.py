"""The prompts that agents sent to a worker, counted in the transaction that records the next one."""

import sqlite3

from ...rules.limits.admission import FamilyLimits, check_rounds
from ...values.steps import OTHER_PROGRAM
from .workers import LEAD_KEY

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
        db: the connection, in a transaction.
        session_id: the worker.
        limits: the limits of the request.
        asked_by: the session from inside which the prompt comes.
        key: the key of the request, which shows a prompt of a lead outside agentdash.

    Raises:
        RefusalError: ``too_many_rounds``.
    """
    if not limits.max_rounds or (asked_by in (None, session_id) and not key.startswith(LEAD_KEY)):
        return
    check_rounds(limits, int(db.execute(_SENT, (session_id, f"{LEAD_KEY}*", OTHER_PROGRAM)).fetchone()["sent"]))
