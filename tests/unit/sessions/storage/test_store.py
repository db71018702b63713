"""The store: transactions, the change feed, and files of other versions."""

import sqlite3

import pytest
from factories import add_turn, no_prompts

from agentdash.sessions.model.errors import SessionBusyError, StoreError, UnknownSessionError
from agentdash.sessions.model.session import Status, Usage
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind, RelatedMark
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.storage.marks import add_mark
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

OWNER = Owner(pid=1, start=2, boot_id="boot", pid_ns="ns")


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "agentdash.db")
    yield store
    store.close()


def create(store, session_id="session-1", prompt="do it"):
    start = Start(prompt, agent="command", title=prompt, cwd="/", session_id=session_id)
    store.create(start, Launch(argv=("true",)), "run-1", host="here")
    return session_id


def log_of(store, session_id, n=1):
    """What the runner of a turn writes."""
    return TurnLog(store, session_id, n, OWNER)


def play(store, session_id, n=1, facts=None, status=Status.DONE):
    """Take a turn through claim, start and end."""
    log = TurnLog(store, session_id, n, OWNER)
    assert log.claim() is not None
    log.running(10, 11)
    assert log.end(
        facts or Facts(end="completed"), Outcome(status=status, reason=None, exit_code=0), steps=3, build=no_prompts
    )
    return log


def test_the_feed_gives_each_change_once_and_deletions_too(store):
    first = create(store)
    seen = store.changes(0)
    assert [s.id for s in seen.updated] == [first]
    assert store.changes(seen.seq).updated == ()
    play(store, first)
    later = store.changes(seen.seq)
    assert [(s.id, s.status) for s in later.updated] == [(first, Status.DONE)]
    store.delete(first, 1)
    gone = store.changes(later.seq)
    assert (gone.updated, gone.removed) == ((), (first,))
    assert store.changes(gone.seq).removed == ()


def test_a_session_steers_while_the_turn_of_a_live_agent_runs(store):
    session_id = create(store)
    live = Launch(argv=("codex", "app-server"), transport="app-server")
    log = log_of(store, session_id)
    log.claim()
    log.running(10, 11)
    assert not store.session(session_id).steers  # it has a process of its own for each turn
    log.end(Facts(end="completed"), Outcome(status=Status.DONE, reason=None, exit_code=0), steps=3, build=no_prompts)
    add_turn(store, session_id, 1, "more", live)
    assert not store.session(session_id).steers
    later = log_of(store, session_id, 2)
    later.claim()
    assert store.session(session_id).steers
    later.running(10, 11)
    assert [one.steers for one in store.changes(0).updated] == [True]
    later.end(Facts(end="completed"), Outcome(status=Status.DONE, reason=None, exit_code=0), steps=3, build=no_prompts)
    assert not store.session(session_id).steers


def test_looking_at_a_session_is_a_change_that_other_front_ends_see(store):
    session_id = create(store)
    seq = store.changes(0).seq
    store.mark_seen(session_id)
    assert [s.seen_at is not None for s in store.changes(seq).updated] == [True]


def test_steps_are_unread_until_somebody_looks_and_again_when_more_come(store):
    session_id = create(store)
    assert store.session(session_id).unread == 0
    play(store, session_id)
    never = store.session(session_id)
    assert (never.seen_steps, never.unread, never.all_seen) == (None, 3, False)
    store.mark_seen(session_id)
    looked = store.session(session_id)
    assert (looked.seen_steps, looked.unread, looked.all_seen) == (3, 0, True)
    add_turn(store, session_id, 1, "more", Launch(argv=("true",)))
    play(store, session_id, 2)
    assert (store.session(session_id).steps, store.session(session_id).unread) == (6, 3)


def test_a_marker_never_goes_back_to_fewer_steps(store):
    session_id = create(store)
    play(store, session_id)
    for given, kept in ((1, 1), (2, 2), (0, 2), (None, 3), (1, 3)):
        store.mark_seen(session_id, given)
        assert store.session(session_id).seen_steps == kept


