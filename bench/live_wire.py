"""A live agent whose command prints 1 MB/s, watched over SSH: ``python bench/live_wire.py``.

The script `done` runs ``ls -R``; the sessions here have a PATH in which ``ls`` is a program that prints.  The
dashboard is in a terminal of 160x45; a relay between ssh and sshd counts the encrypted bytes, as in `wire.py`.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from live_agents import Bench, bench
from measure import Work, table, work
from parts import chosen_parts
from sizes import sized
from terminal import Terminal
from wire import SSH_TOOLS, Relay, check_tools, ssh_server

from agentdash.sessions.model.session import Session

SETTLED_SECONDS, MEASURED_SECONDS = sized((5, 30), (1, 2))
PRINTER = """#!{python}
import time
line = ("test case number %07d of the suite has passed " * 3)[:98] + chr(10)
number, began = 0, time.monotonic()
while True:
    for _ in range(1000):
        number += 1
        print(line % ((number,) * line.count("%")), end="")
    time.sleep(max(0, began + number * len(line) / 1e6 - time.monotonic()))
"""
TITLE = "the printing one"
ZOOM = "+"
"""Gives the whole screen to the table, which has the keys at the start."""


def printing(here: Bench, folder: Path) -> Session:
    """Start a live session whose command prints 1 MB/s, and return it when it does."""
    program = folder / "ls"
    program.write_text(PRINTER.format(python=sys.executable))
    program.chmod(0o700)
    path = os.environ["PATH"]
    os.environ["PATH"] = f"{folder}:{path}"
    try:
        session = here.manager.started(here.spawn(here.kinds[0], f"[[script:done]] {TITLE}", live=True).id)
    finally:
        os.environ["PATH"] = path
    output = here.output(session, 1)
    here.until(lambda: output.stat().st_size > 1e6, "the command prints")
    return session


def watched(
    here: Bench, session: Session | None, client: Callable[..., list[str]], arguments: str, text: str, keys: str = ""
) -> list[object]:
    """Return bytes a second and CPU in percent while agentdash runs with these arguments over SSH, after some keys."""
    relay = Relay(int(client()[client().index("-p") + 1]))
    env = f"env AGENTDASH_HOME={here.home} AGENTDASH_CONFIG={here.config} PYTHONPATH={os.environ['PYTHONPATH']}"
    env += " LC_ALL=C.UTF-8 TERM=xterm-256color"
    command = f"echo pid=$$=; exec {env} {sys.executable} -m agentdash {arguments}"
    terminal = Terminal([*client(relay.port), command])
    try:
        terminal.until("=\r\n")
        pids = [int(bytes(terminal.written).split(b"pid=")[1].split(b"=")[0])]
        if session is not None:
            turn = here.newest(session)
            pids += [turn.runner_pid or 0, turn.agent_pid or 0]
        terminal.until(text)
        terminal.read(SETTLED_SECONDS)
        terminal.press(keys)
        terminal.read(SETTLED_SECONDS)
        size = here.output(session, 1).stat().st_size if session is not None else 0
        before, wire = [work(pid) for pid in pids], (relay.to_home, relay.from_home)
        terminal.read(MEASURED_SECONDS)
        done = [work(pid) - earlier for pid, earlier in zip(pids, before, strict=True)]
        sent = relay.to_home - wire[0], relay.from_home - wire[1]
        printed = here.output(session, 1).stat().st_size - size if session is not None else 0
    finally:
        terminal.close()
    return [printed / 1e6 / MEASURED_SECONDS, *(count / MEASURED_SECONDS for count in sent), *map(percent, done)] + (
        [] if session is not None else ["", ""]
    )


def percent(done: Work) -> float:
    """Return the share of one core."""
    return done.cpu_ms / MEASURED_SECONDS / 10


def main() -> None:
    chosen_parts(__doc__ or "", [])
    check_tools(*SSH_TOOLS)
    with tempfile.TemporaryDirectory() as name, bench(scripted_only=True) as here, ssh_server(name) as client:
        quiet = here.served(here.kinds[0], live=True)
        rows = [["nothing runs, table and viewer", *watched(here, None, client, "", "hello")]]
        here.stop(quiet)
        session = printing(here, Path(name))
        rows.append(["1 MB/s, table alone", *watched(here, session, client, "", TITLE, ZOOM)])
        rows.append(["1 MB/s, table and viewer", *watched(here, session, client, "", TITLE)])
        rows.append(["1 MB/s, viewer alone", *watched(here, session, client, f"watch {session.id}", "test case")])
        here.stop(session)
    head = ["", "agent's file, MB/s", "to home, bytes/s", "from home", "CPU %: dashboard", "runner", "agent"]
    table("a live agent over SSH, 160x45", head, rows)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
