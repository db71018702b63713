"""The order of urgency: one function, which the table asks and the database stores."""

import re
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.rules.attention import by_urgency, urgency
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.rules.urgency_levels import Urgency
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.sessions.storage.urgency import FIRST, IN_ORDER
from agentdash.widgets.table.row_model import RowModel

NOW = 1_000_000
MOMENTS = st.integers(1, 3)

FACTS = st.fixed_dictionaries({
    "status": st.sampled_from(list(map(str, Status))),
    "updated_at": MOMENTS,
    "created_at": MOMENTS,
    "stuck": st.sampled_from([None, "`make` failed 4 times in a row"]),
    "denied": st.integers(0, 1),
    "asks": st.sampled_from([None, "Which one?"]),
    "stopping": st.sampled_from([None, '{"rung":"SIGINT"}']),
    "archived_at": st.sampled_from([None, None, None, 2]),
    "pinned_at": st.sampled_from([None, None, 2]),
})  # fmt: skip
SEEN = st.none() | MOMENTS
CHANGES = st.lists(st.tuples(st.integers(0, 7), FACTS, SEEN), max_size=8)
"""The number of a session, its facts from then on, and when the user opens it."""


def insert(db: sqlite3.Connection, name: str, facts: dict[str, object]) -> None:
    row = facts | {"id": name, "agent": "codex", "title": "", "task": name, "cwd": "/", "turn": 1, "host": "here"}
    marks = ", ".join("?" * len(row))
    db.execute(f"INSERT INTO sessions ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))


def update(db: sqlite3.Connection, name: str, facts: dict[str, object], seen: int | None) -> None:
    named = ", ".join(f"{column} = ?" for column in facts)
    db.execute(f"UPDATE sessions SET {named} WHERE id = ?", (*facts.values(), name))
    if seen is not None:
        db.execute("INSERT OR REPLACE INTO seen (session, at) VALUES (?, ?)", (name, seen))


def in_use(store: Store) -> list[Session]:
    return [session for session in store.sessions() if session.archived_at is None]


def stored(store: Store) -> dict[str, int]:
    rows = store.database.rows("SELECT id, urgency FROM sessions WHERE archived_at IS NULL")
    return {row["id"]: row["urgency"] for row in rows}


@given(st.lists(FACTS, min_size=1, max_size=8), CHANGES)
def test_the_stored_order_is_that_of_the_function(first: list[dict[str, object]], changes: list[tuple]) -> None:  # type: ignore[type-arg]
    with TemporaryDirectory() as folder:
        store = Store(Path(folder) / "agentdash.db")
        with store.database.transaction() as db:
            for number, facts in enumerate(first):
                insert(db, f"s{number}", facts)
        assert stored(store) == {session.id: urgency(session) for session in in_use(store)}
        for number, facts, seen in changes:
            with store.database.transaction() as db:
                update(db, f"s{number % len(first)}", facts, seen)
            assert stored(store) == {session.id: urgency(session) for session in in_use(store)}
            expected = sorted(in_use(store), key=by_urgency)
            assert store.first(100) == (expected, len(expected))
            assert store.first(2)[0] == expected[:2]
        store.close()


@given(st.lists(FACTS, max_size=8))
def test_the_table_shows_sessions_in_the_order_of_the_function(all_facts: list[dict[str, object]]) -> None:
    sessions = [
        Session(
            id=f"s{number}", agent="codex", title="", task="t", cwd="/", turn=1, status=Status(str(facts["status"])),
            **{name: value for name, value in facts.items() if name not in ("status", "stopping", "archived_at")},
        )
        for number, facts in enumerate(all_facts)
    ]  # fmt: skip
    rows = RowModel()
    rows.update(sessions, (), NOW)
    shown = rows.displayed
    assert shown == [session.id for session in sorted(sessions, key=by_urgency)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "agentdash.db")


def created(store: Store, name: str) -> TurnLog:
    start = Start("t", agent="codex", title="t", cwd="/", session_id=name)
    store.create(start, Launch(argv=("codex",)), f"run of {name}", host="here")
    return TurnLog(store, name, 1, Owner(pid=1, start=2, boot_id="boot", pid_ns="ns"))


def test_a_session_moves_when_its_runner_records_a_question(store: Store) -> None:
    for name in ("first", "second", "third"):
        log = created(store, name)
    assert log.claim() is not None
    log.running(10, 11)
    asking = Facts(waiting="may I?")
    log.progress(asking, Status.WAITING, "may I?", 1, NOW)
    assert [session.id for session in store.first(1)[0]] == ["third"]
    assert stored(store) == {"first": Urgency.QUEUED, "second": Urgency.QUEUED, "third": Urgency.WAITING}


def test_running_comes_before_done_and_after_what_asks() -> None:
    facts = {"agent": "codex", "title": "", "task": "t", "cwd": "/", "turn": 1, "created_at": 1, "updated_at": 1}
    done = Session(id="done", status=Status.DONE, **facts)  # type: ignore[arg-type]
    asks = Session(id="asks", status=Status.DONE, asks="Which one?", **facts)  # type: ignore[arg-type]
    runs = Session(id="runs", status=Status.RUNNING, **facts)  # type: ignore[arg-type]
    queued = Session(id="queued", status=Status.QUEUED, **facts)  # type: ignore[arg-type]
    order = sorted((queued, done, runs, asks), key=by_urgency)
    assert [session.id for session in order] == ["asks", "runs", "done", "queued"]


def test_the_change_feed_has_each_change_once(store: Store) -> None:
    created(store, "one")
    seen = store.changes(0).seq
    store.mark_seen("one")
    later = store.changes(seen)
    assert [session.id for session in later.updated] == ["one"]
    store.first(10)
    assert store.changes(later.seq).updated == ()


def test_a_row_that_cannot_be_read_keeps_no_other_from_being_written(store: Store) -> None:
    created(store, "odd")
    with store.database.transaction() as db:
        db.execute("UPDATE sessions SET stopping = 'no JSON' WHERE id = 'odd'")
    log = created(store, "sound")
    assert log.claim() is not None
    assert store.session("sound").status is Status.STARTING  # type: ignore[union-attr]
    assert stored(store)["sound"] == Urgency.AT_WORK


def test_the_first_screen_is_read_from_an_index_and_not_sorted(store: Store) -> None:
    for sql, parameters in ((FIRST, (100,)), (IN_ORDER, ())):
        plan = [row["detail"] for row in store.database.rows(f"EXPLAIN QUERY PLAN {sql}", parameters)]
        assert re.match("SCAN sessions USING (COVERING )?INDEX sessions_first", plan[0])
        assert not any("TEMP B-TREE" in step for step in plan)
