"""What a stop ended, by which signal, and what is left."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from ...sessions.model import Receipt
from ...sessions.text import one_line, pad
from ...widgets import words


class ReceiptScreen(ModalScreen[None]):
    """The receipt of a stop, until a key closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q", "dismiss(None)", "close", show=False),
    ]

    def __init__(self, receipt: Receipt, title: str) -> None:
        super().__init__()
        self._receipt = receipt
        self._title = title

    def compose(self) -> ComposeResult:
        """The lines of the receipt."""
        with Vertical(classes="dialog") as dialog:
            told = str(self._receipt.status).capitalize()
            dialog.border_title = f'{told} "{one_line(self._title, 40)}"'.replace("[", "\\[")
            with VerticalScroll(can_focus=False):
                yield Static("\n".join(receipt_lines(self._receipt)), markup=False)
            yield Static("Enter close", classes="keys")


def receipt_lines(receipt: Receipt) -> Sequence[str]:
    """The summary, then what each signal ended, then what is left and why."""
    took = f", {words.duration(receipt.duration_ms)}" if receipt.duration_ms is not None else ""
    lines = [receipt.summary() + took]
    by_signal: dict[str, list[str]] = {}
    for process in receipt.ended:
        name = f"{process.pid} {one_line(process.command, 60)}"
        by_signal.setdefault(process.signal or "by itself", []).append(name)
    for how, names in by_signal.items():
        lines += [f"{pad(how if row == 0 else '', 10)} {name}" for row, name in enumerate(names)]
    lines += [f"{pad('left', 10)} {p.pid} {one_line(p.command, 60)}: {one_line(p.reason)}" for p in receipt.left]
    return [*lines, one_line(receipt.note)] if receipt.note else lines
