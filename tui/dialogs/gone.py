"""The dialog that opens when another program puts away the session that the user reads or writes to."""

import asyncio
from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from agentdash.sessions.model.errors import AgentdashError, Remedy
from agentdash.sessions.model.session import Session
from agentdash.tui.dialogs.dialog import Dialog
from agentdash.tui.texts import screen_texts as texts


class GoneScreen(Dialog[None], inherit_bindings=False):
    """Says where the session is.  Keys that were typed for it do nothing here, so that they change no other session.

    Args:
        session: the session as it was last.
        drafted: True if the user wrote a prompt for it, which is kept.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "close", show=False)]

    def __init__(self, session: Session, find: Callable[[str], Session], *, drafted: bool) -> None:
        super().__init__(f'Gone: "{texts.title(session)}"', "Esc close")
        self._session = session
        self._find = find
        self._drafted = drafted
        self._where = Static("", markup=False)

    def body(self) -> Iterable[Widget]:
        """Yield the place of the session."""
        yield self._where
        if self._drafted:
            yield Static("The prompt that you were writing is kept with it.", markup=False)

    @work
    async def on_mount(self) -> None:
        """Find the session."""
        self._where.update(await asyncio.to_thread(self._place))

    def _place(self) -> str:
        short = self._session.short_id
        try:
            there = self._find(self._session.id)
        except AgentdashError as error:
            if error.remedy is Remedy.RESTORE:
                return f"Another program moved it to the trash. To restore it: agentdash restore {short}"
            return "Another program deleted it."
        if there.archived_at is not None:
            return f"Another program archived it. To restore it: agentdash restore {short}"
        return "It is there again."
