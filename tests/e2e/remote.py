"""Fixtures for what travels: a terminal at home of which every byte is known, and a real sshd to reach it through."""

import contextlib
import fcntl
import getpass
import os
import pty
import select
import shutil
import socket
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

_TAKE_TERMINAL = "import os, sys; os.close(os.open(os.ttyname(0), os.O_RDWR)); os.execvp(sys.argv[1], sys.argv[1:])"
"""The first process of a session that opens a terminal has it as its own."""


class Outer:
    """A terminal of which nothing is known but what is written to it."""

    def __init__(self, argv, *, controlling=True, **env):
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 45, 160, 0, 0))
        self._received = b""
        self._process = subprocess.Popen(
            [*([sys.executable, "-c", _TAKE_TERMINAL] if controlling else []), *argv],
            stdin=slave, stdout=slave, stderr=slave, env=os.environ | env, start_new_session=True,
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
def ssh(require_tool, tmp_path, wait_until):
    """The argv of a shell on the other side of a real SSH server on this machine, with keys of its own."""
    sshd, client = require_tool("sshd"), require_tool("ssh")
    for name in ("host_key", "key"):
        subprocess.run(
            [require_tool("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True
        )
    shutil.copy(tmp_path / "key.pub", tmp_path / "authorized")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {tmp_path}/host_key\nAuthorizedKeysFile {tmp_path}/authorized\n"
        f"PidFile {tmp_path}/sshd.pid\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n"
    )
    with _separation_folder():
        server = subprocess.Popen(
            [sshd, "-D", "-e", "-f", str(tmp_path / "sshd_config")], stderr=(tmp_path / "sshd.log").open("w")
        )
        try:
            wait_until(lambda: (tmp_path / "sshd.pid").exists() or server.poll() is not None, what="the server")
            assert server.poll() is None, (tmp_path / "sshd.log").read_text()
            yield [
                client, "-tt", "-F", "/dev/null", "-i", str(tmp_path / "key"), "-p", str(port), "-o", "BatchMode=yes",
                "-o", "StrictHostKeyChecking=no", "-o", f"UserKnownHostsFile={tmp_path}/known",
                f"{getpass.getuser()}@127.0.0.1",
            ]  # fmt: skip
        finally:
            server.terminate()
            server.wait()


@contextlib.contextmanager
def _separation_folder():
    """What a server of root's needs, and its service makes at every boot; where it was missing, it goes again."""
    folder = Path("/run/sshd")
    made = os.geteuid() == 0 and not folder.exists()
    if made:
        folder.mkdir(mode=0o755)
    try:
        yield
    finally:
        if made:
            with contextlib.suppress(OSError):
                folder.rmdir()
