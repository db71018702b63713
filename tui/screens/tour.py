"""The main screen of a demo: a checklist above the footer shows a new user what to try."""

from textual import on
from textual.app import ComposeResult

from agentdash.tui.panes.checklist import HELP, MOVE, READ, Checklist
from agentdash.tui.screens.main import MainScreen
from agentdash.widgets.table.session_table import SessionTable


class TourScreen(MainScreen):
    """Ticks an item when the user has done it, not when the user has only pressed its key, or an agent did it."""

    quitting = "its sessions end"
    checklist: Checklist
    _at: str | None = None
    """The session under the cursor."""

    def compose(self) -> ComposeResult:
        """Yield the widgets of the main screen, with the checklist above the footer."""
        self.checklist = Checklist(self._tour, self.keymap)
        self.operations.desk.did = self.checklist.tick
        for widget in super().compose():
            if widget is self.foot:
                yield self.checklist
            yield widget

    def keys_changed(self) -> None:
        """Show the new keys of the keymap."""
        super().keys_changed()
        self.checklist.use_keys(self.keymap)

    @on(SessionTable.Highlighted)
    def _moved(self, event: SessionTable.Highlighted) -> None:
        # A session that was just started is selected without a key.
        if self._at is not None and event.session_id not in (self._at, self.operations.desk.began_last):
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
