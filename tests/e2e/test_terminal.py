"""Terminals that go away take the dashboard with them, without an orphan or a complaint; and one without a size."""

import re
import signal
import sys

import pytest

DASHBOARD = [sys.executable, "-m", "agentdash"]


@pytest.fixture
def silent(manager):
    """A session that runs on."""
    session = manager.run(["sleep", "600"], title="the long build")
    manager.started(session.id)
    yield session
    manager.stop(session.id)


def ended_well(outer, manager):
    """The program ended by itself, and reported no error."""
    logs = {log.name: log.read_text() for log in manager.reader.home.glob("*.log")}
    assert (outer.exit_code, logs) == (0, {})


@pytest.mark.parametrize("controlling", [True, False])
def test_a_dashboard_ends_with_its_terminal(open_outer, manager, silent, wait_until, controlling):
    outer = open_outer(DASHBOARD, controlling=controlling, TERM="xterm-256color")
    wait_until(lambda: b"the long build" in outer.received, what="the table")
    outer.pull_plug()
    wait_until(lambda: outer.exit_code is not None, what="its end")
    ended_well(outer, manager)
    assert manager.reader.get(silent.id).status == "running"


def test_a_dashboard_ends_with_a_terminal_that_took_nothing_more(open_outer, manager, silent, wait_until):
    outer = open_outer(DASHBOARD, TERM="xterm-256color")
    wait_until(lambda: b"the long build" in outer.received, what="the table")
    # Far more than a terminal and the dashboard's own queue hold, and no process reads it.
    for number in range(60):
        manager.housekeeping.rename(silent.id, f"{number:03} " + "\u4e00" * 90)
        outer.type(b"?\x1b")
    outer.pull_plug()
    wait_until(lambda: outer.exit_code is not None, what="its end")
    ended_well(outer, manager)
    assert manager.reader.get(silent.id).status == "running"


def test_a_terminal_without_a_size_is_drawn_on_and_then_left_alone(open_outer, manager, silent, wait_until):
    outer = open_outer(DASHBOARD, size=(0, 0), TERM="xterm-256color")
    wait_until(lambda: b"the long build" in outer.received, what="the table")
    outer.type(b"\x1bOR")
    wait_until(lambda: re.search(rb"[ m]0 B/s", outer.received), what="the meter to read a quiet screen")
    outer.type(b"q")
    wait_until(lambda: outer.exit_code is not None, what="its end")


def test_a_terminal_that_goes_away_and_wakes_the_dashboard_lets_it_end(open_outer, manager, silent, wait_until):
    outer = open_outer(DASHBOARD, TERM="xterm-256color")
    wait_until(lambda: b"the long build" in outer.received, what="the table")
    outer.pull_plug()

    def woken_until_its_end():
        # What tmux sends to a pane that it closes, beside SIGHUP; again, because it matters when it comes.
        outer.send_signal(signal.SIGCONT)
        return outer.exit_code is not None

    wait_until(woken_until_its_end, what="its end")
    ended_well(outer, manager)
