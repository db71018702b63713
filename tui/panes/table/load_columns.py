"""Measures the processes of sessions every few seconds, only while a column shows the result or the order uses it.

A column needs only the visible rows.  An order needs every session with processes: the busiest may be far below.
"""

from collections.abc import Collection

from textual.timer import Timer
from textual.widget import Widget

from agentdash.sessions.service.lifecycle.process_list import Loads
from agentdash.sessions.service.reader import SessionReader
from agentdash.tui.services.background import Requests
from agentdash.widgets.table.columns import LOADS
from agentdash.widgets.table.session_table import SessionTable

EVERY_SECONDS = 5.0
AGAIN_SECONDS = 1.0
"""Delay of the second measurement: processor time is known only between two, so it follows sooner."""


class LoadWatch:
    """Measures the sessions whose rows are on the screen, or all with processes if the order depends on their load."""

    def __init__(self, owner: Widget, table: SessionTable, reader: SessionReader, requests: Requests) -> None:
        self._owner = owner
        self._table = table
        self._requests = requests
        self._loads = Loads(reader.processes)
        self._timer: Timer | None = None
        self._sort = ""
        self._needed: Collection[str] = ()

    def watch(self, columns: Collection[str], sort: str = "") -> None:
        """Start measuring if one of the columns, or the order, needs it; else stop."""
        needed = LOADS & {*columns, sort}
        other, self._sort = self._sort != sort, sort
        if self._timer is not None and not needed:
            self._timer.stop()
            self._timer = None
        elif self._timer is None and needed:
            self._timer = self._owner.set_interval(EVERY_SECONDS, self._look)
        if needed and (other or needed != self._needed):
            self._look()
            self._owner.set_timer(AGAIN_SECONDS, self._look)
        self._needed = needed

    def _look(self) -> None:
        """Measure if the result is visible; no key waits for it."""
        shown = {column.heading for column in self._table.columns}
        if self._owner.screen.is_current and self._table.display and LOADS & {*shown, self._sort}:
            self._owner.run_worker(self._measure(), exclusive=True, group="loads")

    async def _measure(self) -> None:
        sessions = self._table.sessions if self._sort in LOADS else self._table.on_screen
        live = [session.id for session in sessions if session.has_process]
        loads = await self._requests.outcome_of(self._loads.look, live)
        if loads is not None:
            self._table.show_loads(loads)
