"""Take the pictures of the documents: the real dashboard with real sessions of the demo's agents.

``make screenshots`` writes each scene as PNG: Textual makes an SVG, and headless Chromium draws it.
"""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import usage_scene
from screen import Picture, select, shown
from textual.pilot import Pilot

from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.settings.config import DashboardSettings
from agentdash.tui.app import Dashboard
from agentdash.tui.demo.files import PROJECTS
from agentdash.tui.demo.folder import enter_demo, make_demo
from agentdash.tui.panes.checklist import TOUR
from agentdash.tui.state.ui_state import FILE

HERE = Path(__file__).parent
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")

SESSIONS = (
    ("web", "claude", "Rename the store and its tests"),
    ("api", "codex", "Write the migration for the orders table"),
    ("web", "codex", "Start a dev server and check the home page"),
    ("infra", "claude", "Port the tests of api"),
    ("infra", "codex", "Upgrade the build and run everything in parallel"),
    ("api", "claude", "Split the monolith into services, step by step"),
    ("web", "claude", "Add dark mode to the settings page"),
    ("auth", "codex", "Fix the flaky login test and add a regression test"),
)
"""Project, agent and prompt; a prompt that no script of the demo lists begins the first one's."""

RUNNING = {SESSIONS[3][2], SESSIONS[4][2], SESSIONS[5][2]}
SPEED = 4.0

ASKING = ("infra", "Find out why the build fails, and make it pass")
"""A live session that asks the user: the project and the prompt."""

ASK_SECONDS = 60.0
"""Time within which it asks, and the lead of :data:`FAMILY` has started its workers."""


async def table(app: Dashboard, pilot: Pilot[Any]) -> None:
    """Show the dashboard as it opens."""


async def viewer(_: Dashboard, pilot: Pilot[Any]) -> None:
    """Show a trajectory from its beginning."""
    await pilot.press("enter", "g", "g")


async def confirm(app: Dashboard, pilot: Pilot[Any]) -> None:
    """Show the question before a stop, with the process tree."""
    select(app, "Upgrade the build")
    await pilot.press("x")
    await shown(app, pilot, "n cancel")


async def receipt(app: Dashboard, pilot: Pilot[Any]) -> None:
    """Show the processes that a stop ended."""
    await confirm(app, pilot)
    await pilot.press("y")
    await shown(app, pilot, "0 left")


async def groups(app: Dashboard, pilot: Pilot[Any]) -> None:
    """Show filtered sessions, grouped by folder."""
    await pilot.press("slash", *"is:live,attention !dark", "enter", "z", "g", "z", "g", "g", "g", "j")
    await shown(app, pilot, "by folder")


async def queue(app: Dashboard, pilot: Pilot[Any]) -> None:
    """Show the prompts that wait for the session at work."""
    select(app, "monolith")
    await pilot.pause(0.5)
    await pilot.press("g", "q")
    await shown(app, pilot, "send now")


async def at_first_answer(app: Dashboard, pilot: Pilot[Any]) -> None:
    """Put the cursor on the answer of the first turn of a session with several turns."""
    select(app, "Rename the store")
    await pilot.pause(0.5)
    await pilot.press("enter", "g", "g")
    await pilot.press("2", "g", "g", "0")


async def going_back(app: Dashboard, pilot: Pilot[Any]) -> None:
    """Show the facts before a step back."""
    await at_first_answer(app, pilot)
    await pilot.press("m", "b")
    await shown(app, pilot, "y go back")


async def gone_back(app: Dashboard, pilot: Pilot[Any]) -> None:
    """Show the steps that a step back cut."""
    await going_back(app, pilot)
    await pilot.press("y")
    await shown(app, pilot, "takes it back")
    await pilot.press("G")


async def card(app: Dashboard, pilot: Pilot[Any]) -> None:
    """Show the card of the session that asks."""
    select(app, ASKING[1])
    await pilot.press("a")
    await shown(app, pilot, "deny")


QUEUED = ("When you are done, update the changelog", "Then run the whole test suite and report what fails")
"""Prompts that wait for the end of the turn of the session at work."""

SCENES: dict[str, Picture] = {
    "dashboard-160-dark": ((160, 45), "dark", table),
    "dashboard-80-light": ((80, 24), "light", table),
    "viewer": ((120, 40), "dark", viewer),
    "queue": ((120, 36), "dark", queue),
    "groups": ((120, 35), "dark", groups),
    "cut": ((120, 36), "dark", gone_back),
    "receipt": ((100, 30), "dark", receipt),
}
"""Size, theme and preparation of each picture; the last one ends a session."""


LIVE: dict[str, Picture] = {"ask": ((100, 30), "dark", card)}
"""A live session that asks."""


LEAD = "Port the tests to pytest, one worker per folder"
"""The prompt of the session that leads the workers of :data:`FAMILY`."""


async def family(app: Dashboard, pilot: Pilot[Any]) -> None:
    """Show a lead with its workers below it, and its steps that started them."""
    await pilot.press("z", "g")
    select(app, LEAD)
    await shown(app, pilot, "├ Port the")


FAMILY: dict[str, Picture] = {"family": ((160, 30), "dark", family)}
"""A lead and its workers at work."""


def main() -> int:
    """Take all pictures."""
    with scratch_home() as home:
        with SessionManager(home / "empty", home / "config.toml") as manager:
            usage_scene.prepare(manager)
            for name, scene in usage_scene.SCENES.items():
                asyncio.run(take(manager, name, scene))
        for name, begin, scenes in (
            ("code", start, SCENES),
            ("work", start_family, FAMILY),
            ("live", start_live, LIVE),
        ):
            with a_demo(home / name) as manager:
                begin(manager, home / name / PROJECTS)
                for scene, picture in scenes.items():
                    asyncio.run(take(manager, scene, picture))
    return 0


