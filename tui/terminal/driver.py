"""Textual's driver (8.2), adapted to a terminal that can vanish: one reader of keys, and a writer that survives."""

from contextlib import suppress
from typing import TextIO

from textual import constants, events
from textual.message import Message

from agentdash.sessions.model.clock import monotonic
from agentdash.tui._textual_hacks import CheckedDriver
from agentdash.tui.terminal import early
from agentdash.tui.terminal.escape_keys import ASK, EscapeParser
from agentdash.tui.terminal.state import give_back, hung_up
from agentdash.tui.terminal.watchdog import guard

TWICE_SECONDS = 2.0
"""Two presses of Ctrl+C within this time quit the dashboard."""


class LastingFile:
    """A terminal file that raises no error when the terminal vanishes: later output is discarded.

    An error would end Textual's thread that writes.  Its queue of 30 texts then fills up, and the app waits forever for
    room in it: it handles neither SIGHUP nor a key, while the thread that reads keys keeps a core busy.
    """

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal

    def write(self, text: str) -> None:
        """Write the text; discard it if the terminal is gone."""
        with suppress(OSError):
            self._terminal.write(text)

    def flush(self) -> None:
        """Flush the output; discard it if the terminal is gone."""
        with suppress(OSError):
            self._terminal.flush()

    def fileno(self) -> int:
        """Return the terminal's file descriptor."""
        return self._terminal.fileno()


class TerminalDriver(CheckedDriver):
    """Reads keys by :class:`EscapeParser`, in one thread at a time, and writes to a :class:`LastingFile`."""

    parser = EscapeParser
    has_terminal = False
    """True while the terminal shows the dashboard, not another program."""
    _started = False
    _entered = False
    """True while the other screen shows the first frame."""
    _interrupted_at = -TWICE_SECONDS

    def start_application_mode(self) -> None:
        """Take the terminal, which is empty then, or shows the first frame."""
        self.app.shown.forget()
        self.has_terminal = True
        held = early.take()
        self.app.holds_pictures, self._started = not self._started, True
        self._entered = held is not None and held.frame is not None
        if held is not None and held.frame is not None:
            self.app.shown.show_frame(held.size, held.frame)
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self._entered = False
        if held is not None:
            self.attrs_before = held.modes
        if not constants.DISABLE_KITTY_KEY:
            self.write(ASK)
            self.flush()

    def write(self, data: str) -> None:
        """Write to the terminal; it is not emptied again below a first frame."""
        if not (self._entered and data == early.ENTER):
            super().write(data)

    def stop_application_mode(self) -> None:
        """Give the terminal back."""
        super().stop_application_mode()
        self.has_terminal = False

    def abandon(self, words: str) -> None:
        """Give the terminal back without waiting for the app, and print a line; any thread may call this."""
        if self.has_terminal:
            give_back(self.attrs_before, words)

    def process_message(self, message: Message) -> None:
        """Pass on what was typed; two presses of Ctrl+C end the app even if it does not react."""
        if isinstance(message, events.Key) and message.key == "ctrl+c":
            if monotonic() - self._interrupted_at < TWICE_SECONDS:
                guard().expect_end()
            self._interrupted_at = monotonic()
        super().process_message(message)

    def output(self, terminal: TextIO) -> LastingFile:
        """Return the terminal, wrapped in a :class:`LastingFile`."""
        return LastingFile(terminal)

    def is_gone(self) -> bool:
        """Return True if the terminal hung up."""
        return hung_up()
