"""The dialog with past messages, and the end of the dashboard's log file."""

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ...sessions.text.units import clock
from ..state.message_log import Entry

_STYLES = {"error": "$text-error", "warning": "$text-warning"}


class LogScreen(ModalScreen[None]):
    """Shows the entries, newest first, and below them the end of ``dashboard.log``."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,L", "dismiss(None)", "close", show=False),
        Binding("j", "move('down')", "down", show=False),
        Binding("k", "move('up')", "up", show=False),
        Binding("y", "copy", "copy", show=False),
    ]

    def __init__(
        self,
        entries: Sequence[Entry],
        copy: Callable[[str, str], Awaitable[None]],
        crashes: Callable[[], Awaitable[list[str] | None]],
    ) -> None:
        """``copy`` takes a text and its name; ``crashes`` returns the end of the log file."""
        super().__init__()
        self._texts = [entry.text for entry in entries]
        self._list = OptionList(*(Option(_line(entry)) for entry in entries))
        self._copy = copy
        self._crashes = crashes

    def compose(self) -> ComposeResult:
        """Yield the entries and the keys."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Messages"
            yield self._list
            if not self._texts:
                yield Static("No messages yet.", id="log-empty")
            yield Static("j k move   y copy   Esc close", classes="keys")

    def on_mount(self) -> None:
        """Start to read the log file."""
        self._list.highlighted = 0 if self._texts else None
        self._read_crashes()

    @work
    async def _read_crashes(self) -> None:
        lines = await self._crashes()
        if lines:
            if self._texts:
                self._list.add_option(None)
            self._texts.append("\n".join(lines))
            self._list.add_option(Option(Content.assemble(("end of dashboard.log", "bold"), "\n", self._texts[-1])))

    def action_move(self, where: str) -> None:
        """Move the cursor ``down`` or up by one entry."""
        if where == "down":
            self._list.action_cursor_down()
        else:
            self._list.action_cursor_up()

    async def action_copy(self) -> None:
        """Copy the entry."""
        if self._list.highlighted is not None:
            await self._copy(self._texts[self._list.highlighted], "message")


def _line(entry: Entry) -> Content:
    return Content.assemble((clock(entry.at), "dim"), "  ", (entry.text, _STYLES.get(entry.severity, "")))
