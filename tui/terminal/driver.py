"""Textual's driver (8.2), held to what a terminal that goes away needs: one reader of keys, and a writer that lasts."""

from contextlib import suppress
from typing import Any, TextIO

from textual.drivers import linux_driver

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


class TerminalDriver(linux_driver.LinuxDriver):
    """Reads keys by :class:`EscapeParser`, in one thread at a time, and writes to a :class:`LastingFile`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self._file is not None:
            lasting: Any = LastingFile(self._file)
            self._file = lasting

    def run_input_thread(self) -> None:
        """Read keys until the end; the driver makes its parser by this name, and there is no other way to choose it."""
        vars(linux_driver)["XTermParser"] = EscapeParser
        super().run_input_thread()

    def _sigcont_application(self, *_: object) -> None:
        """Take the terminal again after a stop.

        A terminal that goes away sends SIGHUP and SIGCONT.  Textual would start a second thread that reads it: it takes
        keys from the first, and after the app's end it keeps a core busy for ever.
        """
        if self._app.return_code is not None or hung_up():
            return
        if self._key_thread is not None and self._key_thread.is_alive():
            self.suspend_application_mode()
        super()._sigcont_application()
