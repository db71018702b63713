"""Databases of earlier versions: their rows stay, and the version that made them can go on writing."""

import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from agentdash.sessions.asks.model import Ask, AskKind
from agentdash.sessions.errors import NewerStoreError, StoreError
from agentdash.sessions.model import Status, StoppedBy
from agentdash.sessions.rules.attention import attention
from agentdash.sessions.storage.database import Database
from agentdash.sessions.storage.schema import migrations
from agentdash.sessions.storage.store import Store

SCHEMA_1 = """
-- The facts.  What agents print is in files; nothing here is ever a copy of a stream.
-- Times are UTC milliseconds, durations are milliseconds of the monotonic clock, JSON columns hold objects or arrays.

CREATE TABLE counter (
    id  INTEGER PRIMARY KEY CHECK (id = 1),
    seq INTEGER NOT NULL
) STRICT;
INSERT INTO counter (id, seq) VALUES (1, 0);

-- What runners need of the configuration, as a front end read it last: they never read the file themselves.
CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    id            TEXT PRIMARY KEY,
    seq           INTEGER NOT NULL DEFAULT 0,   -- position in the change feed
    agent         TEXT NOT NULL,
    title         TEXT NOT NULL,
    task          TEXT NOT NULL,
    cwd           TEXT NOT NULL,
    model         TEXT,
    options       TEXT NOT NULL DEFAULT '{}',   -- what the spawn asked for beyond the configuration
    command       TEXT NOT NULL DEFAULT '[]',   -- argv of a `command` session
    env           TEXT NOT NULL DEFAULT '{}',   -- values of the adapter's env_keys; never secrets
    source        TEXT NOT NULL DEFAULT 'user',
    parent        TEXT,
    agent_session TEXT,
    status        TEXT NOT NULL,
    reason        TEXT,
    turn          INTEGER NOT NULL,
    input_tokens  INTEGER,
    cached_input_tokens INTEGER,
    output_tokens INTEGER,
    reasoning_output_tokens INTEGER,
    total_tokens  INTEGER,
    cost_usd      REAL,
    exit_code     INTEGER,
    signal        TEXT,
    steps         INTEGER NOT NULL DEFAULT 0,
    unknown       INTEGER NOT NULL DEFAULT 0,
    left          INTEGER NOT NULL DEFAULT 0,
    left_note     TEXT,
    stopping      TEXT,                         -- model.Stopping: how far a stop under way has come
    archived_at   INTEGER,
    last_message  TEXT,
    host          TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    started_at    INTEGER,
    ended_at      INTEGER,
    last_event_at INTEGER
) STRICT;
CREATE INDEX sessions_seq ON sessions (seq);
CREATE INDEX sessions_created ON sessions (created_at);
CREATE INDEX sessions_status ON sessions (status);

CREATE TABLE turns (
    session       TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    n             INTEGER NOT NULL,
    status        TEXT NOT NULL,
    reason        TEXT,
    run_id        TEXT NOT NULL,
    launch        TEXT NOT NULL,                -- agents.base.Launch: the exact start
    launches      INTEGER NOT NULL DEFAULT 0,   -- how often a runner was sent for it
    launched_at   INTEGER,                      -- when the last one was
    created_at    INTEGER NOT NULL,
    started_at    INTEGER,
    ended_at      INTEGER,
    duration_ms   INTEGER,
    runner_pid    INTEGER,
    runner_start  INTEGER,
    agent_pid     INTEGER,
    agent_start   INTEGER,
    boot_id       TEXT,
    pid_ns        TEXT,
    agent_session TEXT,
    end           TEXT,
    rule          TEXT,                         -- which rule of status.py gave the final status
    error         TEXT,
    exit_code     INTEGER,
    signal        TEXT,
    stop_requested_at INTEGER,
    stop_by       TEXT,
    asked_by      TEXT,                         -- the session from inside which it was asked for
    usage         TEXT,
    thread_usage  TEXT,
    cost_usd      REAL,
    steps         INTEGER NOT NULL DEFAULT 0,
    unknown       INTEGER NOT NULL DEFAULT 0,
    rusage        TEXT,
    receipt       TEXT,
    left          TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (session, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX turns_open ON turns (status) WHERE status IN ('queued', 'starting', 'running', 'waiting', 'finishing');

CREATE TABLE prompts (
    id         INTEGER PRIMARY KEY,
    session    TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    turn       INTEGER NOT NULL,
    text       TEXT NOT NULL,
    state      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    sent_at    INTEGER,
    seen_at    INTEGER
) STRICT;
CREATE INDEX prompts_session ON prompts (session, turn);

CREATE TABLE requests (                          -- what a front end asks of a runner
    id         INTEGER PRIMARY KEY,
    session    TEXT NOT NULL,
    turn       INTEGER NOT NULL,
    kind       TEXT NOT NULL,                    -- stop, kill
    asked_by   TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    done_at    INTEGER,
    receipt    TEXT
) STRICT;
CREATE INDEX requests_open ON requests (session) WHERE done_at IS NULL;

CREATE TABLE tombstones (
    session    TEXT PRIMARY KEY,
    seq        INTEGER NOT NULL,
    deleted_at INTEGER NOT NULL
) STRICT;
CREATE INDEX tombstones_seq ON tombstones (seq);

CREATE TABLE seen (
    session TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    at      INTEGER NOT NULL
) STRICT;

-- The change feed is kept by the database itself, so that no writer can forget it.
CREATE TRIGGER sessions_added AFTER INSERT ON sessions BEGIN
    UPDATE counter SET seq = seq + 1;
    UPDATE sessions SET seq = (SELECT seq FROM counter) WHERE id = NEW.id;
END;
CREATE TRIGGER sessions_changed AFTER UPDATE ON sessions WHEN NEW.seq = OLD.seq BEGIN
    UPDATE counter SET seq = seq + 1;
    UPDATE sessions SET seq = (SELECT seq FROM counter) WHERE id = NEW.id;
END;
CREATE TRIGGER sessions_removed AFTER DELETE ON sessions BEGIN
    UPDATE counter SET seq = seq + 1;
    INSERT OR REPLACE INTO tombstones (session, seq, deleted_at)
        VALUES (OLD.id, (SELECT seq FROM counter), CAST(strftime('%s', 'now') AS INTEGER) * 1000);
END;
CREATE TRIGGER seen_added AFTER INSERT ON seen BEGIN
    UPDATE sessions SET seq = seq WHERE id = NEW.session;
END;
CREATE TRIGGER seen_changed AFTER UPDATE ON seen BEGIN
    UPDATE sessions SET seq = seq WHERE id = NEW.session;
END;
"""
ROWS_1 = """
INSERT INTO sessions (id, agent, title, task, cwd, status, turn, steps, host, created_at, updated_at)
    VALUES ('looked-at', 'codex', 'fix it', 'fix it', '/home/ann/code/api', 'done', 1, 12, 'here', 10, 20),
           ('never-looked-at', 'codex', 'test it', 'test it', '/home/ann/code/api', 'done', 1, 5, 'here', 11, 21);
INSERT INTO turns (session, n, status, run_id, launch, created_at, steps)
    VALUES ('looked-at', 1, 'done', 'run-1', '{"argv":["codex"]}', 10, 12);
INSERT INTO prompts (session, turn, text, state, created_at) VALUES ('looked-at', 1, 'fix it', 'seen', 10);
INSERT INTO seen (session, at) VALUES ('looked-at', 30);
"""
MARK_1 = (
    "INSERT INTO seen (session, at) SELECT id, ? FROM sessions WHERE id = ?"
    " ON CONFLICT (session) DO UPDATE SET at = excluded.at"
)
"""How version 1 marks a session as seen."""


