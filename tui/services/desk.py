"""The parts of a dashboard that its actions share, and the base of these actions."""

from typing import Any

from msgspec import Struct

from ...sessions.model import Session
from ...sessions.reader import SessionReader
from ..keys.key_queue import KeysInOrder
from ..keys.keymap import DEFAULT, Keymap
from ..messages import SessionAwaited
from .background import Requests
from .drafts import Drafts
from .write_access import WriteAccess


class Desk(Struct):
    """One for each dashboard."""

    app: KeysInOrder[Any]
    """Shows the dialogs, and holds the keys until they are there."""
    reader: SessionReader
    access: WriteAccess
    """Gives the manager, which changes sessions."""
    requests: Requests
    """Runs blocking calls, and shows messages."""
    drafts: Drafts
    """Unsent prompts."""
    keymap: Keymap = DEFAULT
    """The keys in force, to name them."""
    awaited: str | None = None
    """A session that was just started or restored; it is selected as soon as it is in the table."""

    def select(self, session: Session) -> None:
        """Have the table select a session; its row can be there already, or still to come."""
        self.awaited = session.id
        for screen in self.app.screen_stack:
            screen.post_message(SessionAwaited())


class Actions:
    """Actions of one kind: they ask the user, call the manager in a thread, and show a message.

    Errors never end the dashboard, and nothing here blocks the event loop.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._app = desk.app
        self._reader = desk.reader
        self._access = desk.access
        self._requests = desk.requests
