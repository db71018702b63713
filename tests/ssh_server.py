"""A real SSH server on this machine, with keys of its own."""

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

PATIENCE = 60
SSH_TOOLS = ("ssh", "sshd", "ssh-keygen")
"""What a server and its client need."""


def path_of(tool):
    """The path of a program; None if it is not installed.  sshd is in a folder that a user's PATH lacks."""
    return shutil.which(tool, path=os.environ.get("PATH", "") + ":/usr/sbin")


def missing_tools(*names):
    """The programs among these that are not installed."""
    return [name for name in names if path_of(name) is None]


@contextlib.contextmanager
def ssh_server(folder):
    """Run one; gives what makes the argv of its client, up to the command, for a port: its own, or that of a relay.

    Raises:
        RuntimeError: it does not listen; says why.
    """
    folder = Path(folder)
    sshd = path_of("sshd")
    for name in ("host_key", "key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    shutil.copy(folder / "key.pub", folder / "authorized")
    with socket.create_server(("127.0.0.1", 0)) as free:
        own = free.getsockname()[1]
    (folder / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1\nPort {own}\nHostKey {folder}/host_key\nAuthorizedKeysFile {folder}/authorized\n"
        f"PidFile {folder}/sshd.pid\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n"
    )

    def client(port=own):
        return [
            "ssh", "-tt", "-F", "/dev/null", "-i", str(folder / "key"), "-p", str(port), "-o", "BatchMode=yes",
            "-o", "StrictHostKeyChecking=no", "-o", f"UserKnownHostsFile={folder}/known",
            f"{getpass.getuser()}@127.0.0.1",
        ]  # fmt: skip

    _make_separation_folder()
    with (folder / "sshd.log").open("w") as log:
        server = subprocess.Popen([sshd, "-D", "-e", "-f", str(folder / "sshd_config")], stderr=log)
        try:
            _await(own, server, folder / "sshd.log")
            yield client
        finally:
            server.terminate()
            server.wait()


def _await(port, server, log):
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(log.read_text()) from None
            time.sleep(0.02)


def _make_separation_folder():
    """Make the folder that a server of root's needs, as its service does at every boot.

    It stays: each connection to any server on this machine needs it.
    """
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
