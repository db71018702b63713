"""The acts on the conversation of a session."""

from .forking import Forker
from .rewinding import Rewinder


class SessionConversations(Rewinder, Forker):
    """Rewinds and forks the conversations of sessions."""
