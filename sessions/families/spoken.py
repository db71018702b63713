"""The workers to which the user spoke, which their lead should know."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..storage.queries import Queries

_SPOKEN = """
SELECT id FROM sessions AS workers WHERE parent = ? AND lifecycle <> 'detached' AND (
    EXISTS (SELECT 1 FROM turns WHERE session = workers.id AND n > 1 AND created_at >= ?
        AND (asked_by IS NULL OR asked_by IN ('you', 'hand')))
    OR EXISTS (SELECT 1 FROM queue WHERE session = workers.id AND created_at >= ? AND state <> 'cancelled'
        AND (asked_by IS NULL OR asked_by = 'you'))
) ORDER BY created_at, id
"""
"""The first turn of a worker is the task of its lead."""


def spoken_to(store: "Queries", lead: str, since: int) -> list[str]:
    """Return the workers of a lead to which the user sent a prompt, or whose interface the user opened and used.

    Args:
        store: the rows.
        lead: the id of the session that leads them.
        since: only prompts that were requested at this time or later, UTC ms.
    """
    return [row["id"] for row in store.database.rows(_SPOKEN, (lead, since, since))]
