"""The demo: the dashboard with scripted agents at work, in a folder of its own.

The folder has projects, settings, and the programs ``codex`` and ``claude`` with which the PATH of the demo begins.
These are launchers that name the folder, so that they play scripts nowhere else.
"""

import os
import shlex
import signal
import sys
from contextlib import suppress
from pathlib import Path

from agentdash.sessions.model.errors import AgentdashError, UsageError
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager
from agentdash.tui.demo import claude, codex
from agentdash.tui.demo.files import PROJECTS, replace
from agentdash.tui.panes.checklist import TOUR
from agentdash.tui.terminal.watchdog import guard

MARK, BIN, STATE, SETTINGS = "agentdash-demo", "bin", "state", "config.toml"
"""The file that marks the folder, and the others in it."""

_LAUNCHERS = {
    "codex": ("agentdash.tui.demo.codex", True),
    "claude": ("agentdash.tui.demo.claude", True),
    "agentdash": ("agentdash", False),
}
"""The module of each program, and whether it is told the folder and the speed."""

_SETTINGS = f"""\
# The settings of this demo.
default_agent = "codex"

[queue]
max_running = 16

[agents.codex]
model = "{codex.MODEL}"
approvals = "ask"

[agents.claude]
model = "{claude.MODEL}"
approvals = "ask"
"""

_OWN = {"CODEX_HOME": "codex", "CLAUDE_CONFIG_DIR": "claude", "AGENTDASH_HOME": STATE, "AGENTDASH_CONFIG": SETTINGS}
"""Variables that name something below the folder."""

_NOT_PASSED_ON = ("AGENTDASH_PROFILE", "ANTHROPIC_MODEL", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL")
"""Variables of the user that mean something to the adapters."""


def make_demo(folder: Path, speed: float = 1.0) -> None:
    """Make the folder of a demo, or renew that of an earlier one.

    Raises:
        UsageError: the folder contains files, and no demo made it.
    """
    if folder.exists() and not (folder / MARK).is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} contains other files. Name a new or an empty folder.")
    for name in ("", STATE, PROJECTS, BIN):
        (folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
    replace(folder / MARK, "The folder of a demo of agentdash.\n")
    for name, (module, is_agent) in _LAUNCHERS.items():
        words = [sys.executable, "-P", "-m", module, *([str(folder), f"{speed:g}"] if is_agent else [])]
        replace(folder / BIN / name, f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        (folder / BIN / name).chmod(0o700)
    if not (folder / SETTINGS).exists():
        replace(folder / SETTINGS, _SETTINGS)


def enter_demo(folder: Path) -> None:
    """Let this process, and all that it starts, find the programs and the files of the demo alone."""
    for name, below in _OWN.items():
        os.environ[name] = str(folder / below)
    for name in _NOT_PASSED_ON:
        os.environ.pop(name, None)
    os.environ["PATH"] = f"{folder / BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}"


SESSIONS: tuple[tuple[str, str, str, dict[str, bool]], ...] = (
    ("codex", "api", "Fix the flaky login test and add a regression test", {}),
    ("claude", "web", "Add dark mode to the settings page", {}),
    ("codex", "infra", "Upgrade the build and run everything in parallel", {"live": False}),
    ("claude", "api", "Split the monolith into services, step by step", {}),
    ("codex", "web", "Start a dev server and check the home page", {"live": False}),
    ("claude", "infra", "Find out why the build fails, and make it pass", {}),
    ("claude", "web", "Split the settings module without changing what it does", {}),
    ("codex", "infra", "Set up the service for the invoices", {}),
    ("codex", "api", "Port the tests to pytest, one worker per folder", {}),
)
"""Agent, project folder, prompt and options of the sessions; a script lists each prompt, and the last leads workers."""

LIMITS = {"limits": {"wall_seconds": 1800.0}}
"""Limits that end the sessions on their own if the demo is killed with -9."""

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
    with SessionManager(home) as manager:
        for agent, project, prompt, options in SESSIONS:
            folder = projects / project
            folder.mkdir(exist_ok=True)
            manager.spawn(Start(prompt, agent=agent, cwd=str(folder), options=LIMITS | options))
        os.chdir(projects)  # a new session starts in a folder in which the demo's agents may work
        try:
            return open_dashboard(manager, tour=TOUR)
        finally:
            _end(manager, kept_in=home if kept else None)


def _end(manager: SessionManager, kept_in: Path | None) -> None:
    """Kill the running sessions, and print the result in one line.

    There is no grace period: a script has nothing to save, and the user waits for the shell.
    """
    guard().rest()
    # A closed terminal sends SIGHUP again and is not writable; the sessions must be ended even then.
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    _say(ENDING, end="\r")
    sessions = [*manager.reader.sessions(), *manager.reader.sessions(archived=True)]
    running = [session.id for session in sessions if session.has_process]
    for _, answer in manager.stop_family(running, NOW):  # the lead starts workers until it is stopped
        if isinstance(answer, AgentdashError) or answer.left:
            _say(f"agentdash: {answer if isinstance(answer, AgentdashError) else answer.summary()}")
    last = f"Demo sessions stopped; kept in {kept_in}." if kept_in else "Demo sessions removed."
    _say(last.ljust(len(ENDING)))


def _say(line: str, end: str = "\n") -> None:
    with suppress(OSError):
        print(line, file=sys.stderr, end=end, flush=True)  # noqa: T201 - the screen is closed
