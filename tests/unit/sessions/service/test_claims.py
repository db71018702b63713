"""Of several front ends that are seen together one tells."""

import os

import pytest

from agentdash.sessions.rules.notifications.events import Notice
from agentdash.sessions.service import tmux as claims_module
from agentdash.sessions.service.tmux import Claims
from agentdash.sessions.storage.paths import TOLD_SECONDS

SERVER = "/tmp/tmux-0/default,4121"


def notice(**own):
    return Notice(**({"event": "waiting", "session": "s1", "title": "t", "body": "b", "episode": "1 5"} | own))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "told"


class Tmux:
    """A command of this name that knows the windows of some panes."""

    def __init__(self, folder):
        folder.mkdir()
        self._folder = folder
        self.does('cat "$(dirname "$0")/$4"')

    def does(self, script):
        command = self._folder / "tmux"
        command.write_text(f"#!/bin/sh\n{script}\n")
        command.chmod(0o700)

    def pane(self, pane, window, server=SERVER, session=0):
        """The environment of a pane that is in a window now."""
        (self._folder / pane).write_text(f"{window}\n")
        path = f"{self._folder}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "TMUX": f"{server},{session}", "TMUX_PANE": pane}


@pytest.fixture
def tmux(tmp_path):
    return Tmux(tmp_path / "bin")


def told(folder, *panes, news=None):
    """How many of these tell the same news, each asked in its turn."""
    return [len(Claims(folder, pane).take(news or [notice()])) for pane in panes]


def test_one_of_two_panes_of_a_window_tells(folder, tmux):
    assert told(folder, tmux.pane("%3", "@1"), tmux.pane("%4", "@1")) == [1, 0]


@pytest.mark.parametrize("own", [{"episode": "1 9"}, {"event": "failed"}, {"session": "s2"}])
def test_what_happens_next_is_told_again(folder, tmux, own):
    claims = Claims(folder, tmux.pane("%3", "@1"))
    assert [claims.take([notice()]), claims.take([notice(**own)])] == [[notice()], [notice(**own)]]


def test_another_window_may_be_hidden_and_both_tell(folder, tmux):
    assert told(folder, tmux.pane("%3", "@1"), tmux.pane("%4", "@2")) == [1, 1]


def test_the_same_window_in_two_sessions_of_tmux_is_one(folder, tmux):
    assert told(folder, tmux.pane("%3", "@1"), tmux.pane("%4", "@1", session=1)) == [1, 0]


@pytest.mark.parametrize("server", ["/tmp/tmux-0/other,4121", "/tmp/tmux-0/default,5000"])
def test_another_server_is_another_terminal(folder, tmux, server):
    assert told(folder, tmux.pane("%3", "@1"), tmux.pane("%4", "@1", server)) == [1, 1]


def test_a_pane_that_is_moved_to_another_window_tells_there(folder, tmux):
    moved = Claims(folder, tmux.pane("%3", "@1"))
    assert moved.take([notice()]) == [notice()]
    tmux.pane("%3", "@2")
    assert moved.take([notice()]) == [notice()]


@pytest.mark.parametrize("script", ["exit 1", "echo '@1'; exit 1", "echo"])
def test_where_tmux_does_not_say_which_window_all_tell(folder, tmux, script):
    panes = [tmux.pane(pane, "@1") for pane in ("%3", "%4")]
    tmux.does(script)
    assert told(folder, *panes) == [1, 1]
    assert not folder.exists()


def test_a_tmux_that_hangs_is_not_waited_for(folder, tmux, monkeypatch):
    monkeypatch.setattr(claims_module, "ANSWER_SECONDS", 0.05)
    panes = [tmux.pane(pane, "@1") for pane in ("%3", "%4")]
    tmux.does("exec sleep 600")
    assert told(folder, *panes) == [1, 1]


def test_without_a_tmux_to_ask_all_tell(folder, tmux, tmp_path):
    panes = [tmux.pane(pane, "@1") | {"PATH": str(tmp_path)} for pane in ("%3", "%4")]
    assert told(folder, *panes) == [1, 1]


@pytest.mark.parametrize("around", [{"STY": "41.pts-0.h"}, {"ZELLIJ_SESSION_NAME": "tidy-fox"}])
def test_windows_of_screen_and_tabs_of_zellij_stand_for_themselves(folder, tmux, around):
    pane = tmux.pane("%3", "@1") | around
    assert told(folder, pane, pane, around, around) == [1, 1, 1, 1]
    assert not folder.exists()


def test_terminals_of_their_own_share_nothing(folder):
    assert told(folder, {}, {}) == [1, 1]
    assert not folder.exists()


def test_where_nothing_can_be_written_all_tell(folder, tmux):
    folder.write_text("no folder")
    pane = tmux.pane("%3", "@1")
    assert told(folder, pane, pane) == [1, 1]


def test_of_a_batch_only_what_nobody_has_told_is_taken_in_its_order(folder, tmux):
    pane = tmux.pane("%3", "@1")
    batch = [notice(session=f"s{number}") for number in range(5)]
    assert Claims(folder, pane).take([batch[3], batch[1]]) == [batch[3], batch[1]]
    assert Claims(folder, pane).take(batch) == [batch[0], batch[2], batch[4]]


@pytest.fixture
def listed(folder, monkeypatch):
    """Every reading of the folder, however it is done."""
    seen = []

    def counted(read):
        def reading(path="."):
            seen.extend([path] if str(path) == str(folder) else [])
            return read(path)

        return reading

    monkeypatch.setattr(os, "scandir", counted(os.scandir))
    monkeypatch.setattr(os, "listdir", counted(os.listdir))
    return seen


def test_many_at_once_read_the_folder_once(folder, tmux, listed):
    batch = [notice(session=f"s{number}") for number in range(300)]
    assert Claims(folder, tmux.pane("%3", "@1")).take(batch) == batch
    assert len(listed) == 1
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert len(list(folder.iterdir())) == 300


def test_tmux_is_asked_once_for_a_batch(folder, tmux, tmp_path):
    pane = tmux.pane("%3", "@1")
    tmux.does(f"echo asked >> {tmp_path}/asked; echo @1")
    Claims(folder, pane).take([notice(session=f"s{number}") for number in range(20)])
    assert (tmp_path / "asked").read_text() == "asked\n"


def aged(folder, seconds):
    """Make the only claim there is an old one."""
    [old] = folder.iterdir()
    os.utime(old, (old.stat().st_atime, old.stat().st_mtime - seconds))
    return old


def test_old_claims_go_and_newer_ones_stay(folder, tmux):
    pane = tmux.pane("%3", "@1")
    Claims(folder, pane).take([notice()])
    kept = aged(folder, TOLD_SECONDS - 100)
    Claims(folder, pane).take([notice(episode="2 8")])
    assert len(list(folder.iterdir())) == 2
    os.utime(kept, (0, kept.stat().st_mtime - 200))
    Claims(folder, pane).take([notice(episode="3 9")])
    assert kept not in list(folder.iterdir())
    assert len(list(folder.iterdir())) == 2


def test_the_folder_is_not_read_for_every_batch_but_again_later(folder, tmux, listed, monkeypatch):
    claims = Claims(folder, tmux.pane("%3", "@1"))
    for turn in range(3):
        claims.take([notice(episode=f"{turn} 5")])
    assert len(listed) == 1
    monkeypatch.setattr(claims_module, "CLEAR_SECONDS", 0)
    claims = Claims(folder, tmux.pane("%3", "@1"))
    for turn in range(3, 6):
        claims.take([notice(episode=f"{turn} 5")])
    assert len(listed) == 4
