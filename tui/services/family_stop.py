"""One receipt for a lead and all sessions below it that were stopped with it."""

from collections.abc import Sequence

from msgspec import structs

from ...sessions.errors import AgentdashError
from ...sessions.model import Receipt, Session, Status
from .bulk_actions import stopped


def one_receipt(lead: Session, outcomes: Sequence[tuple[Session, Receipt | AgentdashError]]) -> Receipt:
    """Return the lead's receipt with the processes of all; its note has the number of sessions, and each failure."""
    receipts = [one for _, one in outcomes if isinstance(one, Receipt)]
    own = next((one for one in receipts if one.session == lead.id), Receipt(session=lead.id, status=Status.STOPPED))
    times = [one.duration_ms for one in receipts if one.duration_ms is not None]
    return structs.replace(
        own,
        ended=tuple(process for one in receipts for process in one.ended),
        left=tuple(process for one in receipts for process in one.left),
        duration_ms=max(times, default=None),
        note=stopped([one for _, one in outcomes]),
    )
