"""The schema of a database: all of it or nothing, made by one of several processes; another one is refused."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from agentdash.sessions.model.errors import NewerStoreError, OlderStoreError, StoreError
from agentdash.sessions.runner.processes import runner_lock
from agentdash.sessions.storage import schema
from agentdash.sessions.storage.database import Database
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store

TOO_SMALL = 3
"""Pages into which the tables do not fit."""


@pytest.fixture
def path(tmp_path):
    """The place of a database, which is an empty file."""
    path = tmp_path / "agentdash.db"
    path.touch()
    return path


def set_version(path, number):
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {number}")
    db.close()


def version(path):
    with sqlite3.connect(path) as db:
        return db.execute("PRAGMA user_version").fetchone()[0]


def tables(path):
    with sqlite3.connect(path) as db:
        return [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_processes_that_create_it_in_the_same_moment_all_succeed(path):
    program = (
        "import sys; from pathlib import Path; from agentdash.sessions.storage.store import Store\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        f"print(len(Store(Path({str(path)!r})).sessions()))"
    )
    command = [sys.executable, "-c", program]
    several = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [one.stdout.readline() for one in several] == ["ready\n"] * 4
    with ThreadPoolExecutor() as pool:
        told = list(pool.map(lambda one: one.communicate("go\n", timeout=60), several))
    assert told == [("0\n", "")] * 4


class Slow(sqlite3.Connection):
    """Another process is faster: ``meanwhile`` happens between the reading of the version and the lock."""

    meanwhile: Callable[[], object]

    def execute(self, sql, *parameters):
        if sql == "BEGIN EXCLUSIVE":
            self.meanwhile()
        return super().execute(sql, *parameters)


def slow(path, meanwhile):
    connection: Slow = sqlite3.connect(path, isolation_level=None, factory=Slow)
    connection.meanwhile = meanwhile
    return connection


def test_who_comes_second_finds_the_work_done(path):
    schema.create(slow(path, lambda: Store(path).sessions()), path)
    assert (version(path), "sessions" in tables(path)) == (schema.VERSION, True)


def test_who_comes_after_a_newer_agentdash_leaves_its_work_alone(path):
    connection = slow(path, lambda: set_version(path, 99))
    with pytest.raises(NewerStoreError, match="Upgrade this one"):
        schema.create(connection, path)
    assert (version(path), tables(path)) == (99, [])
    assert not connection.in_transaction


@pytest.mark.parametrize(
    ("pragma", "told"),
    [
        (f"max_page_count = {TOO_SMALL}", "The disk is full: .* cannot be written"),
        ("query_only = ON", "is read-only"),
    ],
)
def test_a_file_that_cannot_be_written_gets_no_table(path, monkeypatch, pragma, told):
    connect = Database._connect

    def hindered(self):
        connection = connect(self)
        connection.execute(f"PRAGMA {pragma}")
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(Database, "_connect", hindered)
        with pytest.raises(StoreError, match=told):
            Store(path).sessions()
    assert (version(path), tables(path)) == (0, [])
    assert Store(path).sessions() == []


@pytest.mark.parametrize("number", [1, schema.VERSION - 1])
def test_an_older_schema_is_refused_with_what_to_do_and_nothing_changes(path, number):
    store = Store(path)
    store.sessions()
    store.close()
    set_version(path, number)
    before = files(path.parent)
    with pytest.raises(OlderStoreError) as refused:
        store.sessions()
    assert str(refused.value) == (
        f"{path} was written by an older agentdash (schema {number}; this one has {schema.VERSION})."
        " Rebuild it from the session folders: agentdash doctor --rebuild"
    )
    assert files(path.parent) == before


def test_the_sessions_that_an_older_agentdash_runs_are_named(path):
    layout, session = Layout(path.parent), "0123456789abcdef"
    store = Store(path)
    with store.database.transaction() as db:
        db.execute(
            "INSERT INTO sessions (id, agent, title, task, cwd, status, turn, host, created_at, updated_at)"
            " VALUES (?, 'codex', '', 'fix\nit', '/', 'done', 1, 'here', 1, 2)",
            (session,),
        )
    store.close()
    set_version(path, 14)
    for name in (session, "f" * 16):
        layout.session(name).create()
    with runner_lock.hold(layout.session(session).lock), pytest.raises(OlderStoreError) as refused:
        store.sessions()
    assert 'run and have to end first: 01234567 "fix it". Wait, or stop them: agentdash stop ID.' in str(refused.value)
    with pytest.raises(OlderStoreError) as refused:
        store.sessions()
    assert "01234567" not in str(refused.value)
