"""The desk: the parts of a dashboard with which every action of the user works, and the access to the manager."""

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import Session
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.service.reader import SessionReader
from agentdash.tui.keys.key_queue import KeysInOrder
from agentdash.tui.keys.keymap import DEFAULT, Keymap
from agentdash.tui.messages import SessionAwaited
from agentdash.tui.services.background import Requests
from agentdash.tui.services.drafts import Drafts


class WriteAccess:
    """The only holder of the manager in a dashboard: every change of a session gets it here.

    All other code has a :class:`...sessions.service.reader.SessionReader`, which cannot change anything.

    Args:
        manager: None makes the dashboard read-only.
    """

    def __init__(self, manager: SessionManager | None) -> None:
        self._manager = manager

    @property
    def read_only(self) -> bool:
        """True if every change is refused."""
        return self._manager is None

    def manager(self, verb: str) -> SessionManager:
        """Return the manager for one change; the error names its ``verb``.

        Raises:
            UsageError: the dashboard is read-only.
        """
        if self._manager is None:
            raise UsageError(f"The dashboard is read-only: no {verb}.")
        return self._manager


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
    hiding: Callable[[Session], str] = lambda _: ""
    """Returns the filter that hides a session in the table, in words; empty if none does."""
    show_all: Callable[[], object] = lambda: None
    """Drops the filters of the table."""

    did: Callable[[str], object] = lambda _: None
    """Takes the id of an action that the user has done, not of one that was only begun: for a tour."""
    began_last: str | None = None
    """The session that was started last here."""

    def began(self, session: Session, say: Callable[[str], str]) -> None:
        """Have the table select a session that was just started, and show the message that ``say`` returns.

        ``say`` gets the filter that hides the session: Esc then drops it, and selects the session.
        """
        self.began_last = session.id
        self.did("new_session")
        self.select(session)
        hidden = self.hiding(session)
        self.requests.show_message(say(hidden), partial(self._uncover, session) if hidden else None)

    def _uncover(self, session: Session) -> None:
        self.show_all()
        self.select(session)

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
