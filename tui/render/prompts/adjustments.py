"""A change of a session's settings as a line."""

from agentdash.sessions.model.adjustments import Adjustment
from agentdash.sessions.text.sanitize import one_line


def adjustment_line(adjustment: Adjustment) -> str:
    """Return a change and the moment from which it counts: ``mode plan: from the agent's next step on``."""
    return one_line(f"{adjustment.what} {adjustment.value}: {adjustment.effect}")
