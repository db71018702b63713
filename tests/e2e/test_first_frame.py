"""The first frame: the rows are there before the dashboard is loaded, and what is typed meanwhile is not lost."""

import os
import re
import signal
import sys
import termios

import pytest
from recorded_sessions import lines, record, said

from agentdash.sessions.model import typed
from agentdash.sessions.model.session import Status
from agentdash.sessions.text.sanitize import cell_width
from agentdash.tui.state.picture import FOLDER, Picture

SIZES = [(160, 45), (80, 24), (50, 24)]

DASHBOARD = [sys.executable, "-m", "agentdash"]

_HELD = """
import agentdash.tui.first_frame as first
from agentdash.__main__ import main

show = first.show

def held(terminal):
    show(terminal)
    {then}

first.show = held
main()
"""

_WAIT = """
    import os, select
    gate = os.open({gate!r}, os.O_RDONLY | os.O_NONBLOCK)
    while not select.select([gate], [], [], 0.05)[0]:  # a signal just before one long call would wait for its end
        pass
"""

STATES = (Status.DONE, Status.DONE, Status.FAILED, Status.STOPPED, Status.DONE)
TITLES = (
    "fix the login",
    "\U0001f44d\U0001f3fd approved",
    "नमस्ते tests",
    "evil \x1b[31m\x07\u202e title",
    "日本語の題名",
    "plain",
)


@pytest.fixture
def sessions(manager):
    """Fifty, in several states, some with titles that terminals count differently or that want to do harm."""
    for number in range(50):
        state = STATES[number % len(STATES)]
        record(
            manager,
            [(f"{TITLES[number % len(TITLES)]} {number}", lines(said(f"answer {number}")))],
            last=state,
            reason="exit 1" if state is Status.FAILED else None,
            created_at=1_000 + number,
            seen_at=9_000 if number % 3 else None,
            agent=("codex", "claude")[number % 2],
        )


def file_of(manager, size):
    return manager.reader.home / FOLDER / f"{size[0]}x{size[1]}.json"


@pytest.fixture
def taken(manager):
    """Takes a picture away: the dashboard takes the next one when its own screen is complete."""

    def take(size):
        picture = typed.decode(file_of(manager, size).read_bytes(), Picture)
        file_of(manager, size).unlink()
        return picture

    return take


@pytest.fixture
def pictured(open_outer, manager, sessions, wait_until):
    """Starts the dashboard once in a size, so that the next start has a picture."""

    def start(columns, rows, **env):
        outer = open_outer(DASHBOARD, size=(rows, columns), TERM="xterm-256color", **env)
        wait_until(lambda: outer.received and file_of(manager, (columns, rows)).exists(), what="the picture")
        outer.terminate(wait_until)

    return start


@pytest.fixture
def held(tmp_path):
    """A start that stops after the first frame, and a function that lets it go on."""
    gate, program = tmp_path / "gate", tmp_path / "held.py"
    os.mkfifo(gate)
    program.write_text(_HELD.format(then=_WAIT.format(gate=str(gate))))

    def let_go():
        os.close(os.open(gate, os.O_WRONLY))

    return [sys.executable, str(program)], let_go


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_first_frame_shows_what_the_screen_then_shows(
    sessions, held, open_terminal, manager, taken, wait_until, size
):
    terminal, (program, let_go) = open_terminal(), held
    command, waits = " ".join(program), "fix the login"
    terminal.start("agentdash", *size)
    terminal.shows(waits, "q quit")
    wait_until(lambda: file_of(manager, size).exists(), what="the picture")
    terminal.keys("q")
    terminal.shows("exited 0")
    terminal.close()

    terminal = open_terminal()
    terminal.start(command, *size)
    terminal.shows(waits, "q quit")
    first = cells(terminal)
    boxes = taken(size)
    let_go()
    wait_until(lambda: file_of(manager, size).exists(), what="the picture of the whole screen")
    terminal.settles()
    then = cells(terminal)
    for box in (boxes.header, boxes.table, boxes.keys):
        for y in range(box.y, box.y + box.height):
            assert first[y][box.x : box.x + box.width] == then[y][box.x : box.x + box.width], y
    terminal.keys("q")
    terminal.shows("exited 0")


def test_only_what_differs_from_the_first_frame_is_written(pictured, held, open_outer, wait_until):
    pictured(160, 45)
    program, let_go = held
    outer = open_outer(program, TERM="xterm-256color")
    wait_until(lambda: b"fix the login" in outer.received, what="the first frame")
    let_go()
    wait_until(lambda: b"answer " in outer.received.partition(b"quit")[2], what="the steps")
    first, _, then = outer.received.partition(b"quit")
    assert (first + then).count(b"\x1b[?1049h") == 1
    assert b"\x1b[2J" not in then
    assert b"fix the login 0 " not in then
    outer.terminate(wait_until)


