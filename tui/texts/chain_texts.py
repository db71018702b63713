"""The texts about sessions that wait for the end of another one."""

from agentdash.sessions.model.session import Session
from agentdash.tui.texts import screen_texts as texts

AFTER = "at once; or the id of a session to wait for"
"""The empty field of the new-session dialog."""


def started(session: Session) -> str:
    """Return the message after a session was started without waiting."""
    return f'Started "{texts.title(session)}".'


def question(session: Session) -> str:
    """Return the heading of the list of sessions for which one can wait."""
    return f'"{texts.title(session)}" waits for'


def offer(session: Session) -> str:
    """Return a session of that list: its state, its id and its title."""
    return f"{session.status:<8} {session.short_id}  {texts.title(session)}"


NO_OTHER = "There is no other session to wait for."


def waits(session: Session, other: Session) -> str:
    """Return the message after a session was made to wait for another one."""
    if session.after is None:
        return f'Started "{texts.title(session)}": "{texts.title(other)}" is done.'
    return f'"{texts.title(session)}" waits for "{texts.title(other)}".'
