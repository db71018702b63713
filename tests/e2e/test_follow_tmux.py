"""``agentdash watch --follow``: the session that is selected in the table of the same tmux window."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import StuckError

NONE = "No table in this tmux window."


class Windows:
    """Windows of one tmux server, each with panes side by side."""

    def __init__(self, run, wait_until):
        self._run = run
        self._wait_until = wait_until

    def split(self, command, window=0):
        """Open another pane, which gets the keys."""
        self._run("split-window", "-h", "-t", f":{window}", f"{command}; echo exited $?; cat")

    def open(self, command):
        """Open another window."""
        self._run("new-window", "-d", f"{command}; echo exited $?; cat")

    def keys(self, place, *keys):
        self._run("send-keys", "-t", f":{place}", *keys)

    def pane(self, place):
        return self._run("capture-pane", "-p", "-t", f":{place}")

    def shows(self, place, *texts):
        try:
            self._wait_until(lambda: all(text in self.pane(place) for text in texts), what=f"{texts} in {place}")
        except StuckError:
            pytest.fail(f"waited in vain for {texts} in {place}:\n{self.pane(place)}")

    def move_to(self, text, place, other):
        """Move in the table of one pane until another pane shows a text."""
        for key in ("j", "k"):
            self.keys(place, key)
            try:
                return self._wait_until(lambda: text in self.pane(other), timeout=10, what=text)
            except StuckError:
                continue
        pytest.fail(f"{other} does not show {text!r}:\n{self.pane(other)}")


@pytest.fixture
def windows(terminal, wait_until):
    return Windows(terminal._run, wait_until)


@pytest.fixture
def two(manager):
    """Two commands that have ended, and printed what only their steps show."""
    for word in ("apples", "pears"):
        manager.wait([manager.run(["sh", "-c", f"echo many {word} $((40 + 2))"], title=f"pick {word}").id], timeout=60)


def table_of(manager):
    """The files of the tables that run, by the ids in them."""
    return {path.read_text().strip(): path for path in (Path(manager.reader.home) / "selected").glob("*.selected")}


@pytest.mark.smoke
@pytest.mark.usefixtures("two")
def test_a_watch_shows_what_is_selected_in_the_table_beside_it(terminal, windows, manager, wait_until):
    terminal.start("agentdash ls --table")
    windows.shows("0.0", "pick apples", "pick pears")
    windows.split("agentdash watch --follow")
    windows.shows("0.1", "many")
    windows.move_to("many apples 42", "0.0", "0.1")
    windows.move_to("many pears 42", "0.0", "0.1")
    assert [oct(path.stat().st_mode & 0o777) for path in table_of(manager).values()] == ["0o600"]
    windows.keys("0.0", "q")
    windows.shows("0.0", "exited 0")
    windows.shows("0.1", NONE)
    assert table_of(manager) == {}
    windows.keys("0.1", "q")
    windows.shows("0.1", "exited 0")


@pytest.mark.usefixtures("two")
def test_without_a_table_a_watch_says_so_and_waits_for_one(terminal, windows):
    terminal.start("agentdash watch --follow")
    windows.shows("0.0", NONE)
    windows.split("agentdash --read-only")
    windows.shows("0.0", "many")


@pytest.mark.usefixtures("two")
def test_tables_of_other_windows_are_not_followed(terminal, windows):
    terminal.start("agentdash watch --follow")
    windows.open("agentdash ls --table")
    windows.shows("1.0", "pick apples", "pick pears")
    windows.keys("1.0", "j")
    windows.shows("0.0", NONE)
    windows.split("agentdash watch --follow", window=1)
    windows.shows("1.1", "many")
    windows.shows("0.0", NONE)


@pytest.mark.usefixtures("two")
def test_a_table_with_a_name_is_followed_from_any_window(terminal, windows):
    terminal.start("agentdash watch --follow left")
    windows.shows("0.0", "No table with the name left runs.")
    windows.open("agentdash ls --table --name left")
    windows.shows("0.0", "many")
    windows.move_to("many apples 42", "1.0", "0.0")
    windows.move_to("many pears 42", "1.0", "0.0")


@pytest.mark.usefixtures("two")
def test_a_table_that_was_killed_counts_no_more(terminal, windows, manager, wait_until):
    terminal.start("agentdash ls --table")
    windows.split("agentdash watch --follow")
    windows.shows("0.1", "many")
    (path,) = table_of(manager).values()
    os.kill(int(path.name.split(".")[2]), signal.SIGKILL)
    windows.shows("0.1", NONE)
    assert path.exists()
    windows.split("agentdash ls --table")
    windows.shows("0.1", "many")
    wait_until(lambda: not path.exists(), what="the file of the killed table to be deleted")


def test_outside_tmux_a_name_is_needed(monkeypatch):
    monkeypatch.delenv("TMUX", raising=False)
    done = subprocess.run(
        [sys.executable, "-m", "agentdash", "watch", "--follow"], check=False, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "Name the table" in done.stderr