PROGRESS_2 = "UPDATE sessions SET status = 'done', reason = NULL, steps = 6, updated_at = 60 WHERE id = ?"
"""How version 2 writes of a session, in short: what it does not name stays."""


def made(path, version):
    """A database of an earlier version with two sessions, of which one was looked at."""
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(SCHEMA_1 + ROWS_1)
        for statements in migrations.MIGRATIONS[: version - 1]:
            for statement in statements:
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {version}")
    db.close()
    return path


@pytest.fixture
def old(tmp_path):
    """A database of version 1."""
    return made(tmp_path / "agentdash.db", 1)


@pytest.fixture
def second(tmp_path):
    """A database of version 2."""
    return made(tmp_path / "second.db", 2)


def version(path):
    with sqlite3.connect(path) as db:
        return db.execute("PRAGMA user_version").fetchone()[0]


def columns(path):
    """All tables with their columns, all indexes and triggers."""
    with sqlite3.connect(path) as db:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        others = db.execute("SELECT type, name FROM sqlite_master WHERE type <> 'table' ORDER BY name").fetchall()
        return {name: db.execute(f"PRAGMA table_xinfo({name})").fetchall() for name in names}, others


def test_rows_of_version_1_are_found_and_what_was_seen_then_is_not_known(old):
    store = Store(old)
    first, second = store.session("looked-at"), store.session("never-looked-at")
    assert (first.title, first.status, first.steps) == ("fix it", Status.DONE, 12)
    assert (first.seen_at, first.seen_steps, first.unread, first.attention) == (30, None, 0, False)
    assert (second.seen_steps, second.unread, second.attention) == (None, 5, True)
    assert [prompt.text for prompt in store.prompts("looked-at")] == ["fix it"]
    assert store.turns("looked-at")[0].argv == ("codex",)
    store.mark_seen("looked-at")
    assert store.session("looked-at").seen_steps == 12
    assert version(old) == migrations.VERSION == 15


