"""Fit a dialog round after round until its sizes stay: it is drawn once, with everything in its place."""

from collections.abc import Callable

from textual.widget import Widget

ROUNDS = 10
"""Most layouts before a dialog is drawn."""


class Settling:
    """The rounds of one dialog, which is out of sight until they are over.

    Args:
        fit: fits its parts into the sizes that are known now.
        fitted: called once when the sizes stay, before the last layout.
        drawn: brings the dialog into sight.
    """

    def __init__(
        self, dialog: Widget, fit: Callable[[], object], fitted: Callable[[], object], drawn: Callable[[], object]
    ) -> None:
        self._dialog = dialog
        self._fit, self._fitted, self._drawn = fit, fitted, drawn
        self._number = 0
        """Number of the content; rounds for an earlier one are over."""
        self._running = False
        self.is_drawn = False
        """True if the present content is in sight."""

    def restart(self) -> None:
        """Begin again for another content."""
        self._number += 1
        self._running = self.is_drawn = False
        self.begin()

    def begin(self) -> None:
        """Begin, unless that was done; before the first layout there is nothing to fit."""
        if self._dialog.size and not self._running and not self.is_drawn:
            self._running = True
            self._dialog.call_after_refresh(self._round, self._number, ROUNDS)

    def _round(self, number: int, rounds: int, former: object = None) -> None:
        if number != self._number:
            return
        self._fit()
        shape = [(widget.size, widget.virtual_size) for widget in self._dialog.walk_children(Widget)]
        if rounds and shape != former:
            self._dialog.call_after_refresh(self._round, number, rounds - 1, shape)
        else:
            self._fitted()
            self._dialog.call_after_refresh(self._end, number)

    def _end(self, number: int) -> None:
        if number == self._number:
            self._running, self.is_drawn = False, True
            self._drawn()
