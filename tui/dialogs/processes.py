"""The processes of one session, read again every two seconds while the dialog is open."""

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from ...sessions.lifecycle.process_list import ProcessInfo
from ...widgets.drawing.middle_lines import MiddleLines
from ..render.sessions.processes import processes_text
from ..render.style import Style

LOOK_SECONDS = 2.0


class ProcessesScreen(ModalScreen[None]):
    """A tree of processes with processor time, memory and ports; no process is read while it is closed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,q,p", "dismiss(None)", "close", show=False)]

    def __init__(self, title: str, read: Callable[[], Awaitable[list[ProcessInfo] | None]]) -> None:
        super().__init__()
        self._title = title
        self._read = read
        self._processes: list[ProcessInfo] | None = None
        self._lines = MiddleLines()

    def compose(self) -> ComposeResult:
        """Yield the tree."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = f'Processes of "{self._title}"'.replace("[", "\\[")
            with VerticalScroll():
                yield self._lines
            yield Static("Esc close", classes="keys")

    def on_mount(self) -> None:
        """Read the processes now, and every ``LOOK_SECONDS``."""
        self._refresh_lines()
        self.set_interval(LOOK_SECONDS, self._refresh_lines)

    @work(exclusive=True)
    async def _refresh_lines(self) -> None:
        processes = await self._read()
        if processes is not None:
            self._processes = processes
            self._show()

    def on_resize(self) -> None:
        """Fit the commands into the new width."""
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        if self._processes is not None and self._lines.size.width:
            self._lines.show(list(processes_text(self._processes, Style(width=self._lines.size.width))))