def test_what_is_typed_before_the_dashboard_is_loaded_arrives_in_order(pictured, held, open_outer, wait_until):
    pictured(160, 45)
    program, let_go = held
    outer = open_outer(program, TERM="xterm-256color")
    wait_until(lambda: outer.received.endswith(b"\x1b[0m\x1b[0m"), what="the whole first frame")
    before = outer.received
    outer.type(b"i")
    outer.type(b"the-quick-brown-fox-")
    outer.type("jumps:äöü".encode())
    assert outer.received == before, "nothing typed is echoed"
    let_go()
    wait_until(lambda: "ü".encode() in outer.received, what="the last letter")
    outer.type(b"\x0c")  # all is written again, in one piece: letters of several pictures come one by one
    wait_until(lambda: "the-quick-brown-fox-jumps:äöü".encode() in outer.received, what="the prompt")
    outer.terminate(wait_until)


def test_ctrl_c_before_the_dashboard_is_loaded_ends_it_and_restores_the_terminal(
    pictured, held, open_outer, wait_until
):
    pictured(160, 45)
    program, _ = held
    outer = open_outer(program, TERM="xterm-256color")
    wait_until(lambda: b"fix the login" in outer.received, what="the first frame")
    assert not outer.modes & (termios.ECHO | termios.ICANON)
    outer.type(b"x\x03")
    wait_until(lambda: outer.received and outer.exit_code is not None, what="its end")
    assert outer.exit_code == 130
    assert given_back(outer)
    assert b"sessions keep running" in outer.received


def test_sigterm_before_the_dashboard_is_loaded_restores_the_terminal(pictured, held, open_outer, wait_until):
    pictured(160, 45)
    program, _ = held
    outer = open_outer(program, TERM="xterm-256color")
    wait_until(lambda: b"fix the login" in outer.received, what="the first frame")
    outer.send_signal(signal.SIGTERM)
    wait_until(lambda: outer.received and outer.exit_code is not None, what="its end")
    assert outer.exit_code == 128 + signal.SIGTERM
    assert given_back(outer)


def test_an_error_while_the_dashboard_is_loaded_is_printed_on_the_restored_terminal(
    pictured, open_outer, wait_until, tmp_path
):
    pictured(160, 45)
    program = tmp_path / "broken.py"
    program.write_text(_HELD.format(then="raise RuntimeError('a module is missing')"))
    outer = open_outer([sys.executable, str(program)], TERM="xterm-256color")
    wait_until(lambda: outer.received and outer.exit_code is not None, what="its end")
    assert outer.exit_code == 1
    assert b"fix the login" in outer.received
    assert given_back(outer)
    assert b"a module is missing" in outer.received.partition(b"\x1b[?1049l")[2]


def test_a_terminal_that_is_resized_meanwhile_shows_all_of_the_new_screen(
    sessions, held, open_terminal, manager, wait_until
):
    terminal, (program, let_go) = open_terminal(), held
    terminal.start("agentdash")
    terminal.shows("fix the login", "q quit")
    wait_until(lambda: file_of(manager, (160, 45)).exists(), what="the picture")
    terminal.keys("q")
    terminal.shows("exited 0")
    terminal.close()
    terminal = open_terminal()
    terminal.start(" ".join(program))
    terminal.shows("fix the login", "q quit")
    terminal.resize(80, 24)
    let_go()
    wait_until(lambda: file_of(manager, (80, 24)).exists(), what="the picture of the whole screen")
    terminal.settles()
    resized = terminal.screen
    terminal.keys("C-l")
    terminal.settles()
    assert terminal.screen == resized
    terminal.keys("q")
    terminal.shows("exited 0")


def test_without_a_picture_the_dashboard_starts_as_usual(sessions, held, open_outer, wait_until):
    program, let_go = held
    outer = open_outer(program, TERM="xterm-256color")
    let_go()
    wait_until(lambda: b"fix the login" in outer.received, what="the table")
    outer.terminate(wait_until)


def given_back(outer):
    """The terminal shows the shell's screen, and gives out whole lines."""
    modes = outer.modes & (termios.ECHO | termios.ICANON)
    return b"\x1b[?1049l" in outer.received and modes == termios.ECHO | termios.ICANON


_SGR = re.compile(r"\x1b\[([\d;:]*)m")


def cells(terminal):
    """Each cell of the screen: its character and its colours."""
    rows, look = [[]], ()
    for number, part in enumerate(_SGR.split(terminal.coloured)):
        if number % 2:
            look = changed(look, [int(code) for code in part.split(";") if code] or [0])
            continue
        for character in part:
            if character == "\n":
                rows.append([])
            else:
                rows[-1] += [(character, seen(character, look))] * cell_width(character)
    return rows


def changed(look, codes):
    """The look after a sequence of colours."""
    look = dict(look)
    while codes:
        code = codes.pop(0)
        if code == 0:
            look = {}
        elif code in (38, 48):
            count = 4 if codes[0] == 2 else 2
            look[code], codes = tuple(codes[:count]), codes[count:]
        elif code in (39, 49):
            look.pop(code - 1, None)
        else:
            look[code] = True
    return tuple(sorted(look.items(), key=str))


def seen(character, look):
    """The part of a look that can be seen: a blank has no colour of its own."""
    return tuple((code, value) for code, value in dict(look).items() if character != " " or code != 38)