def test_nobody_has_seen_more_steps_than_there_are(store):
    session_id = create(store)
    play(store, session_id)
    store.mark_seen(session_id, 1000)
    assert store.session(session_id).seen_steps == 3


def test_a_session_that_was_deleted_gets_no_marker(store):
    store.mark_seen("nobody")
    assert store.database.rows("SELECT * FROM seen") == []


def test_a_turn_is_claimed_by_exactly_one(store):
    session_id = create(store)
    assert TurnLog(store, session_id, 1, OWNER).claim() is not None
    assert TurnLog(store, session_id, 1, OWNER).claim() is None


def test_an_ended_turn_cannot_be_ended_again(store):
    session_id = create(store)
    log = play(store, session_id, status=Status.STOPPED)
    assert not log.end(Facts(), Outcome(status=Status.DONE, reason=None), steps=0, build=no_prompts)
    log.progress(Facts(last_message="late"), Status.RUNNING, None, 9, None)
    session = store.session(session_id)
    assert (session.status, session.last_message) == (Status.STOPPED, None)


def test_of_two_prompts_after_the_same_turn_one_is_refused(store):
    session_id = create(store)
    play(store, session_id)
    assert add_turn(store, session_id, 1, "a", Launch(argv=("true",))) == 2
    with pytest.raises(SessionBusyError, match="another prompt came first"):
        add_turn(store, session_id, 1, "b", Launch(argv=("true",)))
    assert [p.text for p in store.prompts(session_id)] == ["do it", "a"]


def test_a_prompt_for_a_deleted_session_brings_nothing_back(store):
    session_id = create(store)
    play(store, session_id)
    assert store.delete(session_id, 1)
    with pytest.raises(UnknownSessionError):
        add_turn(store, session_id, 1, "b", Launch(argv=("true",)))
    assert store.sessions() == []


def test_a_running_session_is_not_deleted(store):
    session_id = create(store)
    TurnLog(store, session_id, 1, OWNER).claim()
    assert not store.delete(session_id, 1)


def test_tokens_of_three_turns_add_up_for_an_agent_that_reports_running_totals(store):
    session_id = create(store)
    for n, total in ((1, 100), (2, 250), (3, 450)):
        if n > 1:
            add_turn(store, session_id, n - 1, "more", Launch(argv=("true",)))
        play(store, session_id, n, Facts(end="completed", agent_session="t", thread_usage=Usage.of(total, 0, 10 * n)))
    assert [turn.usage.input_tokens for turn in store.turns(session_id)] == [100, 150, 200]
    usage = store.session(session_id).usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (450, 30, 480)


def test_tokens_of_three_turns_add_up_for_an_agent_that_counts_per_turn(store):
    session_id = create(store)
    for n in (1, 2, 3):
        if n > 1:
            add_turn(store, session_id, n - 1, "more", Launch(argv=("true",)))
        play(store, session_id, n, Facts(end="completed", usage=Usage.of(110, None, 5), cost_usd=0.5))
    session = store.session(session_id)
    assert (session.usage.input_tokens, session.usage.total_tokens) == (330, 345)
    assert session.usage.cached_input_tokens is None
    assert session.cost_usd == 1.5


def test_a_failed_turn_without_usage_does_not_reset_the_thread(store):
    session_id = create(store)
    play(store, session_id, 1, Facts(end="completed", agent_session="t", thread_usage=Usage.of(100, 0, 10)))
    add_turn(store, session_id, 1, "more", Launch(argv=("true",)))
    play(store, session_id, 2, Facts(end="failed", agent_session="t"), Status.FAILED)
    add_turn(store, session_id, 2, "more", Launch(argv=("true",)))
    play(store, session_id, 3, Facts(end="completed", agent_session="t", thread_usage=Usage.of(300, 0, 30)))
    assert store.session(session_id).usage.total_tokens == 330


def test_unknown_is_null_never_zero(store):
    session_id = create(store)
    play(store, session_id)
    session = store.session(session_id)
    assert session.usage == Usage()
    assert session.cost_usd is None


