"""The main screen of a demo: a checklist above the footer shows a new user what to try."""

from collections.abc import Mapping

from textual import on
from textual.app import ComposeResult

from agentdash.sessions.model.session import Session, StoppedBy
from agentdash.tui.messages import SessionsChanged
from agentdash.tui.panes.checklist import HELP, MOVE, NEW, READ, REPLY, STOP, Checklist
from agentdash.tui.screens.main import MainScreen
from agentdash.widgets.table.session_table import SessionTable


class TourScreen(MainScreen):
    """Ticks an item when the user has done it, not when the user has only pressed its key, or an agent did it."""

    quitting = "its sessions end"
    checklist: Checklist
    _first: Mapping[str, Session] | None = None
    """The sessions at the beginning, by id."""
    _at: str | None = None
    """The session under the cursor."""

    def compose(self) -> ComposeResult:
        """Yield the widgets of the main screen, with the checklist above the footer."""
        self.checklist = Checklist(self._tour, self.keymap)
        for widget in super().compose():
            if widget is self.foot:
                yield self.checklist
            yield widget

    def on_mount(self) -> None:
        """Compare the sessions with those of the beginning."""
        self.call_later(self._compare)

    @on(SessionsChanged)
    def _compare_later(self) -> None:
        self.call_later(self._compare)  # the main screen has not taken the changes yet

    def keys_changed(self) -> None:
        """Show the new keys of the keymap."""
        super().keys_changed()
        self.checklist.use_keys(self.keymap)

    def _compare(self) -> None:
        now = {session.id: session for session in self._tally.sessions}
        if not now:
            return
        first = self._first = now if self._first is None else self._first
        own = {session.id: session for session in now.values() if session.parent is None}
        if own.keys() - first.keys():
            self.checklist.tick(NEW)
        if any(_stopped(session) and not _stopped(first.get(session.id)) for session in now.values()):
            self.checklist.tick(STOP)
        if any(
            session.turn > _turn(first.get(session.id)) for session in own.values() if session.id not in _leads(now)
        ):
            self.checklist.tick(REPLY)

    @on(SessionTable.Highlighted)
    def _moved(self, event: SessionTable.Highlighted) -> None:
        # A new session is selected without a key.
        if event.session_id != self._at and self._at is not None and event.session_id in (self._first or {}):
            self.checklist.tick(MOVE)
        self._at = event.session_id

    def go_to_steps(self) -> None:
        """Give the keys to the steps of the current session."""
        super().go_to_steps()
        self.checklist.tick(READ)

    def action_help(self) -> None:
        """Show all keys."""
        super().action_help()
        self.checklist.tick(HELP)


def _leads(sessions: Mapping[str, Session]) -> set[str]:
    """Return the sessions that others were started from: they are woken without the user."""
    return {session.parent for session in sessions.values() if session.parent is not None}


def _turn(session: Session | None) -> int:
    """Return the turn of a session at the beginning; 1 for a session that was started since."""
    return session.turn if session is not None else 1


def _stopped(session: Session | None) -> bool:
    return session is not None and session.stopped_by is StoppedBy.YOU
