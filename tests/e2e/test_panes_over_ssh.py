"""The usual place of the dashboard: tmux panes on another machine, reached by a real sshd."""

import os
import re
import subprocess
import sys
import uuid

import pytest
from waiting import StuckError

from agentdash.sessions.rules.launch import Start

pytestmark = pytest.mark.usefixtures("scripted_agent")

AGENTDASH = f"{sys.executable} -m agentdash"


class Panes:
    """A tmux on the other machine with panes side by side, seen from there and from home."""

    def __init__(self, tmux, outer, name, wait_until):
        self.outer = outer
        self._base = [tmux, "-L", name, "-f", "/dev/null"]
        self._wait_until = wait_until

    def pane(self, number):
        done = subprocess.run(
            [*self._base, "capture-pane", "-p", "-t", f":0.{number}"], check=False, capture_output=True, text=True
        )
        return done.stdout

    def shows(self, number, *texts):
        def there():
            pane = self.pane(number)
            return all(text in pane for text in texts)

        try:
            self._wait_until(there, what="a text in a pane")
        except StuckError:
            pytest.fail(f"waited in vain for {texts} in pane {number}:\n{self.pane(number)}")

    def keys(self, number, *keys):
        subprocess.run([*self._base, "send-keys", "-t", f":0.{number}", *keys], check=True)

    def close(self):
        subprocess.run([*self._base, "kill-server"], check=False, capture_output=True)


@pytest.fixture
def panes(ssh, open_outer, require_tool, manager, tmp_path, wait_until):
    """Opens a table on the left and steps on the right, through SSH."""
    opened = []

    def start(left, right):
        tmux, name = require_tool("tmux"), f"agentdash-test-{uuid.uuid4().hex[:12]}"
        there = {
            "AGENTDASH_HOME": manager.reader.home,
            "AGENTDASH_CONFIG": tmp_path / "config.toml",
            "LC_ALL": "C.UTF-8",
            "PYTHONPATH": os.environ["PYTHONPATH"],
        }
        env = " ".join(f"{key}={value}" for key, value in there.items())
        command = f"env {env} {tmux} -L {name} -f /dev/null new-session '{left}' \\; split-window -h '{right}'"
        outer = open_outer([*ssh, command], TERM="xterm-256color")
        opened.append(Panes(tmux, outer, name, wait_until))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def test_the_dashboard_on_the_left_and_steps_on_the_right(panes, manager, wait_until):
    first = manager.spawn(
        Start("Fix the login test [[script:done]]", agent="scripted", options={"script": "done", "speed": 40.0})
    )
    manager.wait([first.id], timeout=60)
    both = panes(f"{AGENTDASH} table", f"{AGENTDASH} watch {first.id}")
    both.shows(0, "Fix the login test")
    both.shows(1, "Fix the login test", "The test read the real clock")
    home = both.outer
    wait_until(lambda: b"The test read the real clock" in home.received, what="the steps at home")

    manager.prompts.inject(first.id, "And the other test? [[script:quick]]")
    manager.wait([first.id], timeout=60)
    both.shows(1, "── turn 2 ──", "And the other test?")
    both.shows(0, "And the other test?")

    seen = len(home.received)
    both.keys(0, "/", *"state:failed", "Enter")
    both.shows(0, "No matches.", "0 of 1")
    wait_until(lambda: b"No matches." in home.received[seen:], what="the answer at home")
    both.keys(0, "Escape")  # alone: together with what follows it would be Alt
    both.shows(0, "✓", "Fix the login")
    both.keys(0, "Enter")
    both.shows(0, "And the other test?")


def test_a_line_that_breaks_ends_nothing(panes, manager, wait_until):
    session = manager.run(["sleep", "600"], title="the long build")
    both = panes(AGENTDASH, f"{AGENTDASH} watch {session.id}")
    both.shows(0, "RUNNING 1", "the long build")
    both.outer.close()
    manager.run(["true"], title="begun meanwhile")
    both.shows(0, "begun meanwhile", "RUNNING 1")
    assert manager.reader.get(session.id).status == "running"


def test_nothing_is_sent_while_nothing_happens(panes, manager, wait_until):
    session = manager.run(["true"], title="over")
    manager.wait([session.id], timeout=60)
    both = panes(f"{AGENTDASH} table", f"{AGENTDASH} watch {session.id}")
    both.shows(1, "done")
    both.shows(0, "SEEN 1", "over")  # the other pane shows it to the user
    # Each pane draws its clock of ages once more at most; then a marker must be all that comes.
    both.keys(0, "f3")
    both.shows(0, "B/s")
    wait_until(lambda: re.search(r"\b0 B/s", both.pane(0)), what="a quiet screen")
