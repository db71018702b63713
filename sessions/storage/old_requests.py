"""Requests that no runner will answer: the turn has ended, and the process that waited for the receipt is gone."""

from collections.abc import Callable

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.session import Receipt, Status
from agentdash.sessions.storage.database import Database
from agentdash.sessions.storage.rows import dump

PATIENCE_MS = 60_000
"""A younger request may be on its way: its front end starts a runner for it."""


def answer_old(database: Database, has_runner: Callable[[str], bool]) -> None:
    """Answer such requests.

    Args:
        has_runner: whether the runner of a session lives, which answers by itself.
    """
    rows = database.rows(
        "SELECT requests.id, requests.session, turns.status FROM requests"
        " JOIN turns ON turns.session = requests.session AND turns.n = requests.turn"
        " WHERE done_at IS NULL AND requests.created_at < ?",
        (now_ms() - PATIENCE_MS,),
    )
    old = [row for row in rows if Status(row["status"]).ended and not has_runner(row["session"])]
    if not old:
        return
    with database.transaction() as db:
        for row in old:
            receipt = Receipt(session=row["session"], status=Status(row["status"]), note="the turn had ended")
            db.execute(
                "UPDATE requests SET done_at = ?, receipt = ? WHERE id = ? AND done_at IS NULL",
                (now_ms(), dump(receipt), row["id"]),
            )
