"""Fixtures for what travels: a terminal at home of which every byte is known, and a real sshd to reach it through."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from ssh_server import ssh_server

_TAKE_TERMINAL = "import os, sys; os.close(os.open(os.ttyname(0), os.O_RDWR)); os.execvp(sys.argv[1], sys.argv[1:])"
"""The first process of a session that opens a terminal has it as its own."""


class Outer:
    """A terminal of which nothing is known but what is written to it."""

    def __init__(self, argv, *, controlling=True, size=(45, 160), **env):
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", *size, 0, 0))
        self._received = b""
        self._before = None
        here = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self._process = subprocess.Popen(
            [*([sys.executable, "-c", _TAKE_TERMINAL] if controlling else []), *argv],
            stdin=slave, stdout=slave, stderr=slave, env=here | env, start_new_session=True,
        )  # fmt: skip
        os.close(slave)

    @property
    def received(self):
        """Everything so far."""
        with contextlib.suppress(OSError):
            while select.select([self._master], [], [], 0)[0]:
                self._received += os.read(self._master, 65536)
        return self._received

    def type(self, keys):
        os.write(self._master, keys)

    @property
    def exit_code(self):
        """None while the program runs."""
        return self._process.poll()

    @property
    def modes(self):
        """The local modes of the terminal: whether it gives out whole lines, for example."""
        return termios.tcgetattr(self._master)[3]

    @property
    def reads_database(self):
        """The program has opened the state folder, after all that it loads."""
        with contextlib.suppress(OSError):
            opened = Path(f"/proc/{self._process.pid}/fd").iterdir()
            return any("agentdash.db" in str(link.readlink()) for link in opened)
        return False

    def resize(self, lines, columns):
        """Give the terminal another size."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("4H", lines, columns, 0, 0))

    @property
    def is_quiet(self):
        """The program used no processor time and wrote nothing since half a second before."""
        now = time.monotonic(), self._work, len(self.received)
        if self._before is None or now[1:] != self._before[1:]:
            self._before = now
        return now[0] - self._before[0] > 0.5

    @property
    def _work(self):
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def terminate(self, wait_until):
        """Ask the program to end, and read what it writes until it does."""
        self.send_signal(signal.SIGTERM)
        wait_until(lambda: self.received and self.exit_code is not None, timeout=20, what="its end")

    def send_signal(self, number):
        self._process.send_signal(number)

    def pull_plug(self):
        """The terminal is gone; a second time does nothing."""
        with contextlib.suppress(OSError):
            os.close(self._master)
        self._master = -1

    def close(self):
        """End the program too."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self.pull_plug()


@pytest.fixture
def open_outer():
    opened = []

    def start(argv, **options):
        opened.append(Outer(argv, **options))
        return opened[-1]

    yield start
    for outer in opened:
        outer.close()


@pytest.fixture
def ssh(require_tool, tmp_path):
    """The argv of a shell on the other side of a real SSH server on this machine."""
    for tool in ("sshd", "ssh", "ssh-keygen"):
        require_tool(tool)
    with ssh_server(tmp_path) as client:
        yield client()
