"""What the processes of the visible sessions cost, every few seconds, only while a column shows it."""

from collections.abc import Collection

from textual.timer import Timer
from textual.widget import Widget

from ..sessions.loads import Loads
from ..sessions.manager import SessionManager
from ..widgets.columns import LOADS
from ..widgets.session_table import SessionTable
from .requests import Requests

EVERY_SECONDS = 5.0


class LoadWatch:
    """Looks at the sessions whose rows are on the screen; the others cost nothing.

    Args:
        owner: lives as long as the timer may.
        table: the rows.
        manager: knows the processes.
        requests: looks in a thread.
    """

    def __init__(self, owner: Widget, table: SessionTable, manager: SessionManager, requests: Requests) -> None:
        self._owner = owner
        self._table = table
        self._requests = requests
        self._loads = Loads(manager.processes)
        self._timer: Timer | None = None

    def watch(self, columns: Collection[str]) -> None:
        """Look from now on, if any column needs it; else no more."""
        if self._timer is not None and not columns:
            self._timer.stop()
            self._timer = None
        elif self._timer is None and columns:
            self._timer = self._owner.set_interval(EVERY_SECONDS, self._look)
            self._look()

    def _look(self) -> None:
        """Look, where anybody would see it; no key waits for that."""
        shown = {column.heading for column in self._table.columns}
        if self._owner.screen.is_current and self._table.display and LOADS & shown:
            self._owner.run_worker(self._measure(), exclusive=True, group="loads")

    async def _measure(self) -> None:
        live = [session.id for session in self._table.on_screen if not session.status.ended or session.left]
        found = await self._requests.outcome_of(self._loads.look, live)
        if found is not None:
            self._table.show_loads(found)
