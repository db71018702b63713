"""The screen's division between the table and the steps: the user's shares, and one of the two on the whole screen."""

from typing import Any

from textual.screen import Screen
from textual.widget import Widget

from agentdash.tui.panes.table.table_pane import TablePane
from agentdash.tui.state.ui_state import LEAST_SHARE, MOST_SHARE, UiState

USUAL_SHARES = {"wide": 55, "tall": 40}
"""The table's percentage of the screen before the user changes it."""


class Split:
    """Divides a screen between its table and its steps.

    Args:
        screen: the screen; its class ``-wide`` means that there is room for both side by side.
    """

    def __init__(self, screen: Screen[Any], pane: TablePane, steps: Widget, ui_state: UiState) -> None:
        self._screen = screen
        self._pane = pane
        self._steps = steps
        self._ui_state = ui_state
        self._is_small = self._wants_both = False

    @property
    def _direction(self) -> str:
        """``wide`` if table and steps are side by side, ``tall`` if the table is above the steps."""
        return "wide" if self._screen.has_class("-wide") else "tall"

    def fit(self, *, alone: bool) -> None:
        """Divide a screen of another size; ``alone`` gives all of it to the table.

        A small screen shows table or steps, unless the user asked for both (:meth:`zoom`): each would have too few
        lines to work with.
        """
        self._is_small = self._screen.has_class("-medium") and self._screen.has_class("-low")
        self._screen.set_class(alone or (self._is_small and not self._wants_both), "-alone")
        self.apply()

    def apply(self) -> None:
        """Give table and steps the shares of the screen that the user chose, if both fit."""
        share, beside = self._ui_state.now.shares.get(self._direction), self._direction == "wide"
        for style, cells in ((self._pane.styles, share), (self._steps.styles, 100 - (share or 0))):
            style.width = f"{cells}fr" if share and beside else None
            style.height = f"{cells}fr" if share and not beside and not self._screen.has_class("-reading") else None

    def enlarge(self, by: int) -> None:
        """Give the table ``by`` percent more of the screen; less if ``by`` is negative."""
        shares, direction = self._ui_state.now.shares, self._direction
        share = shares.get(direction, USUAL_SHARES[direction]) + by
        self._ui_state.set(shares=shares | {direction: max(LEAST_SHARE, min(MOST_SHARE, share))})
        self.apply()
        self._pane.remember()

    def zoom(self) -> None:
        """Give the whole screen to the focused pane, or show both panes again."""
        if self._is_small:
            self._wants_both = not self._wants_both
            self._screen.set_class(not self._wants_both, "-alone")
            self._screen.set_class(not self._wants_both and not self._pane.has_focus_within, "-detail")
            return
        zoomed = self._screen.has_class("-zoomed")
        self._screen.set_class(not zoomed, "-zoomed")
        self._screen.set_class(not zoomed and not self._pane.has_focus_within, "-detail")
