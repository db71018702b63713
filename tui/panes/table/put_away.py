"""The archived and deleted sessions in the table: read while its view asks for them, and removed afterwards."""

from collections.abc import Callable, Sequence
from functools import partial

from textual import work
from textual.widget import Widget

from agentdash.sessions.model.session import Changes, Session
from agentdash.sessions.service.reader import SessionReader
from agentdash.tui.services.background import Requests
from agentdash.widgets.table.session_table import SessionTable


class PutAway(Widget):
    """Supplies the table with archived and deleted sessions; the change feed has only those in use.

    Args:
        arrived: called after the sessions that were read are in the table.
    """

    DEFAULT_CSS = "PutAway { display: none; }"

    def __init__(
        self, table: SessionTable, reader: SessionReader, requests: Requests, arrived: Callable[[], object]
    ) -> None:
        super().__init__()
        self._table = table
        self._reader = reader
        self._requests = requests
        self._arrived = arrived
        self._wanted: frozenset[str] = frozenset()
        self.reading = False
        """True while the first of them are being read."""
        self.ids: frozenset[str] = frozenset()
        """Ids of those in the table."""
        self.counts: tuple[int, int] | None = None
        """The numbers of archived and deleted sessions at the last :meth:`count`; None before it."""

    def want(self, wanted: frozenset[str]) -> None:
        """Show the sessions named by ``wanted``: ``archived``, ``deleted``, both or neither."""
        if wanted and wanted == self._wanted and (self.ids or self.reading):
            return  # ``changed`` keeps them up to date
        self._wanted = wanted
        self.reading = bool(wanted) and not self.ids
        if wanted:
            self._read(wanted)
        elif self.ids:
            self._show(())

    def changed(self, changes: Changes) -> None:
        """Read again if sessions were put away or restored."""
        if self._wanted and (changes.removed or any(session.id in self.ids for session in changes.updated)):
            self._read(self._wanted)

    @work(exclusive=True, group="count")
    async def count(self) -> None:
        """Count them, for a table with no other content."""
        counts = await self._requests.ask(self._reader.count_put_away) or (0, 0)
        if counts != self.counts:
            self.counts = counts
            self._arrived()

    @work(exclusive=True, group="away")
    async def _read(self, wanted: frozenset[str]) -> None:
        read = partial(self._reader.put_away, archived="archived" in wanted, deleted="deleted" in wanted)
        sessions = await self._requests.ask(read)
        if wanted == self._wanted:
            self.reading = False
            self._show(sessions or ())
            self._arrived()

    def _show(self, sessions: Sequence[Session]) -> None:
        before, self.ids = self.ids, frozenset(session.id for session in sessions)
        gone = [key for key in before - self.ids if (one := self._table.session(key)) is not None and one.put_away]
        if sessions or gone:
            self._table.update_rows(sessions, gone)
