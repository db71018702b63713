"""The ways from the first screen and back: between a lead and its workers, and to the screen of usage."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from textual.app import App

from agentdash.sessions.model.session import Session
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.transcript.worker_steps import step_that_started
from agentdash.tui.keys.keymap import Keymap
from agentdash.tui.panes.table.table_pane import TablePane
from agentdash.tui.services.background import Requests
from agentdash.tui.texts import family_texts

if TYPE_CHECKING:
    from agentdash.tui.screens.usage import ChosenUsage
    from agentdash.tui.screens.usage_figures import UsageView


Place = tuple[int, int]
"""The turn and the index of a step."""

MOST = 50
"""Most ways back that are kept."""


class FamilyWays:
    """Remembers from which steps the user opened workers.

    Args:
        show: shows the steps of a session, at a step if one is given; returns False if it cannot.
    """

    def __init__(
        self, app: App[Any], reader: SessionReader, requests: Requests, show: Callable[[str, Place | None], bool]
    ) -> None:
        self._app = app
        self._reader = reader
        self._requests = requests
        self._show = show
        self._taken: list[tuple[str, Place, str]] = []
        """The lead, its step, and the worker that was opened from it."""

    async def down(self, lead: str, step: Place, workers: Sequence[Session]) -> None:
        """Open the worker that a step started; of several, the one that the user chooses."""
        number: int | None = 0
        if len(workers) > 1:
            from agentdash.tui.dialogs.table.pick import PickScreen

            offers = [(str(row + 1), family_texts.choose_worker(one)) for row, one in enumerate(workers[:9])]
            number = await self._app.push_screen_wait(PickScreen("Open a worker", offers))
        if number is not None and self._show(workers[number].id, None):
            self._taken = [*self._taken[1 - MOST :], (lead, step, workers[number].id)]

    def back(self, current: str | None) -> bool:
        """Return to the lead's step from which the current session was opened; False if it was not opened so."""
        if not self._taken or self._taken[-1][2] != current:
            return False
        lead, step, _ = self._taken.pop()
        return self._show(lead, step)

    async def up(self, worker: Session) -> bool:
        """Go to the step of its lead that started a worker, to the lead's end if no step did; False if it cannot."""
        if worker.parent is None:
            self._requests.show_refusal(family_texts.NO_LEAD)
            return False
        lead = worker.parent
        found = await self._requests.ask(lambda: (step_that_started(self._reader.steps.each_step(lead), worker),))
        if found is None:
            return False
        step = found[0]
        shown = self._show(lead, (step.turn, step.index) if step is not None else None)
        if shown and step is None:
            self._requests.show_message(family_texts.NO_STEP)
        return shown

    def moved(self, current: str | None) -> None:
        """Forget the ways that do not lead to the session that the user selected."""
        while self._taken and current not in (self._taken[-1][0], self._taken[-1][2]):
            self._taken.pop()


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
