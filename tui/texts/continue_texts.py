"""The texts about conversations that are continued in a new session."""

from agentdash.sessions.model.session import Session
from agentdash.sessions.text.sanitize import one_line


def lost(key: str) -> str:
    """Return the way on after the agent did not find its conversation."""
    return f"conversation not found: {key} to continue it in a new session"


def dialog_title(session: Session) -> str:
    """Return the title of the dialog that continues a session."""
    return f'Continue "{one_line(session.label, 50)}"'
