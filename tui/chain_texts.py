"""The texts about sessions that wait for the end of another one."""

from ..sessions.model import Session
from . import texts

AFTER = "at once; or the id of a session to wait for"
"""The empty field of the new-session dialog."""


def started(session: Session) -> str:
    """Return the message after a session was started without waiting."""
    return f'Started "{texts.title(session)}".'
