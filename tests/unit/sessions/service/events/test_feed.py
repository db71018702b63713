"""The events of sessions: nothing is missed, no end is told twice, and a reader goes on behind any line."""

import pytest
from factories import add_turn

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.membership import Membership
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.filter_query import parse
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.service.events.feed import EventFeed, Selection
from agentdash.sessions.service.events.model import Event, EventKind
from agentdash.sessions.storage.change_log import changes_after
from agentdash.sessions.storage.store import Store


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "agentdash.db")
    yield store
    store.close()


def add(store, session_id, **place):
    start = Start("true", agent="codex", title=session_id, cwd="/", session_id=session_id)
    store.create(start, Launch(argv=("true",)), f"run-{session_id}", host="here", membership=Membership(**place))


def write(store, sql, *values):
    with store.database.transaction() as db:
        db.execute(sql, values)


def become(store, session_id, status, **facts):
    """Write a status as a runner does: of the newest turn and of the session, in one transaction."""
    with store.database.transaction() as db:
        db.execute(
            "UPDATE turns SET status = ?, ended_at = 77 WHERE session = ? AND n = (SELECT max(n) FROM turns WHERE"
            " session = ?)", (status, session_id, session_id),
        )  # fmt: skip
        db.execute("UPDATE sessions SET status = ? WHERE id = ?", (status, session_id))
        for name, value in facts.items():
            db.execute(f"UPDATE sessions SET {name} = ? WHERE id = ?", (value, session_id))


def again(store, session_id, after=1):
    assert add_turn(store, session_id, after, "more", Launch(argv=("true",))) == after + 1


def feed(store, since=None, words="", family=None, trashed=lambda _: None):
    return EventFeed(store.database, Selection(parse(words), family), trashed, since)


def told(lines):
    """What lines say, without positions and times."""
    return [
        (line.event.value, line.id, line.turn, line.status and line.status.value)
        if isinstance(line, Event)
        else "begin"
        for line in lines
    ]


def test_a_reader_begins_with_what_is_there(store):
    add(store, "session-1")
    become(store, "session-1", Status.RUNNING)
    assert told(feed(store).begin()) == ["begin", ("present", "session-1", 1, "running")]


def test_each_change_is_an_event(store):
    add(store, "session-1")
    events = feed(store)
    events.begin()
    steps = [
        (lambda: add(store, "session-2"), ("status", "session-2", 1, "queued")),
        (lambda: become(store, "session-1", Status.RUNNING), ("started", "session-1", 1, "running")),
        (lambda: become(store, "session-1", Status.RUNNING, stuck="loop"), ("stuck", "session-1", 1, "running")),
        (lambda: become(store, "session-1", Status.WAITING, stuck=None), ("waiting", "session-1", 1, "waiting")),
        (lambda: become(store, "session-1", Status.WAITING, asking=1), ("waiting", "session-1", 1, "waiting")),
        (lambda: become(store, "session-1", Status.RUNNING, asking=0), ("status", "session-1", 1, "running")),
        (lambda: become(store, "session-1", Status.RUNNING, input_tokens=5), ("usage", "session-1", 1, "running")),
        (lambda: become(store, "session-1", Status.RUNNING, title="x"), ("changed", "session-1", 1, "running")),
        (lambda: become(store, "session-1", Status.DONE), ("ended", "session-1", 1, "done")),
        (lambda: again(store, "session-1"), ("status", "session-1", 2, "queued")),
        (lambda: become(store, "session-1", Status.STARTING), ("started", "session-1", 2, "starting")),
        (lambda: become(store, "session-1", Status.FAILED), ("ended", "session-1", 2, "failed")),
        (lambda: become(store, "session-1", Status.FAILED, archived_at=1), ("changed", "session-1", 2, "failed")),
        (lambda: write(store, "DELETE FROM sessions WHERE id = 'session-1'"), ("deleted", "session-1", 2, "failed")),
    ]  # fmt: skip
    for act, expected in steps:
        act()
        assert told(events.more()) == [expected]
        assert told(events.more()) == []


