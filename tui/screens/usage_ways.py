"""The ways between the table of sessions and the screen of usage."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.app import App

from agentdash.sessions.service.reader import SessionReader
from agentdash.tui.keys.keymap import Keymap
from agentdash.tui.panes.table.table_pane import TablePane
from agentdash.tui.services.background import Requests

if TYPE_CHECKING:
    from agentdash.tui.screens.usage import ChosenUsage
    from agentdash.tui.screens.usage_figures import UsageView


class UsageWays:
    """Opens the screen of usage as it was left, and shows in the table the sessions that are chosen there.

    Args:
        clock: returns the time in UTC ms.
    """

    def __init__(
        self, app: App[Any], reader: SessionReader, requests: Requests, pane: TablePane, clock: Callable[[], int]
    ) -> None:
        self._app = app
        self._reader = reader
        self._requests = requests
        self._pane = pane
        self._clock = clock
        self._view: UsageView | None = None

    def open(self, keymap: Keymap, then: Callable[[], object]) -> None:
        """Open the screen; ``then`` is called after the chosen sessions are in the table."""
        from agentdash.tui.screens.usage import UsageScreen  # loaded when it is opened
        from agentdash.tui.screens.usage_figures import UsageView

        view = self._view or UsageView()
        screen = UsageScreen(self._reader, self._requests, view, clock=self._clock, keymap=keymap)

        def closed(chosen: "ChosenUsage | None") -> None:
            self._view = screen.view
            if chosen is not None:
                self._pane.show_chosen(chosen.named, frozenset(chosen.sessions))
                then()

        self._app.push_screen(screen, closed)
