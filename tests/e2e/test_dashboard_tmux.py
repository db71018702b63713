"""The dashboard in a real terminal, driven from the keyboard, over the real manager and the scripted agent."""

import subprocess
import sys

import pytest

from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.manager import SessionManager
from agentdash.tui.demo.start import SESSIONS

pytestmark = pytest.mark.usefixtures("scripted_agent")


@pytest.mark.smoke
def test_the_whole_job_from_the_keyboard(terminal, manager, leftovers):
    terminal.start("agentdash")
    terminal.shows("No sessions yet", "n new", "q quit")

    terminal.keys("n")
    terminal.shows("New session", "folder", "Esc cancel")
    terminal.type("Fix the login test, quickly [[script:quick]]")
    terminal.shows("quickly")
    terminal.keys("Tab")
    terminal.choose("scripted")
    terminal.keys("Tab", "Enter")
    terminal.shows("✓ done ·", "── turn 1 ──", "(turn 2)")

    terminal.keys("i")
    terminal.type("And now something long, please [[script:long]]")
    terminal.shows("something long")
    terminal.keys("Enter")
    terminal.shows("● running", "── turn 2 ──", "(queued #1, after turn 2)")
    (session,) = manager.reader.sessions()
    terminal.shows("✦ Module 1 ", "x stop")

    terminal.keys("x")
    terminal.shows('Stop "', "scripted (turn 2)", "n cancel")
    terminal.keys("Enter")
    terminal.lacks('Stop "')
    terminal.shows("● running", "(queued #1, after turn 2)")
    terminal.keys("x")
    terminal.shows('Stop "')
    terminal.keys("y")
    terminal.shows("ended (", "0 left", "Enter close")
    terminal.keys("Enter")
    terminal.lacks("Enter close")
    terminal.shows("■ stopped", "(turn 3)")

    terminal.keys("q")
    terminal.shows("exited 0")
    assert manager.reader.get(session.id).status == "stopped"
    assert leftovers(session.id) == []


@pytest.mark.smoke
def test_quitting_leaves_the_sessions_alone(terminal, manager):
    session = manager.spawn(Start("Take your time", agent="scripted", options={"script": "long"}))
    terminal.start("agentdash", width=80, height=24)
    terminal.shows("RUNNING 1", "Take your time")
    terminal.keys("q")
    terminal.shows("exited 0")
    assert manager.reader.get(session.id).status.live


def test_resizing_while_it_runs(terminal, manager):
    manager.spawn(Start("Take your time", agent="scripted", options={"script": "long"}))
    terminal.start("agentdash")
    terminal.shows("● running", "✦ Module", "q quit")
    terminal.resize(50, 24)
    terminal.lacks("✦ Module")
    terminal.shows("q quit")
    terminal.keys("Enter")
    terminal.shows("✦ Module")
    terminal.resize(150, 40)
    terminal.shows("● running", "✦ Module", "agentdash")


def test_what_other_front_ends_do_appears(terminal, manager):
    terminal.start("agentdash")
    terminal.shows("No sessions yet")
    session = manager.spawn(Start("Started elsewhere", agent="scripted", options={"script": "long"}))
    terminal.shows("● running", "Started elsewhere")
    manager.stop(session.id)
    terminal.shows("■ stopped")
    manager.delete(session.id)
    terminal.shows("1 in the trash")


def test_two_dashboards_and_the_command_line_see_each_other(open_terminal, manager):
    first, second, line = open_terminal(), open_terminal(), open_terminal()
    first.start("agentdash")
    second.start("agentdash", width=80, height=24)
    line.start("sh")
    for one in (first, second):
        one.shows("No sessions yet")

    line.type("agentdash spawn --agent scripted --set script=long 'Started in a shell'")
    line.keys("Enter")
    for one in (first, second):
        one.shows("RUNNING 1", "Started in a shell")

    second.keys("x")
    second.shows("n cancel")
    second.keys("y")
    second.shows("0 left", "Enter close")
    first.shows("■ stopped", "(turn 2)")
    line.type("agentdash ls")
    line.keys("Enter")
    line.shows("■ stopped")

    first.keys("i")
    first.type("Once more [[script:quick]]")
    first.keys("Enter")
    second.keys("Enter")
    second.shows("DONE, UNREAD 1")
    line.type("clear; agentdash trajectory --messages @last")
    line.keys("Enter")
    line.shows("Once more")


