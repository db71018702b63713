"""Messages between the app and its screens."""

from collections.abc import Sequence

from textual.message import Message

from agentdash.sessions.model.session import Session
from agentdash.sessions.settings.config import Config


class SessionsChanged(Message, bubble=False):
    """Sessions changed; take the changes from the app's feed.

    It has no content, so that two of these messages are equivalent to one.
    """

    def can_replace(self, message: Message) -> bool:
        """Return True for another message of this type: one is enough."""
        return isinstance(message, SessionsChanged)


class SelectionChanged(Message, bubble=False):
    """Another session may be selected in the table that the screen follows."""


class SessionAwaited(Message, bubble=False):
    """A session was started or restored here: select it, at once or when the change feed has brought its row."""


class SettingsRead(Message):
    """The settings were read again; the app applies those that can change while it runs."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config


class SessionAsked(Message):
    """The user requests an action on the session of a pane."""

    def __init__(self, session_id: str) -> None:
        super().__init__()
        self.session_id = session_id


class SaveAsked(SessionAsked):
    """The user requests to save the session as a file."""


class ChangesAsked(SessionAsked):
    """The user requests to see the files that the session changed."""


class ConversationAsked(SessionAsked):
    """The user requests to fork the conversation, to go back in it, to take that back, or to compact it.

    ``verb`` is ``fork``, ``rewind``, ``undo`` or ``compact``.
    """

    def __init__(self, session_id: str, verb: str) -> None:
        super().__init__(session_id)
        self.verb = verb


class WorkersAsked(SessionAsked):
    """The user requests to read a worker that a step of the session started.

    ``step`` is the turn and the index of that step.
    """

    def __init__(self, session_id: str, step: tuple[int, int], workers: Sequence[Session]) -> None:
        super().__init__(session_id)
        self.step = step
        self.workers = workers


class OtherSessionAsked(SessionAsked):
    """The user requests to read another session, at a step if one is known."""

    def __init__(self, session_id: str, step: tuple[int, int] | None = None) -> None:
        super().__init__(session_id)
        self.step = step
