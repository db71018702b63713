"""The dashboard in a real terminal, driven from the keyboard, over the real manager and the demo agent."""

import shlex
import subprocess
import sys
import uuid

import pytest

from agentdash.sessions.manager import SessionManager


class Terminal:
    """One tmux window."""

    def __init__(self, tmux, wait_until):
        self._tmux = [tmux, "-L", f"agentdash-{uuid.uuid4().hex[:8]}", "-f", "/dev/null"]
        self._wait_until = wait_until

    def _run(self, *arguments, check=True):
        return subprocess.run([*self._tmux, *arguments], capture_output=True, text=True, check=check).stdout

    def start(self, *argv, width=160, height=45, **env):
        settings = {"LC_ALL": "C.UTF-8", "TERM": "tmux-256color", **env}
        assignments = [f"{name}={value}" for name, value in settings.items()]
        command = shlex.join(
            ["env", "-u", "COLUMNS", "-u", "LINES", *assignments, sys.executable, "-m", "agentdash", *argv]
        )
        # What comes after it keeps the window open, and tells how it ended.
        self._run("new-session", "-d", "-x", str(width), "-y", str(height), f"{command}; echo EXIT $?; cat")
        return self

    def press(self, *keys):
        self._run("send-keys", *keys)

    def type(self, text):
        self._run("send-keys", "-l", text)

    def resize(self, width, height):
        self._run("resize-window", "-x", str(width), "-y", str(height))

    def screen(self):
        return self._run("capture-pane", "-p")

    def shows(self, *texts):
        """The screen, once it holds all of these."""

        def look():
            screen = self.screen()
            return screen if all(text in screen for text in texts) else None

        try:
            return self._wait_until(look, timeout=30)
        except pytest.fail.Exception:
            pytest.fail(f"waited in vain for {texts}; the screen:\n{self.screen()}")

    def no_longer_shows(self, text):
        self._wait_until(lambda: text not in self.screen(), timeout=30)

    def choose(self, choice):
        """Go through the choices with the right arrow until this one stands in brackets."""
        for _ in range(10):
            screen = self.screen()
            if f"[{choice}]" in screen:
                return
            self.press("Right")
            self._wait_until(lambda before=screen: self.screen() != before)
        pytest.fail(f"{choice} cannot be chosen:\n{self.screen()}")

    def end(self):
        self._run("kill-server", check=False)


@pytest.fixture
def terminal(require_tool, wait_until):
    window = Terminal(require_tool("tmux"), wait_until)
    yield window
    window.end()


@pytest.fixture
def sessions(manager):
    """The state folder that the dashboard works on, as another front end sees it."""
    return manager


def test_the_whole_job_from_the_keyboard(terminal, sessions, leftovers):
    terminal.start()
    terminal.shows("No sessions yet.", "n new", "q quit")

    terminal.press("n")
    terminal.shows("New session", "folder", "Esc cancel")
    terminal.type("Fix the login test, quickly [[demo:quick]]")
    terminal.shows("quickly")
    terminal.press("Tab")
    terminal.choose("demo")
    terminal.press("Tab", "Enter")
    terminal.shows("✓ done new", "── turn 1 ──", "as turn 2")

    terminal.press("i")
    terminal.type("And now something long, please [[demo:long]]")
    terminal.shows("something long")
    terminal.press("Enter")
    terminal.shows("● running", "── turn 2 ──", "session is running")
    (session,) = sessions.sessions()
    terminal.shows("✦ Module 1 ")

    terminal.press("x")
    terminal.shows('Stop "', "demo, turn 2", "n keep (default)")
    terminal.press("Enter")
    terminal.no_longer_shows('Stop "')
    terminal.shows("● running", "session is running")
    terminal.press("x")
    terminal.shows('Stop "')
    terminal.press("y")
    terminal.shows("ended (", "0 left", "Enter close")
    terminal.press("Escape")
    terminal.shows("■ stopped", "as turn 3")

    terminal.press("q")
    terminal.shows("EXIT 0")
    assert sessions.get(session.id).status == "stopped"
    assert leftovers(session.id) == []


def test_quitting_leaves_the_sessions_alone(terminal, sessions):
    session = sessions.spawn("Take your time", agent="demo", options={"script": "long"})
    terminal.start(width=80, height=24)
    terminal.shows("● running", "✦ Module")
    terminal.press("q")
    terminal.shows("EXIT 0")
    assert sessions.get(session.id).status.live


def test_resizing_while_it_runs(terminal, sessions):
    sessions.spawn("Take your time", agent="demo", options={"script": "long"})
    terminal.start()
    terminal.shows("● running", "✦ Module", "q quit")
    terminal.resize(50, 24)
    terminal.no_longer_shows("✦ Module")
    terminal.shows("q quit")
    terminal.press("Enter")
    terminal.shows("✦ Module")
    terminal.resize(100, 30)
    terminal.shows("● running", "✦ Module", "agentdash")


def test_what_other_front_ends_do_appears(terminal, sessions):
    terminal.start()
    terminal.shows("No sessions yet.")
    session = sessions.spawn("Started elsewhere", agent="demo", options={"script": "long"})
    terminal.shows("● running", "Started elsewhere")
    sessions.stop(session.id)
    terminal.shows("■ stopped")
    sessions.delete(session.id)
    terminal.shows("No sessions yet.")


def test_the_demo_ends_what_it_started(terminal, tmp_path, leftovers):
    terminal.start("demo", "--dir", str(tmp_path / "demo"))
    terminal.shows("Split the mono", "✗ 1 failed", "running")
    terminal.press("q")
    terminal.shows("EXIT 0", "Split the monolith", "0 left", str(tmp_path / "demo" / "state"))
    with SessionManager(tmp_path / "demo" / "state") as manager:
        found = manager.sessions()
    assert len(found) == 5
    assert all(session.status.ended for session in found)
    assert [leftovers(session.id) for session in found] == [[]] * 5


def test_a_terminal_that_cannot_draw_is_told(terminal):
    terminal.start(TERM="dumb")
    assert "TERM='dumb'" in terminal.shows("EXIT 2")


def test_without_a_terminal_it_says_so():
    argv = [sys.executable, "-m", "agentdash"]
    done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 2
    assert "terminal" in done.stderr