def shape(path):
    """The columns of all tables, their constraints, and the SQL of all indexes and triggers without its layout."""
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        options = db.execute("SELECT name, wr, strict FROM pragma_table_list").fetchall()
        tables = [name for kind, name, _ in rows if kind == "table"]
        keys = {name: db.execute(f"PRAGMA foreign_key_list({name})").fetchall() for name in tables}
        uniques = {name: [row[2:] for row in db.execute(f"PRAGMA index_list({name})")] for name in tables}
    code = {(kind, name): words(sql) for kind, name, sql in rows if kind != "table"}
    return sorted(options), keys, {name: sorted(found) for name, found in uniques.items()}, code


def words(sql):
    """The words of a statement: comments and spaces decide nothing."""
    return re.findall(r"'[^']*'|\w+|[^\w\s]", re.sub(r"--.*", "", sql))


@pytest.mark.parametrize("number", range(1, migrations.VERSION))
def test_a_migrated_database_has_the_shape_of_a_new_one(number, tmp_path):
    old, new = made(tmp_path / "old.db", number), tmp_path / "new.db"
    for path in (old, new):
        Store(path).sessions()
    assert columns(old) == columns(new)
    assert shape(old) == shape(new)


def test_the_schema_that_a_migration_is_compared_with_differs_if_a_trigger_does(tmp_path):
    one, other = (made(tmp_path / f"{name}.db", migrations.VERSION - 1) for name in ("one", "other"))
    with sqlite3.connect(other) as db:
        db.execute("DROP TRIGGER sessions_removed")
        db.execute("CREATE TRIGGER sessions_removed AFTER DELETE ON sessions BEGIN SELECT 1; END")
    assert columns(one) == columns(other)
    assert shape(one) != shape(other)


def test_rows_of_version_2_are_found_and_nothing_of_them_is_stuck_denied_or_pinned(second):
    with sqlite3.connect(second) as db:
        db.execute("UPDATE seen SET steps = 12")
    store = Store(second)
    found = store.session("looked-at")
    assert (found.title, found.seen_steps, found.unread) == ("fix it", 12, 0)
    assert (found.stuck, found.stuck_at, found.denied, found.pinned_at) == (None, None, 0, None)
    assert version(second) == migrations.VERSION


def test_a_writer_of_version_2_goes_on_after_the_migration(second):
    writer = sqlite3.connect(second, isolation_level=None)
    writer.execute(PROGRESS_2, ("looked-at",))
    store = Store(second)
    store.sessions()
    with store.database.transaction() as db:
        db.execute("UPDATE sessions SET denied = 2, pinned_at = 50 WHERE id = 'looked-at'")
    writer.execute(PROGRESS_2, ("looked-at",))
    writer.close()
    found = store.session("looked-at")
    assert (found.steps, found.updated_at, found.denied, found.pinned_at) == (6, 60, 2, 50)


