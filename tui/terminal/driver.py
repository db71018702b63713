"""Textual's driver (8.2), adapted to a terminal that can vanish: one reader of keys, and a writer that survives."""

from contextlib import suppress
from typing import TextIO

from .._textual_hacks import CheckedDriver
from .escape_keys import EscapeParser
from .state import hung_up


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

    def output(self, terminal: TextIO) -> LastingFile:
        """Return the terminal, wrapped in a :class:`LastingFile`."""
        return LastingFile(terminal)

    def is_gone(self) -> bool:
        """Return True if the terminal hung up."""
        return hung_up()
