"""Messages that the app sends to its screens."""

from textual.message import Message


class SessionsChanged(Message, bubble=False):
    """Sessions changed; take what changed from the app's feed.

    It carries nothing, so that two of them are as good as one.
    """

    def can_replace(self, message: Message) -> bool:
        """One is enough, however many wait."""
        return isinstance(message, SessionsChanged)