def test_a_writer_of_version_1_goes_on_after_the_migration(old):
    writer = sqlite3.connect(old, isolation_level=None)
    writer.execute(MARK_1, (40, "looked-at"))
    store = Store(old)
    store.mark_seen("looked-at")
    writer.execute(MARK_1, (50, "looked-at"))
    writer.execute(MARK_1, (50, "never-looked-at"))
    writer.execute("UPDATE sessions SET steps = 15, updated_at = 45 WHERE id = 'looked-at'")
    writer.close()
    first, second = store.session("looked-at"), store.session("never-looked-at")
    assert (first.seen_at, first.seen_steps, first.unread) == (50, 12, 3)
    assert (second.seen_at, second.seen_steps, second.unread) == (50, None, 0)


ROWS_5 = """
INSERT INTO sessions (id, agent, title, task, cwd, status, reason, turn, host, created_at, updated_at, stuck, stuck_at,
                      denied, archived_at, pinned_at)
    VALUES ('queued', 'codex', '', 't', '/', 'queued', NULL, 1, 'here', 12, 20, NULL, NULL, 0, NULL, NULL),
           ('runs', 'codex', '', 't', '/', 'running', NULL, 1, 'here', 13, 20, NULL, NULL, 0, NULL, NULL),
           ('denied', 'codex', '', 't', '/', 'done', '1 permission denied: Bash', 1, 'here', 14, 20, NULL, NULL, 1,
            NULL, NULL),
           ('stuck', 'codex', '', 't', '/', 'running', NULL, 1, 'here', 15, 20, 'failed', 19, 0, NULL, NULL),
           ('stopped', 'codex', '', 't', '/', 'stopped', 'stopped by you; 1 process ended', 2, 'here', 16, 20, NULL,
            NULL, 0, NULL, NULL),
           ('limited', 'codex', '', 't', '/', 'stopped', 'stopped by its limit: x', 1, 'here', 17, 20, NULL, NULL, 0,
            NULL, NULL),
           ('archived', 'codex', '', 't', '/', 'failed', NULL, 1, 'here', 18, 20, NULL, NULL, 0, 30, NULL),
           ('pinned', 'codex', '', 't', '/', 'stopped', NULL, 1, 'here', 9, 20, NULL, NULL, 0, NULL, 30),
           ('waits', 'codex', '', 't', '/', 'waiting', 'may I?', 1, 'here', 8, 20, NULL, NULL, 0, NULL, NULL);
INSERT INTO turns (session, n, status, run_id, launch, created_at, stop_by)
    VALUES ('stopped', 1, 'stopped', 'run-1', '{"argv":["codex"]}', 10, 'the system'),
           ('stopped', 2, 'stopped', 'run-2', '{"argv":["codex"]}', 10, 'you'),
           ('limited', 1, 'stopped', 'run-3', '{"argv":["codex"]}', 10, 'its limit: ran longer than 1s');
"""


@pytest.fixture
def fifth(tmp_path):
    """A database of version 5 with sessions in most states."""
    path = made(tmp_path / "fifth.db", 5)
    with sqlite3.connect(path) as db:
        db.executescript(ROWS_5)
    db.close()
    return path


def test_sessions_of_version_5_are_in_the_order_of_urgency_and_have_their_facts(fifth):
    store = Store(fifth)
    urgent = ["pinned", "waits", "stuck", "limited", "denied", "runs", "never-looked-at", "queued"]
    found, number = store.first(20)
    assert [one.id for one in found] == [*urgent, "stopped", "looked-at"]
    assert ([one.id for one in store.first(3)[0]], number) == (urgent[:3], 10)
    assert (store.session("stopped").stopped_by, store.session("limited").stopped_by) == (
        StoppedBy.YOU,
        StoppedBy.LIMIT,
    )
    refused = store.session("denied")
    assert (refused.denied_names, attention(refused, 30).reason) == (None, "1 permission denied: Bash")
    assert version(fifth) == migrations.VERSION


