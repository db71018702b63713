"""The prompts that wait for a time."""

import pytest
from unit.sessions.storage.prompts.test_prompt_queue import NAME, add, build, ended, running, sent, waiting

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.storage.files.session_record import read_identity, restore, write_identity
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.live_log import LiveLog

DUE = 2_000_000_000_000


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "agentdash.db")
    store.create(
        Start("do it", agent="command", title="do it", cwd="/", session_id=NAME), Launch(argv=("true",)), "r", host="h"
    )
    yield store
    store.close()


def ripen(store, now=DUE):
    return [(one.session, one.due_at) for one in store.timed.ripen("h", now)]


def test_a_free_session_does_not_begin_it_before_its_time(store):
    ended(store)
    assert add(store, "later", due_at=DUE).state == "queued"
    assert (store.session(NAME).due_at, store.session(NAME).queued, store.queue.stalled()) == (DUE, 1, [])
    assert store.queue.advance(NAME, build) is None
    assert ripen(store, DUE - 1) == []
    assert ripen(store) == [(NAME, DUE)]
    assert ripen(store) == []
    assert (store.session(NAME).due_at, store.queue.stalled()) == (None, [NAME])
    assert store.queue.advance(NAME, build) == 2
    assert sent(store) == ["later"]


def test_it_holds_up_no_prompt_without_a_time(store):
    add(store, "later", due_at=DUE)
    add(store, "soon")
    ended(store)
    assert (sent(store), waiting(store)) == (["soon"], ["later"])


def test_a_turn_that_failed_holds_it_like_any_other(store):
    add(store, "later", due_at=DUE)
    ended(store, status=Status.FAILED)
    assert store.session(NAME).held == "turn 1 failed"
    assert ripen(store) == [(NAME, DUE)]
    assert store.queue.advance(NAME, build) is None


def test_it_steers_no_turn_before_its_time(store):
    running(store)
    add(store, "later", due_at=DUE, steers=True)
    live = LiveLog(store.database, NAME)
    assert live.steering() is None
    ripen(store)
    assert live.steering().text == "later"


def test_cancelling_editing_and_sending_now_change_the_time(store):
    ended(store)
    first, second = add(store, "one", due_at=DUE), add(store, "two", due_at=DUE + 5)
    assert store.timed.next_at("h") == DUE
    assert store.queue.cancel(first.id)
    assert (store.timed.next_at("h"), store.session(NAME).due_at) == (DUE + 5, DUE + 5)
    assert store.queue.edit(second.id, "two", due_at=DUE + 9)
    assert store.session(NAME).due_at == DUE + 9
    assert store.queue.send_now(second.id, build) == 2
    assert (store.session(NAME).due_at, store.timed.exist()) == (None, False)


def test_a_session_that_waits_for_a_time_gets_no_place_before(store):
    ended(store)
    start = Start("later", agent="command", title="later", cwd="/", session_id="session-2", due_at=DUE)
    store.create(start, Launch(argv=("true",)), "r", host="h")
    session = store.session("session-2")
    assert (session.status, session.due_at, session.queued) == (Status.QUEUED, DUE, 0)
    assert session.reason.startswith("queued until ")
    assert store.take_places("h").taken == []
    assert ripen(store) == [("session-2", DUE)]
    assert store.session("session-2").reason is None
    assert store.take_places("h").taken == [("session-2", 1)]


def test_a_session_that_waits_for_a_time_can_start_now_or_be_cancelled(store):
    ended(store)
    for name in ("session-2", "session-3"):
        start = Start("later", agent="command", title="later", cwd="/", session_id=name, due_at=DUE)
        store.create(start, Launch(argv=("true",)), f"r-{name}", host="h")
    assert store.timed.start_now("session-2")
    assert not store.timed.start_now("session-2")
    assert store.take_places("h").taken == [("session-2", 1)]
    assert store.cancel_queued("session-3", 1, Status.STOPPED, "stopped", "rule", by="you")
    assert (store.session("session-3").due_at, ripen(store)) == (None, [])


def test_one_process_waits_for_the_first_time_and_a_new_one_if_that_is_gone_or_late(store):
    ended(store)
    alive = True
    begin = lambda now=DUE - 1000: store.timed.begin_wait("h", now, lambda: alive)  # noqa: E731
    assert begin() is None
    add(store, "one", due_at=DUE)
    assert begin() == (NAME, DUE)
    assert begin() is None
    add(store, "sooner", due_at=DUE - 500)
    assert begin() == (NAME, DUE - 500)
    assert begin() is None
    alive = False
    assert begin() == (NAME, DUE - 500)
    alive = True
    assert begin(DUE - 400) == (NAME, DUE - 500)  # the time has passed, and the prompt still waits


def test_prompts_of_another_machine_are_left_to_it(store):
    ended(store)
    add(store, "later", due_at=DUE)
    assert store.timed.ripen("other", DUE) == []
    assert (store.timed.next_at("other"), store.timed.next_at("h")) == (None, DUE)


def test_the_time_survives_a_rebuilt_database(store, tmp_path):
    ended(store)
    add(store, "later", due_at=DUE)
    layout = Layout(tmp_path / "home")
    layout.create()
    folder = layout.session(NAME)
    folder.create()
    write_identity(store, folder)
    fresh = Store(tmp_path / "fresh.db")
    restore(fresh, read_identity(folder.identity))
    assert fresh.session(NAME).due_at == DUE
    assert [prompt.due_at for prompt in fresh.queue.waiting(NAME)] == [DUE]
    fresh.close()