def test_ctrl_z_suspends_and_fg_comes_back(terminal, manager):
    terminal.start("bash --norc")
    terminal.type("agentdash")
    terminal.keys("Enter")
    terminal.shows("No sessions yet")
    terminal.keys("C-z")
    terminal.shows("Stopped")
    terminal.type("fg")
    terminal.keys("Enter")
    terminal.shows("No sessions yet", "q quit")
    terminal.keys("q")
    terminal.lacks("No sessions yet")


def test_the_terminal_is_as_it_was(terminal, manager):
    terminal.start("agentdash; stty -a")
    terminal.shows("No sessions yet")
    terminal.keys("F2")
    terminal.shows("Mouse on")
    assert (terminal.told("alternate_on"), terminal.told("mouse_standard_flag")) == ("1", "1")
    terminal.keys("q")
    assert " echo " in terminal.shows("exited 0", "speed")
    state = {name: terminal.told(name) for name in ("alternate_on", "cursor_flag", "mouse_any_flag")}
    assert state == {"alternate_on": "0", "cursor_flag": "1", "mouse_any_flag": "0"}


def test_a_crash_restores_the_terminal_and_names_the_log(terminal, tmp_path):
    (tmp_path / "crash.py").write_text(
        "from agentdash.widgets.table import session_table\n"
        "from agentdash.__main__ import main\n"
        "def tick(self): raise RuntimeError('made to crash')\n"
        "session_table.SessionTable.tick = tick\n"
        "main()\n"
    )
    terminal.start("python crash.py; stty -a")
    screen = terminal.shows("the dashboard crashed; sessions keep running", "dashboard.log", "exited 0")
    assert " echo " in screen
    assert "Traceback" not in screen
    assert (terminal.told("alternate_on"), terminal.told("cursor_flag")) == ("0", "1")


@pytest.mark.smoke
def test_the_demo_ends_what_it_started(terminal, tmp_path, leftovers):
    terminal.start("agentdash demo --dir demo")
    terminal.shows("Split the mono", "✗ 1 failed", "running")
    terminal.keys("q")
    screen = terminal.shows("exited 0", "kept in", str(tmp_path / "demo" / "state"))
    assert len(screen.split("exited 0")[0].strip().splitlines()) == 1
    with SessionManager(tmp_path / "demo" / "state") as manager:
        found = manager.reader.sessions()
    assert len(found) >= len(SESSIONS)
    assert all(session.status.ended for session in found)
    assert not any(leftovers(session.id) for session in found)


def test_a_demo_whose_terminal_is_closed_leaves_nothing(terminal, tmp_path, leftovers, wait_until):
    terminal.start("agentdash demo --dir demo")
    terminal.shows("running", "Split the mono")
    with SessionManager(tmp_path / "demo" / "state") as manager:
        terminal.close()
        wait_until(lambda: all(s.status.ended and not s.left for s in manager.reader.sessions()), what="the end of all")
        assert not any(leftovers(session.id) for session in manager.reader.sessions())


def test_a_terminal_that_cannot_draw_is_told(terminal):
    terminal.start("TERM=dumb agentdash")
    assert "TERM='dumb'" in terminal.shows("exited 2")


def test_the_settings_choose_the_theme_and_a_wrong_one_is_named(terminal, tmp_path):
    settings = tmp_path / "config.toml"
    settings.write_text('[dashboard]\ntheme = "pink"\n')
    terminal.start("agentdash; sed -i s/pink/light/ config.toml; agentdash")
    terminal.shows("No sessions yet")
    terminal.keys("t")
    terminal.shows("Theme: safe-dark")
    terminal.keys("q")
    terminal.shows(f"{settings}:2: dashboard.theme: Invalid enum value 'pink'", "exited 0")


def test_without_a_terminal_it_says_so():
    argv = [sys.executable, "-m", "agentdash"]
    done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 2
    assert "terminal" in done.stderr