@contextmanager
def a_demo(folder: Path) -> Iterator[SessionManager]:
    """Provide the manager of a new demo, whose folder no picture names, and stop its sessions at the end."""
    make_demo(folder, SPEED)
    enter_demo(folder)
    with SessionManager() as manager, patch("agentdash.tui.screens.main.usual_home", lambda: manager.reader.home):
        try:
            yield manager
        finally:
            for session in manager.reader.sessions():
                manager.stop(session.id, NOW)


def start_family(manager: SessionManager, code: Path) -> None:
    """Start a lead that starts four workers, and wait until one of them has failed.

    Raises:
        TimeoutError: that takes longer than ``ASK_SECONDS``.
    """
    (code / "api").mkdir(parents=True, exist_ok=True)
    manager.spawn(Start(LEAD, agent="codex", cwd=str(code / "api")))
    deadline = monotonic() + ASK_SECONDS
    while len(manager.reader.sessions()) < 5 or not manager.reader.sessions(statuses={Status.FAILED}):
        if monotonic() > deadline:
            raise TimeoutError(f"the lead has no failed worker within {ASK_SECONDS:.0f} s")
        asyncio.run(asyncio.sleep(0.2))


def start_live(manager: SessionManager, code: Path) -> None:
    """Start a live session, and wait until it asks.

    Raises:
        TimeoutError: it does not ask within ``ASK_SECONDS``.
    """
    project, prompt = ASKING
    (code / project).mkdir(parents=True, exist_ok=True)
    manager.spawn(Start(prompt, agent="claude", cwd=str(code / project)))
    deadline = monotonic() + ASK_SECONDS
    while not manager.reader.sessions()[0].asking:
        if monotonic() > deadline:
            raise TimeoutError(f"no ask within {ASK_SECONDS:.0f} s")
        asyncio.run(asyncio.sleep(0.1))


def start(manager: SessionManager, code: Path) -> None:
    """Start sessions with different outcomes, and wait until each is as far as the pictures need it."""
    for project, agent, prompt in SESSIONS:
        (code / project).mkdir(parents=True, exist_ok=True)
        manager.spawn(Start(prompt, agent=agent, cwd=str(code / project), options={"live": False}))
    begin_repository(code / "auth")
    sessions = {session.task: session for session in manager.reader.sessions()}
    manager.wait([session.id for prompt, session in sessions.items() if prompt not in RUNNING], timeout=60)
    first = sessions[SESSIONS[0][2]]
    manager.prompts.inject(first.id, "And the same for the cache")
    manager.wait([first.id], timeout=60)
    manager.housekeeping.mark_seen(first.id)
    busy = next(session for session in manager.reader.sessions() if "monolith" in session.task)
    while len(manager.reader.steps.trajectory(busy.id)) < 40:
        asyncio.run(asyncio.sleep(0.2))
    for prompt in QUEUED:
        manager.prompts.inject(busy.id, prompt)
    assert all(s.status is Status.RUNNING for s in manager.reader.sessions() if "monolith" in s.task)


def begin_repository(folder: Path) -> None:
    """Create a repository with one commit, so that git has a state to show."""
    author = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    subprocess.run(["git", "-C", str(folder), *author, "commit", "-q", "--allow-empty", "-m", "Begin"], check=True)


async def take(manager: SessionManager, name: str, scene: Picture) -> None:
    """Take one picture."""
    size, theme, prepare = scene
    (manager.reader.home / FILE).unlink(missing_ok=True)  # each picture begins with the dashboard's initial state
    tour = TOUR if name == "dashboard-160-dark" else ()
    app = Dashboard(manager, settings=DashboardSettings(theme=theme), tour=tour)  # type: ignore[arg-type]
    async with app.run_test(size=size) as pilot:
        await shown(app, pilot, "? help")
        if sessions := manager.reader.sessions():
            while len(app.home.table._rows) < len(sessions):
                await pilot.pause(0.05)
            if name in SCENES:
                select(app, "monolith" if size[0] < 100 else "Fix the flaky")
        await pilot.pause(0.5)
        await prepare(app, pilot)
        await pilot.pause(0.5)
        svg = app.export_screenshot(title=f"agentdash, {size[0]} x {size[1]}")
    # No fonts from the network: the reader's own monospaced font is used.
    svg = re.sub(r"@font-face\s*{.*?}\s*", "", svg, flags=re.DOTALL)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.svg"
        path.write_text(svg, encoding="utf-8")
        as_png(path, HERE / f"{name}.png")
    print(f"{name}.png")


def as_png(svg: Path, picture: Path) -> None:
    """Draw an SVG as a PNG.

    Raises:
        FileNotFoundError: Chromium is not installed.
    """
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if chromium is None:
        raise FileNotFoundError("no Chromium, no pictures: install one of " + ", ".join(CHROMIUM))
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg.read_text(encoding="utf-8")).groups()  # type: ignore[union-attr]
    with tempfile.TemporaryDirectory() as profile:
        options = [
            "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic",
            f"--user-data-dir={profile}", f"--window-size={round(float(width))},{round(float(height))}",
            f"--screenshot={picture}",
        ]  # fmt: skip
        subprocess.run([chromium, *options, svg.as_uri()], check=True, capture_output=True, timeout=60)


@contextmanager
def scratch_home() -> Iterator[Path]:
    """Change to a temporary home, so that no path of this machine is in the pictures."""
    with tempfile.TemporaryDirectory(prefix="agentdash-pictures-", ignore_cleanup_errors=True) as folder:
        os.environ["HOME"] = folder
        os.chdir(folder)
        yield Path(folder)


if __name__ == "__main__":
    sys.exit(main())