def test_a_file_of_a_newer_version_is_refused_and_untouched(tmp_path):
    path = tmp_path / "agentdash.db"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    store = Store(path)
    with pytest.raises(StoreError, match="newer agentdash"):
        store.sessions()
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


def test_a_file_that_is_no_database_is_a_clear_error(tmp_path):
    path = tmp_path / "agentdash.db"
    path.write_bytes(b"not a database, " * 100)
    with pytest.raises(
        StoreError,
        match=r"is damaged: file is not a database\. Rebuild it from the session folders: agentdash doctor --rebuild",
    ):
        Store(path).sessions()


def test_a_damaged_page_is_a_clear_error(tmp_path):
    store = Store(tmp_path / "agentdash.db")
    for n in range(50):
        create(store, f"session-{n}")
    store.close()
    data = bytearray((tmp_path / "agentdash.db").read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    (tmp_path / "agentdash.db").write_bytes(data)
    with pytest.raises(StoreError, match="is damaged"):
        Store(tmp_path / "agentdash.db").sessions()


def test_the_feed_shows_one_moment(store, monkeypatch):
    """An update and a deletion between its two queries must not be skipped for ever."""
    kept, gone = create(store, "kept-one"), create(store, "gone-one")
    seq = store.changes(0).seq
    other = Store(store.database.path)
    rows = store.database.rows

    def rows_then_somebody_commits(sql, parameters=()):
        found = rows(sql, parameters)
        if "tombstones" not in sql:
            with other.database.transaction() as db:
                db.execute("UPDATE sessions SET title = 'new' WHERE id = ?", (kept,))
                db.execute("DELETE FROM sessions WHERE id = ?", (gone,))
        return found

    monkeypatch.setattr(store.database, "rows", rows_then_somebody_commits)
    first = store.changes(seq)
    monkeypatch.undo()
    then = store.changes(first.seq)
    assert [session.title for session in first.updated + then.updated] == ["new"]
    assert first.removed + then.removed == (gone,)


def test_what_an_agent_says_does_not_grow_a_row(store):
    session_id = create(store)
    log = log_of(store, session_id)
    log.claim()
    log.running(10, 20)
    facts = Facts(error="e" * 10**6, agent_session="i" * 300, model="m" * 10**6, notice="n")
    log.progress(facts, Status.RUNNING, "r" * 10**6, 1, None)
    session = store.session(session_id)
    assert max(len(session.reason), len(session.model), len(store.turns(session_id)[0].error)) <= 500
    assert session.agent_session is None  # no later start could carry it


def test_a_database_that_was_replaced_is_opened_anew(tmp_path):
    store = Store(tmp_path / "agentdash.db")
    create(store)
    before = store.data_version()
    for file in tmp_path.iterdir():
        file.unlink()
    other = Store(tmp_path / "agentdash.db")
    new = create(other)
    assert store.data_version() != before
    assert [session.id for session in store.sessions()] == [new]


def test_a_request_concerns_one_turn(store):
    session_id = create(store)
    store.request(session_id, 1, "stop", "you")
    assert store.open_requests(session_id, 1) == ["stop"]
    assert store.open_requests(session_id, 2) == []
    store.request(session_id, 2, "kill", "you")
    assert store.open_requests(session_id, 1) == ["stop", "kill"]  # turn 2 was cancelled before it started


def test_a_failed_transaction_leaves_nothing(store):
    session_id = create(store)
    with pytest.raises(sqlite3.IntegrityError), store.database.transaction() as db:
        db.execute("UPDATE sessions SET title = 'half'")
        db.execute(
            "INSERT INTO turns (session, n, status, run_id, launch, created_at) VALUES (?, 1, '', '', '', 0)",
            (session_id,),
        )
    assert store.session(session_id).title == "do it"
    create(store, "session-2")


def test_an_unchanged_database_keeps_its_data_version(store):
    create(store)
    before = store.data_version()
    store.sessions()
    assert store.data_version() == before
    store.mark_seen("session-1")
    assert store.data_version() != before


def test_a_turn_that_was_measured_by_itself_is_not_counted_again_by_the_sum_of_its_thread(store):
    session_id = create(store)
    log_of(store, session_id).claim()
    log_of(store, session_id).running(10, 11)
    # Stopped in the middle: five calls were seen, the thread's own sum has four of them.
    facts = Facts(agent_session="t", usage=Usage.of(500, 0, 50), thread_usage=Usage.of(400, 0, 40))
    log_of(store, session_id).end(facts, Outcome(status=Status.STOPPED, reason=None), steps=3, build=no_prompts)
    assert store.session(session_id).usage.total_tokens == 550
    add_turn(store, session_id, 1, "more", Launch(argv=("true",)))
    play(store, session_id, 2, Facts(agent_session="t", end="completed", thread_usage=Usage.of(600, 0, 60)))
    assert [turn.usage.total_tokens for turn in store.turns(session_id)] == [550, 220]


def test_who_concludes_a_turn_in_place_of_its_runner_forgets_nothing_that_was_measured(store):
    session_id = create(store)
    log = log_of(store, session_id)
    log.claim()
    log.running(10, 11)
    log.progress(Facts(usage=Usage.of(500, 0, 50), cost_about_usd=0.25), Status.RUNNING, None, 1, None)
    log.end(Facts(), Outcome(status=Status.LOST, reason=None), steps=1, build=no_prompts)
    [turn] = store.turns(session_id)
    assert (turn.usage.total_tokens, turn.cost_about_usd, turn.cost_usd) == (550, 0.25, None)


def test_the_agent_s_own_figure_takes_the_place_of_an_estimate(store):
    session_id = create(store)
    log = log_of(store, session_id)
    log.claim()
    log.running(10, 11)
    log.progress(Facts(cost_about_usd=0.25), Status.RUNNING, None, 1, None)
    assert store.session(session_id).cost_usd is None
    log.end(Facts(end="completed", cost_usd=0.2), Outcome(status=Status.DONE, reason=None), steps=1, build=no_prompts)
    [turn] = store.turns(session_id)
    assert (turn.cost_about_usd, turn.cost_usd) == (None, 0.2)


def test_options_that_come_with_a_turn_hold_for_the_next_ones(store):
    session_id = create(store)
    play(store, session_id)
    add_turn(store, session_id, 1, "more", Launch(argv=("true",)), None, {"limits": {"tokens": 5}})
    assert store.recipe(session_id).options == {"limits": {"tokens": 5}}
    play(store, session_id, 2)
    add_turn(store, session_id, 2, "more", Launch(argv=("true",)))
    assert store.recipe(session_id).options == {"limits": {"tokens": 5}}


def test_a_process_that_reads_little_keeps_few_pages(tmp_path):
    store = Store(tmp_path / "agentdash.db", 200)
    assert store.database.rows("PRAGMA cache_size")[0][0] == -200
    with store.database.transaction() as db:
        assert db.execute("PRAGMA cache_size").fetchone()[0] == -200
    store.close()


def test_a_session_has_its_marks_and_those_with_which_its_forks_begin(store):
    origin, fork = create(store, "origin", "the talk"), create(store, "fork", "another way")
    with store.database.transaction() as db:
        first = add_mark(
            db, Mark(id=0, session=fork, kind=MarkKind.FORK, after=0, turn=1, step=2, origin=origin, asked_by="you")
        )
        second = add_mark(db, Mark(id=0, session=origin, kind=MarkKind.REWIND, after=1, turn=1, asked_by="you"))
    assert store.marks.around(origin) == [RelatedMark(first, "another way"), RelatedMark(second)]
    assert store.marks.around(fork) == [RelatedMark(first, "the talk")]
    assert store.marks.around(create(store, "plain")) == []


def test_a_fork_has_the_front_ends_read_its_origin_again(store):
    origin, fork = create(store, "origin"), create(store, "fork")
    before = store.changes(0).seq
    with store.database.transaction() as db:
        add_mark(db, Mark(id=0, session=fork, kind=MarkKind.FORK, after=0, turn=1, origin=origin, asked_by="you"))
    assert {session.id for session in store.changes(before).updated} == {origin, fork}
