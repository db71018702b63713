import os
import resource
import sqlite3
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from agentdash.sessions.model.errors import DiskFullError, StoreError
from agentdash.sessions.storage import database
from agentdash.sessions.storage.database import Database


@pytest.fixture
def path(tmp_path):
    return tmp_path / "agentdash.db"


@pytest.fixture
def other(path):
    """Another process that opens the same new file: it is about to write the first page."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield other
    other.close()


def test_a_new_file_that_another_process_opens_in_the_same_moment_is_waited_for(path, other, monkeypatch):
    waits = []

    def end_of_the_other(seconds):
        waits.append(seconds)
        other.rollback()

    monkeypatch.setattr(database, "sleep", end_of_the_other)
    found = Database(path)
    with found.transaction() as db:
        db.execute("UPDATE counter SET seq = seq + 1")
    assert len(waits) == 1
    assert [tuple(row) for row in found.rows("PRAGMA journal_mode")] == [("wal",)]
    found.close()


def test_a_new_file_that_another_process_does_not_let_go_is_named(path, other, monkeypatch):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.0)
    with pytest.raises(StoreError, match=r"agentdash\.db cannot be used: database is locked"):
        Database(path).rows("SELECT 1")


def test_a_new_file_that_is_no_database_is_refused_at_once(path, monkeypatch):
    path.write_bytes(b"not a database" * 100)
    monkeypatch.setattr(database, "sleep", lambda _: pytest.fail("nothing to wait for"))
    with pytest.raises(StoreError, match="is damaged"):
        Database(path).rows("SELECT 1")


@pytest.fixture
def grow_to(path):
    """Let a database be made, and then no file grow beyond so many bytes."""
    made = Database(path)
    made.rows("SELECT 1")
    made.close()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    @contextmanager
    def limited(most):
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
        try:
            yield
        finally:  # at once: what pytest prints may go to a file
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited


@pytest.mark.parametrize(
    ("free_bytes", "raised", "told"),
    [(4096, DiskFullError, "The disk is full: "), (10**9, StoreError, "cannot be used: disk I/O error")],
)
def test_a_disk_without_room_for_the_shared_memory_is_called_full(path, grow_to, monkeypatch, free_bytes, raised, told):
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=free_bytes, f_frsize=1))
    with grow_to(0), pytest.raises(raised, match=told):
        Database(path).rows("SELECT 1")


def test_a_log_that_cannot_grow_has_room_again_for_the_next_transaction(path, grow_to, monkeypatch):
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=0, f_frsize=1))
    other, found = Database(path), Database(path)
    other.rows("SELECT 1")  # of another process: the log is not deleted when one of them closes it

    def write():
        with found.transaction() as db:
            db.execute("UPDATE counter SET seq = seq + 1")

    write()
    with grow_to(path.stat().st_size):
        with pytest.raises(DiskFullError):
            for _ in range(1000):
                write()
        for _ in range(10):
            write()
        found.close()
        other.close()
