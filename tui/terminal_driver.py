"""Textual's driver (8.2), held to one reader of keys: the one of this project, and only while there is a terminal."""

from textual.drivers import linux_driver

from .escape_keys import EscapeParser
from .terminal import hung_up


class TerminalDriver(linux_driver.LinuxDriver):
    """Reads keys by :class:`EscapeParser`, in one thread at a time."""

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
