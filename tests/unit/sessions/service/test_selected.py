"""The selection of a table, for those who follow it."""

import os

import pytest

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.service.selected import Followed, Follower, Selected

SERVER = "/tmp/tmux-0/default,4121,0"
ONE, OTHER = "11111111-1111", "22222222-2222"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "selected"


@pytest.fixture
def pane(tmp_path):
    """Returns the environment of a pane; tmux says that the window has these panes."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "tmux"
    command.write_text(f'#!/bin/sh\necho asked >> {tmp_path}/asked\ncat "{tmp_path}/window"\n')
    command.chmod(0o700)
    (tmp_path / "window").write_text("%3\n%4\n")

    def env(number, server=SERVER):
        return {"PATH": f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}", "TMUX": server, "TMUX_PANE": number}

    return env


@pytest.fixture
def begin(folder):
    """Begins tables, which end with the test."""
    begun = []

    def table(env, name=None):
        begun.append(Selected(folder, env, name))
        return begun[-1]

    yield table
    for one in begun:
        one.end()


def test_the_selection_of_a_table_in_the_same_window_is_read(folder, pane, begin):
    table, follower = begin(pane("%3")), Follower(folder, pane("%4"))
    assert follower.read() == Followed()
    table.show(ONE)
    assert follower.read() == Followed(True, ONE)
    table.show(OTHER)
    assert follower.read() == Followed(True, OTHER)
    table.show(None)
    assert follower.read() == Followed(True, None)
    table.end()
    assert follower.read() == Followed()
    assert list(folder.iterdir()) == []


def test_tables_of_other_windows_servers_and_names_are_not_read(folder, pane, begin):
    for table in (begin(pane("%9")), begin(pane("%3", "/tmp/tmux-0/other,77,0")), begin(pane("%3"), "left")):
        table.show(ONE)
    assert Follower(folder, pane("%4")).read() == Followed()
    assert Follower(folder, {}, "right").read() == Followed()
    assert Follower(folder, {}, "left").read() == Followed(True, ONE)


def test_a_pane_that_was_moved_to_the_window_is_read(folder, pane, begin, tmp_path):
    begin(pane("%9")).show(ONE)
    follower = Follower(folder, pane("%4"))
    assert not follower.read().table
    (tmp_path / "window").write_text("%4\n%9\n")
    assert follower.read() == Followed(True, ONE)


def test_a_file_without_a_lock_or_with_another_content_is_ignored(folder, pane, begin):
    table, follower = begin(pane("%3")), Follower(folder, pane("%4"))
    table.show(ONE)
    (file,) = folder.iterdir()
    file.write_text("../../etc\n")
    assert follower.read() == Followed(True, None)
    dead = file.with_name(file.name.replace(str(os.getpid()), "999"))
    table.end()
    dead.write_text(f"{ONE}\n")
    assert follower.read() == Followed()
    (folder / "notes.txt").write_text("of the user")
    table.show(OTHER)
    assert sorted(path.name for path in folder.iterdir()) == sorted([file.name, "notes.txt"])


def test_a_table_that_nobody_can_find_writes_nothing(folder):
    table = Selected(folder, {"TMUX_PANE": "%3"})
    assert not table.wanted
    table.show(ONE)
    assert not folder.exists()


def test_without_a_table_tmux_is_not_asked(folder, pane, tmp_path):
    Follower(folder, pane("%4")).read()
    assert not (tmp_path / "asked").exists()


def test_without_tmux_a_name_is_needed(folder):
    with pytest.raises(UsageError, match="needs tmux"):
        Follower(folder, {})


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, pane, begin):
    (tmp_path / "file").write_text("")
    Selected(tmp_path / "file" / "selected", pane("%3")).show(ONE)
