"""One receipt for a lead and all sessions below it that were stopped with it."""

from collections.abc import Sequence

from msgspec import structs

from .....sessions.errors import AgentdashError
from .....sessions.lifecycle.stop_family import merged
from .....sessions.model import Receipt, Session, Status
from ..bulk_actions import stopped


def one_receipt(lead: Session, outcomes: Sequence[tuple[Session, Receipt | AgentdashError]]) -> Receipt:
    """Return the lead's receipt with the processes of all; its note has the number of sessions, and each failure."""
    receipts = {one.session: one for _, one in outcomes if isinstance(one, Receipt)}
    own = receipts.pop(lead.id, None) or Receipt(session=lead.id, status=Status.STOPPED)
    return structs.replace(merged(own, list(receipts.values())), note=stopped([one for _, one in outcomes]))
