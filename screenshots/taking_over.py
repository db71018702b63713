"""The pictures of a take over: a second dashboard while a user has a session by hand, and the steps afterwards.

`agentdash takeover` runs in a terminal of its own, on a session of a stand-in for codex, among sessions of the demo
agent.
"""

import asyncio
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import stand_in
from screen import Picture, select, shown
from textual.pilot import Pilot

from agentdash.sessions.agents.demo.place import make_demo
from agentdash.sessions.clock import monotonic
from agentdash.sessions.launch import Start
from agentdash.sessions.lifecycle.stop_family import NOW
from agentdash.sessions.manager import SessionManager
from agentdash.tui.app import Dashboard

TAKEN = "Fix the flaky login test"
USER = "ann"

OTHERS = (
    ("api", "Write the migration for the orders table", "done", 12.0),
    ("web", "Add dark mode to the settings page", "fail", 12.0),
    ("infra", "Split the monolith into services, step by step", "long", 1.5),
)
"""The other sessions: the project, the prompt, the script of the demo agent, and its speed."""

WAIT_SECONDS = 60.0


async def taken(app: Dashboard, pilot: Pilot[Any]) -> None:
    """Show a session that a user has by hand, and the refusal of a stop."""
    select(app, TAKEN)
    await shown(app, pilot, "by hand (pts/")
    await pilot.press("x")
    await shown(app, pilot, f"by hand: {USER} (pts/")


async def afterwards(app: Dashboard, pilot: Pilot[Any]) -> None:
    """Show the steps that were made by hand."""
    select(app, TAKEN)
    await pilot.press("enter", "g")
    await shown(app, pilot, "run the test ten times")


MEANWHILE: dict[str, Picture] = {
    "takeover": ((160, 45), "dark", taken),
    "takeover-80": ((80, 24), "dark", taken),
    "takeover-50": ((50, 24), "light", taken),
}
AFTERWARDS: dict[str, Picture] = {"takeover-after": ((160, 45), "dark", afterwards)}


def take_over_pictures(home: Path, take: Callable[[SessionManager, str, Picture], Any]) -> None:
    """Take the pictures; ``home`` is an empty folder of theirs.

    Raises:
        TimeoutError: a session or the interface does not get as far within ``WAIT_SECONDS``.
    """
    home.mkdir()
    codex = prepare_stand_in(home)
    make_demo(home / "state", home / "code")
    with SessionManager(home / "state", home / "config.toml") as manager:
        try:
            session = start(manager, home / "code")
            with open_interface(session, home, codex):
                for name, picture in MEANWHILE.items():
                    asyncio.run(take(manager, name, picture))
            until(lambda: manager.reader.get(session).taken_by is None, "the end of the interface")
            for name, picture in AFTERWARDS.items():
                asyncio.run(take(manager, name, picture))
        finally:
            for one in manager.reader.sessions():
                manager.stop(one.id, NOW)


def prepare_stand_in(home: Path) -> Path:
    """Install the stand-in below a folder; return the home of codex."""
    codex = home / "codex"
    stand_in.transcript(codex).parent.mkdir(parents=True)
    stand_in.transcript(codex).touch()
    program = home / "bin" / "codex"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n" + Path(stand_in.__file__).read_text(encoding="utf-8"))
    program.chmod(0o700)
    (home / "config.toml").write_text(f"[agents.codex]\nlive = false\nbin = '{program}'\n", encoding="utf-8")
    os.environ["CODEX_HOME"] = str(codex)
    return codex


def start(manager: SessionManager, code: Path) -> str:
    """Start the sessions, and wait until those that end have ended; return the id of the one for the interface."""
    ended = []
    for project, prompt, script, speed in OTHERS:
        (code / project).mkdir(parents=True, exist_ok=True)
        options = {"script": script, "speed": speed}
        session = manager.spawn(Start(prompt, agent="codex-demo", cwd=str(code / project), options=options))
        ended += [session.id] if script != "long" else []
    (code / "auth").mkdir()
    chosen = manager.spawn(Start(TAKEN, agent="codex", cwd=str(code / "auth"))).id
    manager.wait([*ended, chosen], timeout=WAIT_SECONDS)
    return chosen


@contextmanager
def open_interface(session: str, home: Path, codex: Path) -> Iterator[None]:
    """Keep the interface of a session open in a terminal of its own."""
    (codex / stand_in.STAY).touch()
    command = [sys.executable, "-m", "agentdash", "takeover", session]
    settings = {"AGENTDASH_HOME": str(home / "state"), "AGENTDASH_CONFIG": str(home / "config.toml"), "LOGNAME": USER}
    outer, inner = pty.openpty()
    program = subprocess.Popen(
        command, stdin=inner, stdout=inner, stderr=inner, env=os.environ | settings, start_new_session=True
    )
    os.close(inner)
    try:
        until((codex / stand_in.SPOKEN).exists, "the interface")
        yield
    finally:
        (codex / stand_in.STAY).unlink()
        program.wait(WAIT_SECONDS)
        os.close(outer)


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition."""
    deadline = monotonic() + WAIT_SECONDS
    while not condition():
        if monotonic() > deadline:
            raise TimeoutError(f"no {what} within {WAIT_SECONDS:.0f} s")
        asyncio.run(asyncio.sleep(0.1))
