"""The progress of a stop: the signal that was sent, the time until the next one, and finally the receipt."""

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.session import Receipt
from agentdash.sessions.rules.launch import Ladder
from agentdash.sessions.text import units
from agentdash.sessions.text.sanitize import one_line, pad
from agentdash.tui.dialogs.dialog import Frame, KeyLine, Kind
from agentdash.tui.texts.family_texts import stopping
from agentdash.widgets.drawing.short_forms import command
from agentdash.widgets.drawing.text_lines import CommandLine, Line, MiddleLines

TICK_SECONDS = 0.25


class StoppingScreen(ModalScreen[None]):
    """Counts down to the next signal, or names the signals if workers are stopped too, then shows what was ended.

    Closing it neither cancels nor speeds up the stop: the runner carries it out.
    """

    DECIDING: ClassVar[frozenset[str]] = frozenset({"X"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q", "dismiss(None)", "close", show=False),
        Binding("X", "hurry", "kill now", show=False),
    ]

    def __init__(
        self, title: str, ladder: Ladder, hurry: Callable[[], Awaitable[object]], *, workers: int = 0, done: str = ""
    ) -> None:
        """``done`` is the heading of the receipt: what was stopped."""
        super().__init__()
        self._done = done or f'Stopped "{title}"'
        self._workers = workers
        self._title = title
        self._ladder = ladder
        self._hurry = hurry
        self._began = monotonic()
        self._receipt: Receipt | None = None
        self._dialog = Frame(Kind.ENDS)
        self._countdown = Line()
        self._summary = Static("", markup=False)
        self._lines = MiddleLines()
        self._keys = KeyLine("X kill now   Esc close (keeps stopping)")

    def compose(self) -> ComposeResult:
        """Yield the countdown, which the receipt replaces."""
        with self._dialog:
            yield self._countdown
            yield self._summary
            with VerticalScroll(can_focus=False):
                yield self._lines
            yield self._keys

    def on_mount(self) -> None:
        """Start the countdown."""
        self._head(f'Stopping "{self._title}"')
        self._countdown.display = not self._workers
        self.set_interval(TICK_SECONDS, self._tick)
        self._tick()

    def show_receipt(self, receipt: Receipt) -> None:
        """Show the ended processes, after the screen is mounted: the stop may be done before."""
        self._receipt = receipt
        self.call_later(self._show, receipt)

    def _show(self, receipt: Receipt) -> None:
        self._head(self._done)
        self._countdown.display = False
        self._summary.update(summary(receipt))
        self._lines.show(receipt_lines(receipt))
        self._keys.show_keys("Enter close")

    async def action_hurry(self) -> None:
        """Ask for SIGKILL at once, without the remaining waits."""
        if self._receipt is None:
            self._ladder = Ladder(interrupt=0, terminate=0)
            self.run_worker(self._hurry())

    def _tick(self) -> None:
        if self._receipt is None:
            if self._workers:
                self._summary.update(stopping(self._workers, self._ladder))
            else:
                self._countdown.show_text(countdown(self._ladder, monotonic() - self._began))

    def _head(self, title: str) -> None:
        self._dialog.entitle(title)


def countdown(ladder: Ladder, elapsed: float) -> str:
    """Return the signal that was sent and the times until the next ones, ``elapsed`` seconds after the request."""
    kill_at = ladder.interrupt + ladder.terminate
    if elapsed < ladder.interrupt:
        until = (("SIGTERM", ladder.interrupt), ("SIGKILL", kill_at))
        return f"SIGINT sent, {', '.join(f'{name} in {_seconds(at - elapsed)}' for name, at in until)}"
    if elapsed < kill_at:
        return f"SIGTERM sent, SIGKILL in {_seconds(kill_at - elapsed)}"
    return "SIGKILL sent, checking for leftover processes"


def summary(receipt: Receipt) -> str:
    """Return the numbers of ended and left processes, and the time that the stop took."""
    took = f", {units.duration(receipt.duration_ms)}" if receipt.duration_ms is not None else ""
    return receipt.summary() + took


def receipt_lines(receipt: Receipt) -> Sequence[str | CommandLine]:
    """Return the processes that each signal ended, then those that are left, each with its reason."""
    lines: list[str | CommandLine] = []
    for how, processes in receipt.by_signal().items():
        lines += [
            CommandLine(f"{pad(how if row == 0 else '', 10)} {process.pid} ", command(process.command))
            for row, process in enumerate(processes)
        ]
    lines += [f"{pad('left', 10)} {p.pid} {command(p.command, 60)}: {one_line(p.reason)}" for p in receipt.left]
    return [*lines, one_line(receipt.note)] if receipt.note else lines


def _seconds(left: float) -> str:
    """Format the time left in whole seconds, rounded up: ``3s`` for anything above two."""
    return f"{int(left) + (left > int(left))}s"
