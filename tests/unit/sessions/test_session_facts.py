"""The facts of a session that everything asks: who stopped it, what it was refused, its name."""

from pathlib import Path
from typing import Any

import pytest
from factories import add_turn, no_prompts
from msgspec import structs

from agentdash.sessions.model.session import Session, Status, StoppedBy, short_id
from agentdash.sessions.rules.attention import attention
from agentdash.sessions.rules.filter_query import parse
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.storage.files.session_record import read_identity, restore, write_identity
from agentdash.sessions.storage.paths import SessionFolder
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

NAME = "11111111-1111-4111-8111-111111111111"
PLAIN = Session(
    id=NAME, agent="codex", title="", task="fix it", cwd="/", turn=1, status=Status.RUNNING, created_at=1, updated_at=1
)


@pytest.mark.parametrize(
    ("facts", "has"),
    [
        ({}, True),
        ({"status": Status.DONE}, False),
        ({"status": Status.DONE, "left": 1}, True),
        ({"status": Status.DONE, "warm_since": 1}, True),
    ],
)
def test_a_session_has_a_process_that_works_was_left_or_waits(facts: dict[str, Any], has: bool) -> None:
    assert structs.replace(PLAIN, **facts).has_process is has


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "agentdash.db")


def started(store: Store, n: int = 1) -> TurnLog:
    if n == 1:
        start = Start("t", agent="codex", title="t", cwd="/", session_id=NAME)
        store.create(start, Launch(argv=("codex",)), "run-1", host="here")
    else:
        add_turn(store, NAME, n - 1, "more", Launch(argv=("codex",)))
    log = TurnLog(store, NAME, n, Owner(pid=1, start=2, boot_id="boot", pid_ns="ns"))
    assert log.claim() is not None
    log.running(10, 11)
    return log


def found(store: Store) -> Session:
    session = store.session(NAME)
    assert session is not None
    return session


def test_a_session_without_a_title_is_called_by_its_task():
    assert (PLAIN.label, structs.replace(PLAIN, title="the fix").label) == ("fix it", "the fix")
    assert PLAIN.short_id == short_id(NAME) == "11111111"


@pytest.mark.parametrize("status", Status)
def test_only_what_runs_is_stuck_for_all_who_ask(status: Status):
    session = structs.replace(PLAIN, status=status, stuck="`make` failed 4 times in a row")
    expected = status is Status.RUNNING
    assert session.is_stuck is expected
    assert [parse(text).matches(session, 2) for text in ("is:stuck", "state:stuck")] == [expected, expected]
    assert not PLAIN.is_stuck


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        (None, None), ("you", StoppedBy.YOU), ("the system", StoppedBy.SYSTEM),
        ("its limit: ran longer than 10m", StoppedBy.LIMIT), ("agentdash: its folder was removed", StoppedBy.AGENTDASH),
        ("yourself", StoppedBy.OTHER), ("", StoppedBy.OTHER),
    ],
)  # fmt: skip
def test_who_stopped_it_is_read_from_the_recorded_name(recorded: str | None, expected: StoppedBy | None):
    assert StoppedBy.recorded(recorded) is expected
    if expected in (StoppedBy.LIMIT, StoppedBy.AGENTDASH):
        assert expected.because(str(recorded).partition(": ")[2]) == recorded


@pytest.mark.parametrize(
    "by", ["you", "the system", "its limit: cost more than $1", "agentdash: its folder was removed"]
)
def test_who_stopped_it_is_known_after_the_end_and_not_in_the_next_turn(store: Store, by: str):
    log = started(store)
    log.stopping(by)
    assert found(store).stopped_by is None
    log.end(Facts(), Outcome(status=Status.STOPPED, reason="stopped", stop_by=by), 0, build=no_prompts)
    assert found(store).stopped_by is StoppedBy.recorded(by)
    started(store, 2)
    assert found(store).stopped_by is None


def test_a_stop_that_came_after_the_proper_end_stopped_nothing(store: Store):
    log = started(store)
    log.stopping("you")
    log.end(Facts(end="completed"), Outcome(status=Status.DONE, reason=None), 0, build=no_prompts)
    assert found(store).stopped_by is None


def test_what_was_refused_is_a_fact_of_its_turn(store: Store):
    log, facts = started(store), Facts()
    for what in ("Bash", "Write", "Bash"):
        facts.deny(what)
    log.progress(facts, Status.RUNNING, "Reconnecting... 1/2", 1, None)
    assert (found(store).denied, found(store).denied_names) == (3, ("Bash", "Write"))
    needed = attention(found(store), 2)
    assert needed is not None
    assert needed.reason == "3 permissions denied: Bash, Write"
    log.end(facts, Outcome(status=Status.DONE, reason=None), 1, build=no_prompts)
    started(store, 2)
    assert (found(store).denied, found(store).denied_names) == (0, None)


def test_a_record_brings_all_facts_back(store: Store, tmp_path: Path):
    log, facts = started(store), Facts()
    facts.deny("Bash")
    log.end(facts, Outcome(status=Status.STOPPED, reason="stopped by you", stop_by="you"), 1, build=no_prompts)
    folder = SessionFolder(tmp_path / NAME)
    folder.create()
    write_identity(store, folder)
    before = found(store)
    identity = read_identity(folder.identity)
    assert (identity.session.stopped_by, identity.session.denied_names) == (StoppedBy.YOU, ("Bash",))
    other = Store(tmp_path / "other.db")
    assert restore(other, identity)
    assert found(other) == before
    assert other.first(1) == ([before], 1)
