"""The dashboard with scripted agents at work, in its own state folder."""

import os
import signal
import sys
from contextlib import nullcontext, suppress
from pathlib import Path

from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.manager import SessionManager
from agentdash.tui.demo.ending import kill_sessions, watched
from agentdash.tui.demo.files import PROJECTS, make_repository
from agentdash.tui.demo.folder import STATE, enter_demo, make_demo
from agentdash.tui.panes.checklist import TOUR
from agentdash.tui.terminal.watchdog import guard

SESSIONS: tuple[tuple[str, str, str, dict[str, bool]], ...] = (
    ("codex", "api", "Fix the flaky login test and add a regression test", {}),
    ("claude", "web", "Add dark mode to the settings page", {}),
    ("codex", "infra", "Upgrade the build and run everything in parallel", {"live": False}),
    ("claude", "api", "Split the monolith into services, step by step", {}),
    ("codex", "web", "Start a dev server and check the home page", {"live": False}),
    ("codex", "infra", "Find out why the build fails, and make it pass", {}),
    ("claude", "web", "Split the settings module without changing what it does", {}),
    ("claude", "infra", "Set up the service for the invoices", {}),
    ("codex", "api", "Port the tests to pytest, one worker per folder", {}),
)
"""Agent, project folder, prompt and options of the sessions; a script lists each prompt, and the last leads workers."""

LIMITS = {"limits": {"wall_seconds": 1800.0}}
"""Limits that end the sessions on their own if a demo whose folder is kept is killed with -9."""

ENDING = "Stopping the demo sessions…"


def run_demo(directory: Path, *, kept: bool) -> int:
    """Start scripted sessions below ``directory``, show them, and stop the running ones at the end.

    Returns the dashboard's exit code.  Nothing outside the folder is changed.  ``kept`` is true if the folder stays.

    Raises:
        UsageError: there is no terminal to draw on, or the folder contains files that are not a demo's.
    """
    from agentdash.tui.startup import check_terminal, open_dashboard

    check_terminal()
    home, projects = directory / STATE, directory / PROJECTS
    make_demo(directory)
    enter_demo(directory)
    with nullcontext() if kept else watched(directory), SessionManager(home) as manager:
        try:
            for agent, project, prompt, options in SESSIONS:
                folder = make_repository(projects / project)
                manager.spawn(Start(prompt, agent=agent, cwd=str(folder), options=LIMITS | options))
            os.chdir(projects)  # a new session starts in a folder in which the demo's agents may work
            return open_dashboard(manager, tour=TOUR)
        finally:
            _end(manager, kept_in=home if kept else None)


def _end(manager: SessionManager, kept_in: Path | None) -> None:
    """Kill the running sessions, and print the result in one line."""
    guard().rest()
    # A closed terminal sends SIGHUP again and is not writable; the sessions must be ended even then.
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    _say(f"\r{ENDING}", end="\r")  # over the ^C of a terminal
    for problem in kill_sessions(manager):
        _say(f"agentdash: {problem}")
    last = f"Demo sessions stopped; kept in {kept_in}." if kept_in else "Demo sessions removed."
    _say(last.ljust(len(ENDING)))


def _say(line: str, end: str = "\n") -> None:
    with suppress(OSError):
        print(line, file=sys.stderr, end=end, flush=True)  # noqa: T201 - the screen is closed
