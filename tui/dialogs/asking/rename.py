"""The dialog that renames a session."""

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from agentdash.sessions.text.sanitize import one_line
from agentdash.widgets.inputs.history import HistoryInput


class RenameScreen(ModalScreen[None]):
    """Asks for a title; stays open with the reason if the session cannot have it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "close", show=False)]

    def __init__(self, title: str, rename: Callable[[str], Awaitable[str | None]]) -> None:
        """``rename`` takes the new title; returns None, or the reason why the title was refused."""
        super().__init__()
        self._title = one_line(title)
        self._rename = rename

    def compose(self) -> ComposeResult:
        """Yield the title, and the error in it."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content("Rename")
            yield HistoryInput(self._title, placeholder="automatic title", id="rename-title")
            yield Static("", id="rename-error", markup=False)
            yield Static("Enter rename   empty = automatic title   Esc close", classes="keys")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        self._try(event.value)

    @work(exclusive=True)
    async def _try(self, title: str) -> None:
        reason = await self._rename(title)
        if reason is None:
            self.dismiss(None)
        else:
            self.query_one("#rename-error", Static).update(reason)
