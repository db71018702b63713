"""The queue of a session in words."""

from ...model import Session
from ...text.sanitize import one_line


def queue_state(session: Session) -> str:
    """Return the number of prompts that wait, and what they wait for."""
    unconfirmed = f", {session.unconfirmed} unconfirmed" if session.unconfirmed else ""
    if session.held:
        return f"{session.queued} queued{unconfirmed}, held: {one_line(session.held)}"
    return f"{session.queued} queued{unconfirmed}" + (f", after turn {session.turn}" if session.queued else "")