def test_steps_and_marks_of_reading_are_no_events(store):
    add(store, "session-1")
    become(store, "session-1", Status.RUNNING)
    events = feed(store)
    events.begin()
    become(store, "session-1", Status.RUNNING, steps=7, last_event_at=9, activity=None, last_message="x")
    write(store, "INSERT INTO seen (session, at, steps) VALUES ('session-1', 5, 7)")
    assert events.more() == []


def test_an_end_between_two_checks_is_told_though_the_next_turn_runs(store):
    add(store, "session-1")
    become(store, "session-1", Status.RUNNING)
    events = feed(store)
    events.begin()
    become(store, "session-1", Status.FAILED)
    again(store, "session-1")
    become(store, "session-1", Status.DONE)
    again(store, "session-1", 2)
    become(store, "session-1", Status.RUNNING)
    lines = events.more()
    assert told(lines) == [
        ("ended", "session-1", 1, "failed"), ("ended", "session-1", 2, "done"), ("started", "session-1", 3, "running"),
    ]  # fmt: skip
    assert [line.before for line in lines] == ["running", "failed", "done"]
    assert lines[0].at == 77


def test_an_end_is_told_though_the_session_was_deleted_since(store):
    add(store, "session-1")
    become(store, "session-1", Status.RUNNING)
    events = feed(store)
    events.begin()
    become(store, "session-1", Status.DONE)
    write(store, "DELETE FROM sessions")
    assert told(events.more()) == [("ended", "session-1", 1, "done"), ("deleted", "session-1", 1, "done")]
    afterwards = feed(store, since=0)
    assert told(afterwards.begin()) == [
        "begin",
        ("ended", "session-1", 1, "done"),
        ("deleted", "session-1", None, None),
    ]


def test_a_reader_that_ends_behind_any_line_goes_on_without_a_gap_or_a_second_end(store):
    add(store, "session-1")
    add(store, "session-2")
    first = feed(store)
    lines = first.begin()
    for turn in (1, 2, 3):
        become(store, "session-1", Status.RUNNING)
        become(store, "session-2", Status.RUNNING, input_tokens=turn)
        become(store, "session-1", Status.DONE)
        become(store, "session-2", Status.FAILED)
        if turn == 2:
            lines += first.more()
        again(store, "session-1", turn)
        again(store, "session-2", turn)
    lines += first.more()
    ends = [(line.id, line.turn) for line in lines if line.event == EventKind.ENDED]
    assert sorted(ends) == [(f"session-{n}", turn) for n in (1, 2) for turn in (1, 2, 3)]
    assert len({line.seq for line in lines[1:]}) == len(lines) - 1
    for read in range(1, len(lines) + 1):
        rest = feed(store, since=lines[read - 1].seq).begin()
        known = [*lines[:read], *rest]
        assert [(line.id, line.turn) for line in known if line.event == EventKind.ENDED] == ends
        newest = {line.id: line.session.turn for line in known if isinstance(line, Event)}
        assert newest == {"session-1": 4, "session-2": 4}


def test_a_restored_turn_is_no_second_end(store):
    add(store, "session-1")
    become(store, "session-1", Status.DONE)
    position = feed(store).begin()[0].seq
    write(store, "UPDATE turns SET status = 'lost'")
    row = dict(store.database.rows("SELECT * FROM turns")[0])
    write(store, "DELETE FROM turns")
    write(store, f"INSERT INTO turns ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", *row.values())
    assert told(feed(store, position).begin()) == ["begin"]


def test_a_position_that_was_never_reached_is_refused(store):
    add(store, "session-1")
    with pytest.raises(UsageError, match="the newest position is"):
        feed(store, since=9_999).begin()


def test_a_replaced_database_begins_again(store, tmp_path):
    add(store, "session-1")
    events = feed(store)
    events.begin()
    store.close()
    for path in tmp_path.iterdir():
        path.rename(path.with_name(f"old-{path.name}"))
    add(store, "session-2")
    assert told(events.more()) == ["begin", ("present", "session-2", 1, "queued")]


