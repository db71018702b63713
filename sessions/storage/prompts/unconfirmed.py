"""The prompts of which it is not known whether their agent got them: only the user sends them again, or dismisses them.

Such a prompt began a turn, or was written into a running turn of a live agent.
"""

import sqlite3

from msgspec import Struct

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.storage.database import Database
from agentdash.sessions.storage.rows import struct_from


class Unconfirmed(Struct, frozen=True, kw_only=True):
    """One of these prompts."""

    session: str
    turn: int
    """The turn that it began, or into which it was written."""
    text: str
    created_at: int
    steered: int | None = None
    """Its number in the queue, if it was written into a running turn."""


def unconfirmed(database: Database, session_id: str) -> list[Unconfirmed]:
    """Return these prompts of a session, in the order of their turns."""
    rows = database.rows(
        "SELECT session, turn, text, created_at, NULL AS steered, id FROM prompts"
        " WHERE session = ? AND state = 'unconfirmed'"
        " UNION ALL SELECT session, COALESCE(turn, 0), text, created_at, id, id FROM queue"
        " WHERE session = ? AND state = 'unconfirmed' ORDER BY turn, steered, id",
        (session_id, session_id),
    )
    return [struct_from(Unconfirmed, row) for row in rows]


def decide(db: sqlite3.Connection, session_id: str, turn: int, steered: int | None, state: PromptState) -> bool:
    """Record the user's decision about a prompt, inside the caller's transaction; False if it was decided before.

    The arguments are those of :class:`Unconfirmed`.
    """
    if steered is None:
        return bool(
            db.execute(
                "UPDATE prompts SET state = ? WHERE session = ? AND turn = ? AND state = 'unconfirmed'",
                (state, session_id, turn),
            ).rowcount
        )
    return bool(
        db.execute(
            "UPDATE queue SET state = ?, changed_at = ? WHERE session = ? AND id = ? AND state = 'unconfirmed'",
            (state, now_ms(), session_id, steered),
        ).rowcount
    )


def dismiss(database: Database, prompt: Unconfirmed) -> bool:
    """Record that the user needs no second attempt; False if it was sent again or dismissed before."""
    with database.transaction() as db:
        return decide(db, prompt.session, prompt.turn, prompt.steered, PromptState.DISMISSED)
