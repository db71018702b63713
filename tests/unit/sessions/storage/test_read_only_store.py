"""A database in a folder that cannot be written: all of it is read, also what is only in its log."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from agentdash.sessions.model.errors import NewerStoreError, OlderStoreError, ReadOnlyError
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.storage import database
from agentdash.sessions.storage.store import Store


def add(store, session_id):
    start = Start("true", agent="command", title=session_id, cwd="/", argv=("true",), session_id=session_id)
    store.create(start, Launch(argv=("true",)), f"run-{session_id}", host="here")


def ids(store):
    return {session.id for session in store.sessions()}


@pytest.fixture
def writer(tmp_path):
    """The store as a process sees it that can write."""
    (tmp_path / "home").mkdir()
    store = Store(tmp_path / "home" / "agentdash.db")
    add(store, "session-1")
    yield store
    store.close()


@pytest.fixture
def reader(writer, monkeypatch):
    """The same store to a process that cannot write in its folder."""
    store = Store(writer.database.path)
    monkeypatch.setattr(database, "is_read_only", lambda _: True)
    yield store
    store.close()


@pytest.fixture
def no_index(monkeypatch):
    """Let SQLite find no index of the log and be unable to make one, as on a read-only mount."""
    opened = database._opened

    def refuse(path, how, seconds):
        if how == "mode=ro":
            raise sqlite3.OperationalError("unable to open database file")
        return opened(path, how, seconds)

    monkeypatch.setattr(database, "_opened", refuse)


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.usefixtures("no_index")
def test_a_database_at_rest_is_read_and_not_touched(writer, reader):
    writer.close()
    before = files(writer.database.path.parent)
    assert set(before) == {"agentdash.db"}
    assert ids(reader) == {"session-1"}
    reader.close()
    assert files(writer.database.path.parent) == before


@pytest.mark.usefixtures("no_index")
def test_commits_that_are_only_in_the_log_are_read_too(tmp_path, writer, monkeypatch):
    backup = tmp_path / "backup"
    backup.mkdir()
    for ending in ("", "-wal"):  # a backup has no shared memory
        shutil.copyfile(f"{writer.database.path}{ending}", f"{backup}/agentdash.db{ending}")
    before = files(backup)
    monkeypatch.setattr(database, "is_read_only", lambda _: True)
    reader = Store(backup / "agentdash.db")
    assert ids(reader) == {"session-1"}
    copy = Path(reader.database._opened.copy.name)
    assert copy.is_dir()
    reader.close()
    assert not copy.exists()
    assert files(backup) == before


@pytest.mark.parametrize("prepared", [True, False])
def test_commits_of_another_process_are_seen(request, writer, reader, prepared, monkeypatch):
    """With an index SQLite notices it; without one the files tell."""
    if not prepared:
        request.getfixturevalue("no_index")
    version = reader.data_version()
    assert ids(reader) == {"session-1"}
    with monkeypatch.context() as patched:
        patched.setattr(database, "is_read_only", lambda _: False)
        add(writer, "session-2")
    assert reader.data_version() != version
    assert ids(reader) == {"session-1", "session-2"}


def test_a_write_says_that_the_folder_is_read_only(reader):
    with pytest.raises(ReadOnlyError, match=r"The state folder .* is read-only"):
        reader.mark_seen("session-1")
    assert ids(reader) == {"session-1"}


@pytest.mark.usefixtures("no_index")
@pytest.mark.parametrize(("version", "error"), [(14, OlderStoreError), (99, NewerStoreError)])
def test_another_schema_is_refused_here_too(writer, reader, version, error):
    writer.close()
    with sqlite3.connect(writer.database.path) as other:
        other.execute(f"PRAGMA user_version = {version}")
    other.close()
    before = files(writer.database.path.parent)
    with pytest.raises(error):
        reader.sessions()
    assert files(writer.database.path.parent) == before


def test_a_folder_without_a_database_is_a_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "is_read_only", lambda _: True)
    with pytest.raises(ReadOnlyError, match="has no database"):
        Store(tmp_path / "agentdash.db").sessions()