class TestFamily:
    def test_includes_those_that_come_later_and_those_below_them(self, store):
        add(store, "stranger")
        add(store, "lead-1234")
        events = feed(store, family="lead-1234")
        assert told(events.begin())[1:] == [("present", "lead-1234", 1, "queued")]
        add(store, "child-123", parent="lead-1234")
        add(store, "stranger2")
        add(store, "grandchild", parent="child-123")
        assert [line.id for line in events.more()] == ["child-123", "grandchild"]
        write(store, "DELETE FROM sessions WHERE id = 'child-123'")
        become(store, "grandchild", Status.DONE)
        assert told(events.more()) == [
            ("deleted", "child-123", 1, "queued"), ("ended", "grandchild", 1, "done"),
        ]  # fmt: skip

    def test_of_an_outside_lead(self, store):
        add(store, "worker-12", lead="codex:abc")
        add(store, "below-123", parent="worker-12")
        add(store, "worker-34", lead="codex:other")
        assert [one.id for one in feed(store, family="codex:abc").begin()[1:]] == ["worker-12", "below-123"]


class TestFilter:
    def test_a_session_that_ceases_to_match_is_told(self, store):
        add(store, "session-1")
        become(store, "session-1", Status.RUNNING)
        add(store, "session-2")
        events = feed(store, words="state:running")
        assert told(events.begin())[1:] == [("present", "session-1", 1, "running")]
        become(store, "session-1", Status.DONE)
        become(store, "session-2", Status.FAILED)
        assert told(events.more()) == [("ended", "session-1", 1, "done")]

    def test_an_end_is_compared_with_its_own_status(self, store):
        add(store, "session-1")
        events = feed(store, words="state:failed")
        events.begin()
        become(store, "session-1", Status.FAILED)
        again(store, "session-1")
        assert told(events.more())[0] == ("ended", "session-1", 1, "failed")

    def test_archived_sessions_are_present_only_if_asked_for(self, store):
        add(store, "session-1")
        write(store, "UPDATE sessions SET archived_at = 1")
        assert told(feed(store).begin()) == ["begin"]
        assert told(feed(store, words="is:archived").begin())[1:] == [("present", "session-1", 1, "queued")]


class TestOutcome:
    def test_is_that_of_the_sessions_at_the_end(self, store):
        add(store, "session-1")
        add(store, "session-2")
        become(store, "session-2", Status.DONE)
        events = feed(store)
        events.begin()
        assert not events.over
        become(store, "session-1", Status.FAILED)
        events.more()
        assert (events.over, events.good) == (True, False)
        again(store, "session-1")
        events.more()
        assert not events.over
        become(store, "session-1", Status.DONE)
        events.more()
        assert (events.over, events.good) == (True, True)

    @pytest.mark.parametrize(("last", "good"), [(Status.DONE, True), (Status.STOPPED, False)])
    def test_of_a_session_that_was_deleted_after_its_end(self, store, last, good):
        add(store, "session-1")
        events = feed(store)
        events.begin()
        become(store, "session-1", last)
        write(store, "DELETE FROM sessions")
        events.more()
        assert (events.over, events.good) == (True, good)

    def test_of_a_session_that_was_deleted_before_its_end(self, store):
        add(store, "session-1")
        events = feed(store)
        events.begin()
        write(store, "DELETE FROM sessions")
        events.more()
        assert (events.over, events.good) == (True, False)

    def test_counts_what_is_at_work_before_the_position(self, store):
        add(store, "session-1")
        position = feed(store).begin()[0].seq
        events = feed(store, since=position)
        assert told(events.begin()) == ["begin"]
        assert not events.over
        become(store, "session-1", Status.FAILED)
        assert told(events.more()) == [("ended", "session-1", 1, "failed")]
        assert (events.over, events.good) == (True, False)


def test_a_reader_does_not_load_the_ends_before_its_position(store):
    add(store, "one")
    become(store, "one", Status.DONE)
    seq = store.database.rows("SELECT seq FROM counter")[0]["seq"]
    add(store, "two")
    become(store, "two", Status.FAILED)
    newest = changes_after(store.database, None, every_session=True)
    assert ([one.session.id for one in newest.sessions], newest.ends) == (["one", "two"], ())
    later = changes_after(store.database, seq, every_session=True)
    assert ([one.session.id for one in later.sessions], [end.session for end in later.ends]) == (
        ["one", "two"],
        ["two"],
    )
