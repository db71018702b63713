"""Serving the prompts that wait for a time, on a store without processes and a clock of the test."""

import pytest
from factories import request
from unit.sessions.storage.prompts.test_prompt_queue import NAME, build, ended

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.runner.queue import timed, wake_process
from agentdash.sessions.runner.queue.timed import serve_timed
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store

HOUR = 3_600_000


class Wall:
    """A clock that a test sets; time passes while a process sleeps, but not while the machine does."""

    def __init__(self):
        self.now = now_ms()
        self.slept = []
        self.during_sleep = {}
        """What else happens in a sleep, by its number."""

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += round(seconds * 1000)
        self.during_sleep.get(len(self.slept), lambda: None)()


@pytest.fixture
def wall(monkeypatch):
    wall = Wall()
    for module in (timed, wake_process):
        monkeypatch.setattr(module, "now_ms", lambda: wall.now)
    monkeypatch.setattr("agentdash.sessions.runner.queue.wake_process.time.sleep", wall.sleep)
    return wall


@pytest.fixture
def waiters(monkeypatch):
    """The sessions and times for which processes would have been started."""
    started = []
    monkeypatch.setattr(timed, "send_waiter", lambda _, session, at: started.append((session, at)))
    return started


@pytest.fixture
def layout(tmp_path):
    layout = Layout(tmp_path / "home")
    layout.create()
    layout.session(NAME).create()
    return layout


@pytest.fixture
def store(layout, monkeypatch):
    """A session that has ended, on this machine."""
    store = Store(layout.database)
    start = Start("do it", agent="command", title="do it", cwd="/", session_id=NAME)
    store.create(start, Launch(argv=("true",)), "r", host=processes.host_name())
    ended(store)
    monkeypatch.setattr(timed, "builder", lambda *_: build)
    yield store
    store.close()


def add(store, text, due_at):
    store.queue.add(request(NAME, text, due_at=due_at), build)


def test_a_process_waits_for_the_first_time_and_the_prompt_is_sent_then(layout, store, wall, waiters):
    due = wall.now + 2 * HOUR
    add(store, "later", due)
    serve_timed(layout, store)
    assert waiters == [(NAME, due)]
    wall.now = due - 1
    serve_timed(layout, store)
    assert store.session(NAME).turn == 1
    wall.now = due
    serve_timed(layout, store)
    assert (store.session(NAME).turn, store.session(NAME).due_at) == (2, None)
    assert [one.due_at for one in store.ripened] == [due]


def test_a_process_that_lives_is_the_only_one_and_the_next_one_is_for_the_next_time(layout, store, wall, waiters):
    first, second = wall.now + HOUR, wall.now + 2 * HOUR
    add(store, "one", first)
    add(store, "two", second)
    serve_timed(layout, store)
    with runner_lock.hold(layout.waiters(processes.host_name())):
        serve_timed(layout, store)
        assert waiters == [(NAME, first)]
        wall.now = first
        serve_timed(layout, store)
        assert waiters == [(NAME, first), (NAME, second)]


def test_after_a_restart_of_the_machine_another_process_waits(layout, store, wall, waiters):
    add(store, "one", wall.now + HOUR)
    serve_timed(layout, store)
    serve_timed(layout, store)
    assert len(waiters) == 2, "no process holds the lock of those that wait"


def test_a_clock_that_is_set_forwards_sends_it_within_a_minute_and_one_that_is_set_back_later(layout, store, wall):
    due = wall.now + HOUR
    wall.during_sleep = {2: lambda: setattr(wall, "now", due + 5)}
    assert wake_process._wait(layout, due)
    assert wall.slept == [60, 60]
    wall.slept, due = [], wall.now + 60_000
    wall.during_sleep = {1: lambda: setattr(wall, "now", wall.now - 30_000)}
    assert wake_process._wait(layout, due)
    assert wall.slept == [60, 30]


def test_any_process_that_waits_notices_a_prompt_whose_own_process_was_killed(layout, store, wall):
    add(store, "soon", wall.now + 100_000)
    assert wake_process._wait(layout, wall.now + 24 * HOUR)
    assert len(wall.slept) == 2


def test_a_state_folder_that_is_gone_ends_the_process(layout, wall):
    assert not wake_process._wait(layout, wall.now + HOUR)
