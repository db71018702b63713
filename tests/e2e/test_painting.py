"""What reaches a terminal: sizes that change at the start, dialogs over changes, and texts of odd width."""

import random
import re
import sys
from contextlib import suppress

import pytest
from repetition import SEED, repeated
from waiting import StuckError

from agentdash.sessions.service.lifecycle.stop_family import NOW

DASHBOARD = [sys.executable, "-m", "agentdash"]
SIZES = [(45, 160), (24, 80), (20, 50), (30, 120), (8, 30)]
KEYS = [b"?", b"n", b"L", b":", b"$", b"c", b"s", b"/", b"x", b"C", b"t", b"j", b"k", b"G", b"\t", b"\r", b"\x1b", b"a"]
"""Keys that open and close dialogs and screens, and that change the picture; none opens another program."""

ODD = (
    "हिन्दी में रिपोर्ट 👩🏽‍💻 ठीक करो",
    "family 👨‍👩‍👧‍👦 and 🇩🇪 flags ❤️ ok",
    "ภาษาไทย ก็ได้ ที่นี่",
    "مَرْحَبًا بِكُمْ",
    "각 한글 각 jamo",
)


@pytest.fixture
def ended(manager):
    """Six sessions that have ended."""
    ids = [manager.run(["true"], title=f"session number {number}").id for number in range(6)]
    manager.wait(ids, timeout=120)
    return ids


def started(open_outer, wait_until, size):
    outer = open_outer(DASHBOARD, size=size, TERM="xterm-256color")
    wait_until(lambda: b"\x1b[?1049h" in outer.received, what="its start")
    return outer


@pytest.mark.torture
@pytest.mark.parametrize("seed", [SEED + number for number in range(repeated(5, 200))])
def test_no_sizes_dialogs_and_keys_at_the_start_keep_it_from_ending(ended, open_outer, wait_until, seed):
    dice = random.Random(seed)
    outer = started(open_outer, wait_until, dice.choice(SIZES))
    for _ in range(dice.randrange(2, 20)):
        if dice.random() < 0.4:
            outer.resize(*dice.choice(SIZES))
        else:
            outer.type(dice.choice(KEYS))
        for _ in range(dice.choice([0, 0, 1, 50])):
            _ = outer.received  # some of what it writes is read before the next key, and some is not
    outer.terminate(wait_until)
    assert outer.exit_code == 0


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_size_that_changes_while_it_starts_is_laid_out_once(ended, open_outer, wait_until, size):
    outer = started(open_outer, wait_until, (25, 81))
    outer.resize(*size)
    wait_until(lambda: outer.is_quiet, timeout=60, what="it to be idle")
    outer.terminate(wait_until)
    assert outer.exit_code == 0


@pytest.mark.parametrize("key", [b"L", b":", b"x"])
def test_a_change_below_a_dialog_writes_no_screenful(manager, open_outer, wait_until, key):
    session = manager.run(["sleep", "600"], title="the long build")
    manager.started(session.id)
    outer = started(open_outer, wait_until, (45, 160))
    wait_until(lambda: b"the long build" in outer.received, what="the table")
    outer.type(key)
    wait_until(lambda: outer.is_quiet, what="the dialog")
    before = len(outer.received)
    for number in range(5):
        title = f"title number {number}"
        manager.housekeeping.rename(session.id, title)
        wait_until(lambda title=title: title.encode() in outer.received[before:], what="the change")
    assert len(outer.received) - before < 5 * 2_000
    manager.stop(session.id, NOW)


def test_the_layout_is_that_of_the_size_that_came_under_a_dialog(ended, open_terminal, terminal):
    terminal.start("agentdash", width=160, height=45)
    terminal.shows("session number 5", "│")
    terminal.keys("?")
    terminal.shows("type to find a key")
    terminal.resize(80, 24)
    terminal.shows("type to find a key")
    terminal.keys("Escape")
    terminal.lacks("type to find a key")
    terminal.lacks("│")
    terminal.keys("L")
    terminal.shows("No messages yet")
    terminal.resize(160, 45)
    terminal.keys("Escape")
    terminal.lacks("No messages yet")
    terminal.shows("session number 5", "│")


@pytest.mark.parametrize("width", [160, 80, 50])
def test_a_text_of_odd_width_moves_nothing_beside_it(manager, terminal, open_terminal, tmp_path, wait_until, width):
    (tmp_path / "here").mkdir()
    for text in (*ODD, "a plain title"):
        manager.run(["echo", text], title=text, cwd=str(tmp_path / "here"))
    manager.wait([session.id for session in manager.reader.sessions()], timeout=120)
    for session in manager.reader.sessions():
        manager.housekeeping.mark_seen(session.id)  # the dashboard would, of the one that it shows
    terminal.start("agentdash", width=width, height=45)
    terminal.shows("a plain title")
    for moves, key, shown in (("jj", "?", "type to find a key"), ("jk", "L", "No messages yet")):
        terminal.keys(*moves, key)
        terminal.shows(shown)
        terminal.keys("Escape")
        terminal.lacks(shown)
    terminal.settles()
    before = rows(terminal.screen)
    ruler = open_terminal()
    ruler.start("stty raw -echo; echo ready; cat", width=200, height=10)
    ruler.shows("ready")
    # At 50 cells the titles have the room of the folder.
    titled = [row for row in before if re.match(" *✓", row) and (width == 50 or re.search(" here( |$)", row))]
    assert len(titled) == len(ODD) + 1
    if width > 50:
        assert len({ruler.cells(re.split(" here( |$)", row)[0]) for row in titled}) == 1
    if width == 160:
        assert len({ruler.cells(row.split("│")[0]) for row in titled}) == 1, before
    terminal.keys("C-l", "L")
    terminal.shows("No messages yet")
    terminal.keys("Escape")
    with suppress(StuckError):
        wait_until(lambda: rows(terminal.screen) == before, timeout=20)
    assert rows(terminal.screen) == before


def rows(screen):
    """The rows without their ages."""
    return [re.sub(r" *\d+[sm] ", "", row) for row in screen.splitlines()]
