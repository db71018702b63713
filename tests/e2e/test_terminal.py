"""Terminals that go away take the dashboard with them, without an orphan or a complaint; and one without a size."""

import re
import signal
import sys
import termios

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


@pytest.mark.smoke
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


STUCK = """
import os, sys, threading, time
from agentdash.__main__ import main
from agentdash.tui.app import Dashboard

def busy(*_):
    os.write(2, b"stuck now")
    while True:
        pass

def waiting(*_):
    os.write(2, b"stuck now")
    time.sleep(1_000_000)

def thread(*_):
    threading.Thread(target=time.sleep, args=(1_000_000,)).start()
    os.write(2, b"stuck now")

Dashboard.action_theme = {how}
sys.argv = ["agentdash", *sys.argv[1:]]
main()
"""
"""The dashboard, stuck from the key of the theme on: in its loop, in a call, or with a thread that its exit awaits."""

ENDS = {
    "SIGTERM": lambda outer: outer.send_signal(signal.SIGTERM),
    "SIGHUP": lambda outer: outer.send_signal(signal.SIGHUP),
    "SIGINT": lambda outer: outer.send_signal(signal.SIGINT),
    "its terminal": lambda outer: outer.pull_plug(),
    "Ctrl+C twice": lambda outer: outer.type(b"\x03\x03"),
}


@pytest.fixture
def stuck(open_outer, manager, silent, wait_until):
    """Starts a front end that is stuck from now on."""

    def start(how, *arguments, **options):
        argv = [sys.executable, "-c", STUCK.format(how=how), *arguments]
        outer = open_outer(argv, TERM="xterm-256color", **options)
        wait_until(lambda: b"the long build" in outer.received, what="the first picture")
        outer.type(b"zt")
        wait_until(lambda: b"stuck now" in outer.received, what="it to be stuck")
        return outer

    return start


@pytest.mark.parametrize("how", ["busy", "waiting", "thread"])
@pytest.mark.parametrize("end", ENDS)
def test_a_front_end_that_does_not_react_ends_all_the_same(stuck, manager, silent, wait_until, how, end):
    outer = stuck(how)
    ENDS[end](outer)
    wait_until(lambda: outer.exit_code is not None, timeout=20, what="its end")
    assert manager.reader.get(silent.id).status == "running"
    if how != "thread":
        assert "did not end in time" in (manager.reader.home / "dashboard.log").read_text()


@pytest.mark.parametrize("arguments", [("watch", "@last"), ("ls", "--table")], ids=" ".join)
def test_every_front_end_ends(stuck, wait_until, arguments):
    outer = stuck("busy", *arguments, controlling=False)
    outer.pull_plug()
    wait_until(lambda: outer.exit_code is not None, timeout=20, what="its end")


def test_a_front_end_that_does_not_react_gives_the_terminal_back(stuck, wait_until):
    outer = stuck("busy")
    assert outer.modes & termios.ICANON == 0
    outer.send_signal(signal.SIGTERM)
    wait_until(lambda: outer.exit_code is not None, timeout=20, what="its end")
    assert outer.modes & termios.ICANON
    assert outer.received.rindex(b"\x1b[?1049l") > outer.received.rindex(b"\x1b[?1049h")
    assert outer.received.rindex(b"\x1b[?25h") > outer.received.rindex(b"\x1b[?25l")
    assert b"agentdash: the dashboard did not react; sessions keep running." in outer.received


def test_two_ctrl_c_quit_from_a_dialog_too(open_outer, manager, silent, wait_until):
    outer = open_outer(DASHBOARD, TERM="xterm-256color")
    wait_until(lambda: b"the long build" in outer.received, what="the table")
    outer.type(b"?")
    wait_until(lambda: b"ype to find a key" in outer.received, what="the help")
    outer.type(b"\x03")
    wait_until(lambda: b"Press Ctrl+C again" in outer.received, what="the hint")
    outer.type(b"\x03")
    wait_until(lambda: outer.exit_code is not None, what="its end")
    ended_well(outer, manager)


@pytest.mark.parametrize(
    "words", [("tail", "--follow-turns"), ("tail", "-n", "all"), ("wait",), ("events", "--follow")], ids=" ".join
)
def test_a_command_that_follows_ends_with_a_terminal_that_sends_no_signal(
    open_outer, manager, silent, wait_until, words
):
    ids = [] if words[0] == "events" else [silent.id]
    outer = open_outer([*DASHBOARD, *words, *ids], controlling=False)
    wait_until(lambda: outer.reads_database, what="its work")
    outer.pull_plug()
    wait_until(lambda: outer.exit_code is not None, timeout=20, what="its end")
    assert manager.reader.get(silent.id).status == "running"


def test_the_terminal_is_asked_for_the_places_of_keys_and_a_letter_of_another_script_acts(
    open_outer, manager, silent, wait_until
):
    outer = open_outer(DASHBOARD, TERM="xterm-256color")
    wait_until(lambda: b"the long build" in outer.received, what="the table")
    assert b"\x1b[=4;2u" in outer.received
    outer.type(b"\x1b[1078:1046:59;2;1046u")  # the key of a colon, with a Cyrillic layout
    wait_until(lambda: b"Tab complete" in outer.received, what="the command line")
    outer.type(b"\x1b[1095::120;;1095u")
    wait_until(lambda: "ч".encode() in outer.received, what="the text")
    outer.type(b"\x1b")
    wait_until(lambda: outer.received.count(b"the long build") > 1, what="the table again")
    outer.type(b"\x1b[1081::113;;1081u")
    wait_until(lambda: outer.exit_code is not None, what="its end")


@pytest.mark.parametrize(
    "env", [{"TERM": "vt100"}, {"TERM": "xterm-256color", "NO_COLOR": "1", "COLORTERM": "truecolor"}], ids=str
)
def test_no_colour_is_written_to_a_terminal_without_colours(open_outer, manager, silent, wait_until, env):
    outer = open_outer(DASHBOARD, **env)
    wait_until(lambda: b"the long build" in outer.received, what="the table")
    outer.type(b"?")
    wait_until(lambda: b"ype to find a key" in outer.received, what="the help")
    outer.type(b"\x1bq")
    wait_until(lambda: outer.exit_code is not None, what="its end")
    codes = {code for found in re.findall(rb"\x1b\[([\d;]*)m", outer.received) for code in found.split(b";")}
    assert codes <= {b"", b"0", b"1", b"2", b"3", b"4", b"7"}
