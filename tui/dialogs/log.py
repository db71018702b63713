"""The dialog with past messages, and the end of the dashboard's log file."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType

from agentdash.sessions.text.units import clock
from agentdash.tui.dialogs.dialog import Kind, ListDialog
from agentdash.tui.state.message_log import Entry
from agentdash.widgets.drawing.spans import Row, wrap

_LEAST = 20
"""Least cells of an entry's text."""

_ROLES = {"error": "failure", "warning": "attention"}


class LogScreen(ListDialog[None]):
    """Shows the entries, newest first, and below them the end of ``dashboard.log``."""

    KIND = Kind.TELLS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("L", "dismiss(None)", "close", show=False),
        Binding("y", "copy", "copy", show=False),
    ]

    def __init__(
        self,
        entries: Sequence[Entry],
        copy: Callable[[str, str], Awaitable[None]],
        crashes: Callable[[], Awaitable[list[str] | None]],
    ) -> None:
        """``copy`` takes a text and its name; ``crashes`` returns the end of the log file."""
        super().__init__("Messages", "j k move   y copy   Esc close", empty="No messages yet.")
        self._texts = [entry.text for entry in entries]
        self._rows = [partial(_entry, entry) for entry in entries]
        self._copy = copy
        self._crashes = crashes

    @work
    async def on_mount(self) -> None:
        """Show the entries, and read the log file."""
        self.show(self._rows)
        if lines := await self._crashes():
            self._texts.append("\n".join(lines))
            self.show([*self._rows, partial(_end, self._texts[-1], apart=bool(self._rows))], self.list.cursor)

    async def action_copy(self) -> None:
        """Copy the entry."""
        if self._texts:
            await self._copy(self._texts[self.list.cursor], "message")


def _entry(entry: Entry, width: int) -> list[Row]:
    """Return all lines of an entry, wrapped beside its time: what the message line cut can be read here."""
    at = f"{clock(entry.at)}  "
    role = _ROLES.get(entry.severity, "text")
    room = max(_LEAST, width - len(at))
    first, *more = [row for line in entry.text.split("\n") for row in wrap(line, room)]
    return [((at, "dim"), (first, role)), *(((" " * len(at), "dim"), (line, role)) for line in more)]


def _end(text: str, width: int, *, apart: bool) -> list[Row]:
    rows = [row for line in text.split("\n") for row in wrap(line, width)]
    lines: list[Row] = [(("end of dashboard.log", "strong"),), *(((row, "text"),) for row in rows)]
    return [(("─" * width, "rule"),), *lines] if apart else lines