def test_what_a_runner_of_version_5_writes_is_in_its_order_at_once(fifth):
    runner = sqlite3.connect(fifth, isolation_level=None)
    runner.execute("SELECT * FROM sessions").fetchall()
    store = Store(fifth)
    assert [one.id for one in store.first(2)[0]] == ["pinned", "waits"]
    runner.execute("UPDATE sessions SET status = 'running', updated_at = 40 WHERE id = 'waits'")
    runner.execute("UPDATE sessions SET status = 'waiting', reason = 'go on?', updated_at = 41 WHERE id = 'runs'")
    runner.execute(
        "INSERT INTO sessions (id, agent, title, task, cwd, status, turn, host, created_at, updated_at)"
        " VALUES ('fresh', 'codex', '', 't', '/', 'failed', 1, 'here', 50, 50)"
    )
    runner.execute(MARK_1, (60, "never-looked-at"))
    runner.close()
    order = ["pinned", "runs", "stuck", "fresh", "limited", "denied", "waits", "queued", "stopped", "never-looked-at"]
    assert [one.id for one in store.first(10)[0]] == order
    assert [one.id for one in store.first(2)[0]] == order[:2]
    store.rename("stopped", "something else")
    assert [one.id for one in store.first(10)[0]] == order


def test_processes_that_migrate_in_the_same_moment_all_succeed(old):
    program = (
        "import sys; from pathlib import Path; from agentdash.sessions.storage.store import Store\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        f"print(len(Store(Path({str(old)!r})).sessions()))"
    )
    command = [sys.executable, "-c", program]
    several = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [one.stdout.readline() for one in several] == ["ready\n"] * 4
    with ThreadPoolExecutor() as pool:
        told = list(pool.map(lambda one: one.communicate("go\n", timeout=60), several))
    assert told == [("2\n", "")] * 4


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


def test_who_comes_second_finds_the_work_done(old):
    connection = slow(old, lambda: Store(old).sessions())
    migrations.migrate(connection, old)
    assert connection.execute("SELECT count(*) FROM pragma_table_info('seen')").fetchone() == (3,)
    assert version(old) == migrations.VERSION


def test_who_comes_after_a_newer_agentdash_leaves_its_work_alone(old):
    def upgraded():
        with sqlite3.connect(old) as db:
            db.execute("PRAGMA user_version = 99")

    connection = slow(old, upgraded)
    with pytest.raises(NewerStoreError, match="Upgrade this one"):
        migrations.migrate(connection, old)
    assert version(old) == 99
    assert not connection.in_transaction


@pytest.mark.parametrize(
    ("pragma", "told"),
    [("max_page_count = 1", "The disk is full: .* cannot be written"), ("query_only = ON", "is read-only")],
)
def test_a_migration_that_cannot_write_says_so_and_changes_nothing(old, monkeypatch, pragma, told):
    before = columns(old)
    connect = Database._connect

    def hindered(self):
        connection = connect(self)
        connection.execute(f"PRAGMA {pragma}")  # SQLite never goes below the pages that are there
        return connection

    fills = "CREATE TABLE ballast AS SELECT randomblob(1000000) AS bytes"
    with monkeypatch.context() as patch:
        patch.setattr(Database, "_connect", hindered)
        patch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, (fills,)))
        with pytest.raises(StoreError, match=told):
            Store(old).sessions()
    assert (version(old), columns(old)) == (1, before)
    assert len(Store(old).sessions()) == 2
    assert version(old) == migrations.VERSION


def test_a_database_of_version_8_gets_asks_and_its_writers_go_on(tmp_path):
    path = made(tmp_path / "eighth.db", 8)
    writer = sqlite3.connect(path, isolation_level=None)
    store = Store(path)
    assert (store.session("looked-at").asking, store.asks.open()) == (0, [])
    store.asks.record("looked-at", 1, 1, Ask(key="k", kind=AskKind.COMMAND, title="run: ls"))
    writer.execute("UPDATE sessions SET status = 'waiting', updated_at = 70 WHERE id = 'looked-at'")
    writer.close()
    found = store.session("looked-at")
    assert (found.status, found.asking) == (Status.WAITING, 1)
