"""A database in a folder that cannot be written: all of it is read, also what is only in its log."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from agentdash.sessions.errors import NewerStoreError, ReadOnlyError
from agentdash.sessions.launch import Launch, Start
from agentdash.sessions.storage import database, read_only
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
    opened = read_only._opened

    def refuse(path, how, seconds):
        if how == "mode=ro":
            raise sqlite3.OperationalError("unable to open database file")
        return opened(path, how, seconds)

    monkeypatch.setattr(read_only, "_opened", refuse)


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
def test_an_older_schema_is_brought_up_to_date_in_a_copy(writer, reader):
    path = writer.database.path
    writer.close()
    old = sqlite3.connect(path)
    old.executescript(
        "DROP TRIGGER sessions_removed; DROP TRIGGER turn_used; DROP TRIGGER turn_restored;"
        "ALTER TABLE sessions DROP COLUMN cost_missing; ALTER TABLE sessions DROP COLUMN tokens_missing;"
        "ALTER TABLE tombstones DROP COLUMN cost_missing; ALTER TABLE tombstones DROP COLUMN tokens_missing;"
        "DROP TABLE reports; DROP TABLE use_sums; DROP TABLE compactions;"
        "DROP TABLE budgets; DROP TABLE budget_raises;"
        "DROP TABLE shares; DROP TABLE plan_windows;"
        "DROP TRIGGER lead_changed; DROP TRIGGER wake_sent; DROP TRIGGER end_reported; DROP TABLE wake_ends;"
        "ALTER TABLE turns DROP COLUMN unreadable; ALTER TABLE turns DROP COLUMN cost_about_usd;"
        "DROP INDEX sessions_first; DROP INDEX sessions_outdated; ALTER TABLE turns DROP COLUMN denied_names;"
        "ALTER TABLE sessions DROP COLUMN asks; ALTER TABLE sessions DROP COLUMN activity;"
        "ALTER TABLE sessions DROP COLUMN plan; ALTER TABLE sessions DROP COLUMN urgency;"
        "ALTER TABLE sessions DROP COLUMN urgency_seq;"
        "DROP TABLE marks; DROP INDEX sessions_after; DROP INDEX sessions_taken;"
        "DROP TABLE adjustments; ALTER TABLE sessions DROP COLUMN mode;"
        "ALTER TABLE sessions DROP COLUMN context_tokens; ALTER TABLE sessions DROP COLUMN context_window;"
        "ALTER TABLE sessions DROP COLUMN cost_about_usd; ALTER TABLE sessions DROP COLUMN cache_write_tokens;"
        "DROP TABLE asks; ALTER TABLE sessions DROP COLUMN asking;"
        "DROP INDEX sessions_warm; ALTER TABLE sessions DROP COLUMN warm_since;"
        "ALTER TABLE turns DROP COLUMN attempt; ALTER TABLE turns DROP COLUMN running_cost_usd;"
        "DROP TRIGGER prompt_confirmed; DROP TABLE queue; ALTER TABLE sessions DROP COLUMN queued;"
        "ALTER TABLE sessions DROP COLUMN held; ALTER TABLE sessions DROP COLUMN unconfirmed;"
        "ALTER TABLE turns DROP COLUMN stream; ALTER TABLE turns DROP COLUMN begin_byte;"
        "ALTER TABLE turns DROP COLUMN end_byte; ALTER TABLE turns DROP COLUMN begin_error_byte;"
        "ALTER TABLE sessions DROP COLUMN taken_by; ALTER TABLE sessions DROP COLUMN after;"
        "ALTER TABLE sessions DROP COLUMN blocked; ALTER TABLE sessions DROP COLUMN followed;"
        "DROP INDEX sessions_key; DROP INDEX sessions_lead; DROP INDEX sessions_linked;"
        "ALTER TABLE sessions DROP COLUMN lead; ALTER TABLE sessions DROP COLUMN born_to;"
        "ALTER TABLE sessions DROP COLUMN depth; ALTER TABLE sessions DROP COLUMN lifecycle;"
        "ALTER TABLE sessions DROP COLUMN key; ALTER TABLE sessions DROP COLUMN call;"
        "ALTER TABLE sessions DROP COLUMN budget; ALTER TABLE sessions DROP COLUMN reported_turn;"
        "DROP TRIGGER turn_ended; DROP TABLE ends;"
        "DROP TABLE wakes; DROP INDEX sessions_escalates; ALTER TABLE sessions DROP COLUMN woken_turn;"
        "ALTER TABLE sessions DROP COLUMN escalates_at; ALTER TABLE sessions DROP COLUMN escalated;"
        "ALTER TABLE sessions DROP COLUMN share;"
        "DROP INDEX tombstones_parent; DROP INDEX tombstones_lead; ALTER TABLE tombstones DROP COLUMN parent;"
        "ALTER TABLE tombstones DROP COLUMN lead; ALTER TABLE tombstones DROP COLUMN budget;"
        "ALTER TABLE tombstones DROP COLUMN total_tokens; ALTER TABLE tombstones DROP COLUMN cost_usd;"
        "ALTER TABLE tombstones DROP COLUMN cost_about_usd; ALTER TABLE tombstones DROP COLUMN agent;"
        "ALTER TABLE tombstones DROP COLUMN cwd; ALTER TABLE tombstones DROP COLUMN title;"
        "ALTER TABLE tombstones DROP COLUMN model;"
        "DROP INDEX sessions_parent; DROP INDEX sessions_left; PRAGMA user_version = 3;"
        "CREATE TRIGGER sessions_removed AFTER DELETE ON sessions BEGIN UPDATE counter SET seq = seq + 1; END;"
    )
    old.close()
    before = path.read_bytes()
    assert ids(reader) == {"session-1"}
    assert path.read_bytes() == before


@pytest.mark.usefixtures("no_index")
def test_a_newer_schema_is_refused_here_too(writer, reader):
    writer.close()
    newer = sqlite3.connect(writer.database.path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(NewerStoreError):
        reader.sessions()


def test_a_folder_without_a_database_is_a_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "is_read_only", lambda _: True)
    with pytest.raises(ReadOnlyError, match="has no database"):
        Store(tmp_path / "agentdash.db").sessions()
