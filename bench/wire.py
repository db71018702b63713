"""The traffic of agentdash on a slow line: tmux panes over a real SSH connection, counted on its socket.

``python bench/wire.py``.  The dashboard is on the left and ``agentdash watch`` on the right, in a terminal of 160x45.
A relay between ssh and sshd counts the encrypted bytes, including SSH's keys and acknowledgements.
"""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Callable
from pathlib import Path

from many_sessions import fill
from measure import all_at_once, table
from sizes import sized
from terminal import Terminal

from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from ssh_server import SSH_TOOLS, missing_tools, ssh_server

ENDED, LIVE = sized((100, 5), (10, 2))
SETTLED_SECONDS, MEASURED_SECONDS = sized((8, 60), (1, 2))
DIALOGS = sized("?nL;", "?")
"""Keys of dialogs that stay open during a measurement."""
SILENT = ["sleep", "600"]
TALKING = ["sh", "-c", "n=0; while sleep 1; do n=$((n+1)); echo test case number $n of the suite has passed; done"]


def check_tools(*names: str) -> None:
    """End the benchmark, with a line that names what is missing, if it cannot run here."""
    if missing := missing_tools(*names):
        sys.exit(f"{Path(sys.argv[0]).name}: not installed: {', '.join(missing)}. Install them to run this benchmark.")


class Relay:
    """Relays one connection and counts its bytes."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.to_home = 0
        """Bytes from the server so far."""
        self.from_home = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        home, _ = self._listening.accept()
        self._listening.close()
        there = socket.create_connection(("127.0.0.1", self._port))
        for one in (home, there):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=self._pass, args=(home, there, False), daemon=True).start()
        self._pass(there, home, True)

    def _pass(self, source: socket.socket, target: socket.socket, to_home: bool) -> None:
        # A client that is ended resets its connection: that is the end of the measurement.
        with contextlib.suppress(ConnectionError):
            while data := source.recv(65536):
                if to_home:
                    self.to_home += len(data)
                else:
                    self.from_home += len(data)
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)


def measured(label: str, argv: list[str] | None, client: Callable[..., list[str]], dialog: str = "") -> list[object]:
    """Return the bytes of a minute while sessions of one kind run; ``argv=None`` runs no session.

    ``dialog`` is the key of a dialog that is open.
    """
    with tempfile.TemporaryDirectory() as scratch:
        home, name = Path(scratch) / "state", f"agentdash-bench-{uuid.uuid4().hex[:8]}"
        newest = fill(home, ENDED)[0]
        config = all_at_once(scratch)
        with SessionManager(home, config_path=config) as manager:
            live = [manager.run(argv, title=f"suite {number}").id for number in range(LIVE if argv else 0)]
            relay = Relay(int(client()[client().index("-p") + 1]))
            agentdash = f"{sys.executable} -m agentdash"
            env = f"env AGENTDASH_HOME={home} AGENTDASH_CONFIG={config} LC_ALL=C.UTF-8"
            tmux = f"{env} tmux -L {name} -f /dev/null new-session '{agentdash}'"
            panes = f"{tmux} \\; split-window -h '{agentdash} watch {(live or [newest])[0]}'"
            terminal = Terminal([*client(relay.port), panes])
            try:
                terminal.until(f"suite {LIVE - 1}" if live else manager.reader.get(newest).title[:10])
                terminal.press(f"\x02o{dialog}" if dialog else "")  # the pane on the left gets the keys
                terminal.read(SETTLED_SECONDS)
                first = relay.to_home, relay.from_home
                painted = terminal.read(MEASURED_SECONDS)
                wire = relay.to_home - first[0], relay.from_home - first[1]
            finally:
                subprocess.run(["tmux", "-L", name, "kill-server"], check=False, capture_output=True)
                terminal.close()
                manager.stop_all(live, NOW)
    return [label, *wire, painted, sum(wire) / MEASURED_SECONDS]


def main() -> None:
    check_tools(*SSH_TOOLS, "tmux")
    os.environ.pop("TMUX", None)
    with tempfile.TemporaryDirectory() as folder, ssh_server(folder) as client:
        rows = [
            measured("nothing runs", None, client),
            measured(f"{LIVE} run and print nothing", SILENT, client),
            measured(f"{LIVE} print a line a second each", TALKING, client),
            *(measured(f"{LIVE} print, {key} is open", TALKING, client, key) for key in DIALOGS),
        ]
    head = [f"in {MEASURED_SECONDS} s", "to home, bytes", "from home", "on the terminal", "wire, bytes/s"]
    table(f"dashboard and watch in tmux over SSH, 160x45, {ENDED} ended sessions", head, rows)


if __name__ == "__main__":
    main()
