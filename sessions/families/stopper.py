"""The text that is recorded for a stop: the user, or the agent that leads the session, and the reason given."""

from ..storage.store import Store
from ..text.sanitize import one_line
from ..values.stops import StoppedBy
from .caller import Caller

REASON_CELLS = 200
"""Longest reason of a stop, on one line."""

_OTHER = "another session"
"""Recorded for a session that stops one that it does not lead (``orchestration.reach = "all"``)."""


def stopper(caller: Caller, store: Store, session_id: str, reason: str = "") -> str:
    """Return the text to record for a stop of a session; the reason may have any shape."""
    given = one_line(reason, REASON_CELLS).strip()
    if caller.session is None:
        by: str = StoppedBy.YOU if caller.acts_for_user else StoppedBy.LEAD
    elif caller.session == session_id:
        by = StoppedBy.YOU
    else:
        by = StoppedBy.LEAD if store.families.is_below(session_id, caller.session) else _OTHER
    return f"{by}: {given}" if given else by
