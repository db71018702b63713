"""A change of a session's settings as a line."""

from ....sessions.text.sanitize import one_line
from ....sessions.values.adjustments import Adjustment


def adjustment_line(adjustment: Adjustment) -> str:
    """Return a change and the moment from which it counts: ``mode plan: from the agent's next step on``."""
    return one_line(f"{adjustment.what} {adjustment.value}: {adjustment.effect}")
