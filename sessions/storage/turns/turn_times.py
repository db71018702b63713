"""The recorded times of a turn at work, after a step of the wall clock."""

from ...clock import now_ms
from ...model import LIVE
from ..database import Database

_LIVE = "(" + ", ".join(f"'{status}'" for status in sorted(LIVE)) + ")"


def move_times(database: Database, session_id: str, n: int, step_ms: int) -> None:
    """Move the times of a turn, and those of its open asks, with the clock; nothing if the turn has ended.

    Durations and ages are differences of these times and of the present, and stay what they were.
    """
    with database.transaction() as db:
        changed = db.execute(
            "UPDATE turns SET started_at = started_at + ?1, stop_requested_at = stop_requested_at + ?1"  # noqa: S608
            f" WHERE session = ?2 AND n = ?3 AND status IN {_LIVE}",
            (step_ms, session_id, n),
        ).rowcount
        if not changed:
            return
        now = now_ms()
        db.execute(
            "UPDATE sessions SET started_at = started_at + ?1, last_event_at = min(last_event_at + ?1, ?3),"
            " stuck_at = stuck_at + ?1, updated_at = ?3 WHERE id = ?2",
            (step_ms, session_id, now),
        )
        db.execute(
            "UPDATE asks SET asked_at = asked_at + ? WHERE session = ? AND state = 'open'", (step_ms, session_id)
        )
