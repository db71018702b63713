"""The desk: the parts of a dashboard with which every action of the user works."""

from typing import Any

from msgspec import Struct

from agentdash.sessions.model.session import Session
from agentdash.sessions.service.reader import SessionReader
from agentdash.tui.keys.key_queue import KeysInOrder
from agentdash.tui.keys.keymap import DEFAULT, Keymap
from agentdash.tui.messages import SessionAwaited
from agentdash.tui.services.background import Requests
from agentdash.tui.services.drafts import Drafts
from agentdash.tui.services.write_access import WriteAccess


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
        self.desk = desk
        self._app = desk.app
        self._reader = desk.reader
        self._access = desk.access
        self._requests = desk.requests
