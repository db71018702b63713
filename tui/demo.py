"""The dashboard with scripted agents at work, in a state folder of its own."""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from ..sessions.agents.demo.place import make_demo
from ..sessions.errors import AgentdashError
from ..sessions.launch import Start
from ..sessions.manager import SessionManager
from ..sessions.settings.config import PROFILE

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

ENDING = "Ending the demo's sessions..."

TOUR = (
    ("j k", "choose a session"),
    ("Enter", "read what it did"),
    ("i", "say more to a finished one"),
    ("x", "stop the one with many processes"),
    ("n", "start one"),
    ("?", "all keys"),
)
"""What shows in a minute what agentdash is for."""


def run_demo(directory: Path, *, kept: bool) -> int:
    """Start five scripted sessions below ``directory``, show them, and stop at the end what still runs.

    Nothing outside of the folder is touched; the exit code is the dashboard's.  ``kept`` says that the folder stays.

    Raises:
        UsageError: there is no terminal to draw on, or the folder holds something that no demo made.
    """
    from .startup import check_terminal, open_dashboard

    check_terminal()
    home, projects = directory / "state", directory / "projects"
    make_demo(home, projects)
    os.environ["AGENTDASH_HOME"] = str(home)  # for commands that are typed inside a session
    os.environ["AGENTDASH_CONFIG"] = str(directory / "config.toml")
    os.environ.pop(PROFILE, None)  # its settings have no profiles
    with SessionManager(home) as manager:
        for script, project, prompt in SCRIPTS:
            folder = projects / project
            folder.mkdir(exist_ok=True)
            manager.spawn(Start(prompt, agent="demo", cwd=str(folder), options=OPTIONS | {"script": script}))
        os.chdir(projects)  # a new session begins where the demo agent may work
        try:
            return open_dashboard(manager, tour=TOUR)
        finally:
            _end(manager, kept_in=home if kept else None)


def _end(manager: SessionManager, kept_in: Path | None) -> None:
    """Kill what still runs, and say in one line what became of the sessions.

    Killed at once: a script has nothing to save, and the user waits for the shell.
    """
    # A terminal that was closed sends SIGHUP again and cannot be written to: what runs is ended all the same.
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    _say(ENDING, end="\r")
    sessions = [*manager.reader.sessions(), *manager.reader.sessions(archived=True)]
    running = [session.id for session in sessions if not session.status.ended or session.left]
    for answer in manager.stop_all(running, now=True):
        if isinstance(answer, AgentdashError) or answer.left:
            _say(f"agentdash: {answer if isinstance(answer, AgentdashError) else answer.summary()}")
    last = f"The demo's sessions ended; they are kept in {kept_in}." if kept_in else "Demo sessions removed."
    _say(last.ljust(len(ENDING)))


def _say(line: str, end: str = "\n") -> None:
    with suppress(OSError):
        print(line, file=sys.stderr, end=end, flush=True)  # noqa: T201 - the screen is closed
