"""The processes of one session, read again every two seconds while the dialog is open."""

from collections.abc import Awaitable, Callable, Iterable
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget

from agentdash.sessions.service.lifecycle.process_list import ProcessInfo
from agentdash.tui.dialogs.dialog import Dialog
from agentdash.tui.render.sessions.cards import processes_text
from agentdash.tui.render.style import Style
from agentdash.widgets.drawing.text_lines import MiddleLines

LOOK_SECONDS = 2.0


class ProcessesScreen(Dialog[None]):
    """A tree of processes with processor time, memory and ports; no process is read while it is closed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("p", "dismiss(None)", "close", show=False)]

    def __init__(self, title: str, read: Callable[[], Awaitable[list[ProcessInfo] | None]]) -> None:
        super().__init__(f'Processes of "{title}"', "Esc close")
        self._read = read
        self._processes: list[ProcessInfo] | None = None
        self._lines = MiddleLines()

    def body(self) -> Iterable[Widget]:
        """Return the tree."""
        return [VerticalScroll(self._lines)]

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
