"""Messages between the app and its screens."""

from textual.message import Message

from ..sessions.settings.config import Config


class SessionsChanged(Message, bubble=False):
    """Sessions changed; take what changed from the app's feed.

    It carries nothing, so that two of them are as good as one.
    """

    def can_replace(self, message: Message) -> bool:
        """One is enough, however many wait."""
        return isinstance(message, SessionsChanged)


class SettingsRead(Message):
    """The settings were read again: the app takes over what it can take over at once."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config


class SessionAsked(Message):
    """Something is to be done with the session of a pane."""

    def __init__(self, session_id: str) -> None:
        super().__init__()
        self.session_id = session_id


class SaveAsked(SessionAsked):
    """The session is to be saved as a file."""


class ChangesAsked(SessionAsked):
    """The files that the session changed are to be shown."""
