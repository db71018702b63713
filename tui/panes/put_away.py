"""The archived and deleted sessions in the table: read while its view asks for them, and taken out after that."""

from collections.abc import Callable, Sequence
from functools import partial

from textual import work
from textual.widget import Widget

from ...sessions.model import Changes, Session
from ...sessions.reader import SessionReader
from ...widgets.table.session_table import SessionTable
from ..services.background import Requests


class PutAway(Widget):
    """Keeps the table supplied with them; the change feed has only the sessions in use.

    Args:
        table: where they are shown.
        reader: knows them.
        requests: reads in a thread.
        arrived: called after what was read is in the table.
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
        """Whether the first of them are still being read."""
        self.ids: frozenset[str] = frozenset()
        """Those in the table."""
        self.counts: tuple[int, int] | None = None
        """The numbers of archived and deleted ones when :meth:`count` last looked; None before that."""

    def want(self, wanted: frozenset[str]) -> None:
        """Show ``archived`` or ``deleted`` sessions, both, or none of them."""
        if wanted and wanted == self._wanted and (self.ids or self.reading):
            return  # ``changed`` keeps them up to date
        self._wanted = wanted
        self.reading = bool(wanted) and not self.ids
        if wanted:
            self._read(wanted)
        elif self.ids:
            self._show(())

    def changed(self, changes: Changes) -> None:
        """Read again if sessions were put away or came back."""
        if self._wanted and (changes.removed or any(session.id in self.ids for session in changes.updated)):
            self._read(self._wanted)

    @work(exclusive=True, group="count")
    async def count(self) -> None:
        """Count them, for a table that has nothing else to show."""
        found = await self._requests.ask(self._reader.count_put_away) or (0, 0)
        if found != self.counts:
            self.counts = found
            self._arrived()

    @work(exclusive=True, group="away")
    async def _read(self, wanted: frozenset[str]) -> None:
        read = partial(self._reader.put_away, archived="archived" in wanted, deleted="deleted" in wanted)
        found = await self._requests.ask(read)
        if wanted == self._wanted:
            self.reading = False
            self._show(found or ())
            self._arrived()

    def _show(self, found: Sequence[Session]) -> None:
        before, self.ids = self.ids, frozenset(session.id for session in found)
        gone = [key for key in before - self.ids if (one := self._table.session(key)) is not None and one.put_away]
        if found or gone:
            self._table.update_rows(found, gone)
