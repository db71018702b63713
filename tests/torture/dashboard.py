"""The real dashboard in a pseudo terminal."""

import contextlib
import fcntl
import os
import pty
import struct
import termios

from torture.command_line import AGENTDASH


class Dashboard:
    """The real dashboard in a pseudo terminal whose output is read."""

    def __init__(self, workshop):
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        os.set_blocking(self._master, False)
        try:
            self.process = workshop.start(
                AGENTDASH, "dashboard", stdin=slave, stdout=slave, stderr=slave, start_new_session=True
            )
        finally:
            os.close(slave)
        self.painted = 0

    def read(self):
        """Take what it has painted, as a terminal does."""
        with contextlib.suppress(BlockingIOError, OSError):
            while data := os.read(self._master, 65536):
                self.painted += len(data)

    def press(self, key):
        """Press a key."""
        with contextlib.suppress(OSError):
            os.write(self._master, key)

    def close(self):
        """Close the terminal; a process that is still in it gets a hangup."""
        os.close(self._master)
