"""Count the sessions that need the user, work, wait and failed: one query, whatever their number."""

from msgspec import Struct

from agentdash.sessions.model.statuses import LIVE, Status
from agentdash.sessions.rules.urgency_levels import Urgency
from agentdash.sessions.storage.database import Database

_COUNT = (
    "SELECT status, urgency, COUNT(*) AS n, title, task, MIN(rank) AS first"
    " FROM sessions WHERE archived_at IS NULL GROUP BY 1, 2 ORDER BY first"
)
"""SQLite takes the columns beside MIN() from the row that has it."""


class Counts(Struct, frozen=True, kw_only=True):
    """The numbers of sessions in use."""

    needs_you: int = 0
    """Sessions that need a decision of the user, those that failed among them."""
    failed: int = 0
    """Sessions that failed or were lost, and that the user has not opened since."""
    at_work: int = 0
    queued: int = 0
    total: int = 0
    first: str | None = None
    """The title of the most urgent session that needs the user, as it was given; None if none does."""


def counts(database: Database) -> Counts:
    """Count the sessions that are not archived.

    Raises:
        StoreError: the database cannot be read.
    """
    needs_you = failed = at_work = queued = total = 0
    first = None
    for row in database.rows(_COUNT):
        status, urgency, n = row["status"], row["urgency"], row["n"]
        needs = urgency is not None and urgency <= Urgency.ASKS  # a row that cannot be read has none
        total += n
        needs_you += n if needs else 0
        failed += n if needs and status in (Status.FAILED, Status.LOST) else 0
        at_work += n if status in LIVE else 0
        queued += n if status == Status.QUEUED else 0
        first = (row["title"] or row["task"]) if needs and first is None else first
    return Counts(needs_you=needs_you, failed=failed, at_work=at_work, queued=queued, total=total, first=first)
