"""Textual's driver (8.2), held to what a terminal that goes away needs: one reader of keys, and a writer that lasts."""

from contextlib import suppress
from typing import TextIO

from .._textual_hacks import CheckedDriver
from .escape_keys import EscapeParser
from .state import hung_up


class LastingFile:
    """A terminal to write to that raises no error when it goes away: what is written from then on goes nowhere.

    An error would end Textual's thread that writes.  Its queue of 30 texts then fills up, and the app waits for room in
    it for ever: it sees neither SIGHUP nor a key, while the thread that reads keys keeps a core busy.
    """

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal

    def write(self, text: str) -> None:
        """Write the text, if the terminal takes it."""
        with suppress(OSError):
            self._terminal.write(text)

    def flush(self) -> None:
        """Send what was written, if the terminal takes it."""
        with suppress(OSError):
            self._terminal.flush()

    def fileno(self) -> int:
        """The descriptor of the terminal."""
        return self._terminal.fileno()


class TerminalDriver(CheckedDriver):
    """Reads keys by :class:`EscapeParser`, in one thread at a time, and writes to a :class:`LastingFile`."""

    parser = EscapeParser

    def output(self, terminal: TextIO) -> LastingFile:
        """Write to what lasts."""
        return LastingFile(terminal)

    def is_gone(self) -> bool:
        """Return if the terminal hung up."""
        return hung_up()
