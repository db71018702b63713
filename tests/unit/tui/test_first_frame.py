"""The first frame: sessions of the database in the picture of the last start, or nothing at all."""

import os
import sqlite3
from pathlib import Path

import pytest
from factories import session

from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.schema import VERSION
from agentdash.sessions.storage.store import Store
from agentdash.tui import first_frame
from agentdash.tui.state.picture import Box, Picture, key, load, save
from agentdash.tui.terminal.early import sequences
from agentdash.widgets.drawing.roles import ROLES
from agentdash.widgets.table.first_rows import Table
from agentdash.widgets.table.header import STYLES

SIZE = (80, 24)
NOW = 1_700_000_000_000


def picture(home):
    plain = ("", "")
    return Picture(
        key=key(home), header=Box(0, 0, 80, 1), where="", placed=True, table=Box(0, 1, 80, 22),
        form=Table(80, 22), scrolled=0,
        blank=(), ground=plain, roles=dict.fromkeys(("", *ROLES), plain), styles=dict.fromkeys(STYLES, plain), lines={},
        keys_for="", keys=Box(0, 23, 80, 1), keys_line=[(0, "q quit", plain)],
    )  # fmt: skip


class Terminal:
    frame = None

    def draw(self, size, frame):
        self.size, self.frame = size, frame


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Draws the first frame on a terminal of 80x24; its frame."""
    monkeypatch.setenv("AGENTDASH_HOME", str(tmp_path))
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size(SIZE))
    monkeypatch.setattr(first_frame, "is_wanted", lambda *_: False)

    def start():
        terminal = Terminal()
        first_frame.show(terminal)
        return terminal.frame

    return start


@pytest.fixture
def stored(tmp_path):
    """A state folder with a database and a picture."""
    layout = Layout(tmp_path)
    layout.create()
    store = Store(layout.database)
    store.sessions()
    store.close()
    save(tmp_path, SIZE, picture(tmp_path))
    return layout


def text(frame):
    return "\n".join("".join(part for _, part, _ in line) for line in frame.values())


def test_a_frame_has_the_sessions_in_their_sections():
    sessions = [session("one", title="the first"), session("two", title="the second")]
    drawn = text(first_frame.frame(picture_of_nowhere(), sessions, NOW))
    assert "agentdash" in drawn
    assert "the first" in drawn
    assert "the second" in drawn


def test_a_title_that_wants_to_control_the_terminal_is_cleaned():
    evil = session("evil", title="\x1b]0;owned\x07\x1b[2J\u202e title\r\nnext", last_message="\x1b[31m\x9b0m")
    frame = first_frame.frame(picture_of_nowhere(), [evil], NOW)
    assert not any(character in text(frame).replace("\n", "") for character in "\x1b\x07\x9b\r\u202e")
    assert "\x1b]" not in sequences(frame)


def test_every_cell_of_table_and_header_is_drawn_once():
    sessions = [session(str(n), title="日本語 \U0001f44d\U0001f3fd" * n) for n in range(30)]
    frame = first_frame.frame(picture_of_nowhere(), sessions, NOW)
    assert sorted(frame) == list(range(24))
    for y in range(23):
        columns = [x for x, _, _ in frame[y]]
        assert columns == sorted(set(columns)), y


def picture_of_nowhere():
    return picture(Path("/nowhere"))


def test_without_a_state_folder_there_is_no_frame(started):
    assert started() is None


def test_without_sessions_there_is_no_frame(started, stored):
    assert started() is None


def test_a_database_of_another_version_has_no_frame(started, stored):
    with sqlite3.connect(stored.database) as database:
        database.execute(f"PRAGMA user_version = {VERSION - 1}")
    database.close()
    assert started() is None


def test_a_damaged_database_has_no_frame(started, stored):
    stored.database.write_bytes(b"no database" * 1_000)
    assert started() is None


def test_a_locked_database_has_no_frame(started, stored):
    database = sqlite3.connect(stored.database)
    database.execute("PRAGMA locking_mode = EXCLUSIVE")
    database.execute("BEGIN EXCLUSIVE")
    assert started() is None
    database.close()


def test_a_picture_of_other_settings_or_another_terminal_is_not_used(stored, tmp_path, monkeypatch):
    assert load(tmp_path, SIZE) is not None
    assert load(tmp_path, (81, 24)) is None
    (tmp_path / "dashboard.toml").write_text('density = "one"\n')
    assert load(tmp_path, SIZE) is None
    save(tmp_path, SIZE, picture(tmp_path))
    assert load(tmp_path, SIZE) is not None
    monkeypatch.setenv("NO_COLOR", "1")
    assert load(tmp_path, SIZE) is None


def test_a_damaged_picture_is_not_used(stored, tmp_path):
    (tmp_path / "pictures" / "80x24.json").write_bytes(b'{"key": 1')
    assert load(tmp_path, SIZE) is None


def test_the_pictures_of_the_sizes_used_last_are_kept_and_are_the_users_alone(tmp_path):
    for columns in range(80, 100):
        save(tmp_path, (columns, 24), picture(tmp_path))
    files = list((tmp_path / "pictures").iterdir())
    assert len(files) == 12
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
