"""The dashboard with scripted agents at work, in a state folder of its own."""

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from ..sessions.config import PROFILE
from ..sessions.errors import AgentdashError
from ..sessions.manager import SessionManager
from ..sessions.model import Session
from ..sessions.text import one_line

SCRIPTS = (
    ("done", "api", "Fix the flaky login test and add a regression test"),
    ("fail", "web", "Add dark mode to the settings page"),
    ("tree", "infra", "Upgrade the build and run everything in parallel"),
    ("long", "api", "Split the monolith into services, step by step"),
    ("leftovers", "web", "Start a dev server and check the home page"),
)
"""Script, project folder, prompt: five sessions of different fates."""


OPTIONS = {"limits": {"wall_seconds": 1800.0}}
"""A demo that is killed with -9 leaves its sessions behind: they end by themselves."""

TOUR = (
    ("j k", "choose a session"),
    ("Enter", "read what it did"),
    ("i", "say more to a finished one"),
    ("x", "stop the one with many processes"),
    ("n", "start one"),
    ("?", "all keys"),
)
"""What shows in a minute what agentdash is for."""


def run_demo(directory: Path) -> int:
    """Start five scripted sessions below ``directory``, show them, and stop at the end what still runs.

    Nothing outside of the folder is touched; the exit code is the dashboard's.
    """
    from .opening import check_terminal, open_dashboard

    check_terminal()
    os.environ["AGENTDASH_HOME"] = str(directory / "state")  # for commands that are typed inside a session
    os.environ.pop(PROFILE, None)  # its settings have no profiles
    with SessionManager(directory / "state", directory / "config.toml") as manager:
        for script, project, prompt in SCRIPTS:
            folder = directory / "projects" / project
            folder.mkdir(parents=True, exist_ok=True)
            manager.spawn(prompt, agent="demo", cwd=str(folder), options=OPTIONS | {"script": script})
        try:
            return open_dashboard(manager, tour=TOUR)
        finally:
            # A terminal that was closed sends SIGHUP again and cannot be written to: what runs is ended all the same.
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            _stop_all(manager)
            _say(f"The demo's sessions were in {directory / 'state'}.")


def _stop_all(manager: SessionManager) -> None:
    """Leave nothing running, and say what was ended."""
    running = [s for s in manager.sessions() if not s.status.ended or s.left]
    with ThreadPoolExecutor(max_workers=len(SCRIPTS)) as pool:
        for line in pool.map(lambda session: _ended(manager, session), running):
            _say(line)


def _ended(manager: SessionManager, session: Session) -> str:
    name = one_line(session.title or session.task, 50)
    try:
        return f"{name}: {manager.stop(session.id).summary()}"
    except AgentdashError as error:
        return f"{name}: {error}"


def _say(line: str) -> None:
    with suppress(OSError):
        print(line, file=sys.stderr)  # noqa: T201 - the screen is closed
