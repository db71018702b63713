"""Runners that are gone: what the recorded facts make of their turns."""

import os
import subprocess
import sys

import pytest
from factories import no_prompts, request

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.status import EndFacts, at_the_end
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.runner.runner_process import RUNNER
from agentdash.sessions.service.lifecycle.recovery import reconcile
from agentdash.sessions.service.lifecycle.recovery.rebuild import rebuild
from agentdash.sessions.service.lifecycle.recovery.reconcile import settle
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

SESSION = "0123456789abcdef"


@pytest.fixture
def layout(tmp_path):
    layout = Layout(tmp_path / "home")
    layout.create()
    return layout


@pytest.fixture
def store(layout):
    store = Store(layout.database)
    yield store
    store.close()


def abandoned(
    layout,
    store,
    *,
    session=SESSION,
    boot_id=None,
    pid_ns=None,
    host=None,
    output=b"",
    agent=(2**22 - 3, 1),
    agent_name="command",
):
    """A running turn whose runner is gone."""
    layout.session(session).create()
    start = Start("t", agent=agent_name, title="t", cwd="/", session_id=session)
    store.create(start, Launch(argv=("true",)), "run-1", host=host or processes.host_name())
    owner = Owner(
        pid=2**22 - 2, start=1, boot_id=boot_id or processes.boot_id(), pid_ns=pid_ns or processes.pid_namespace()
    )
    log = TurnLog(store, session, 1, owner)
    log.claim()
    log.running(*agent)
    layout.session(session).output(1).write_bytes(output)
    os.link(layout.session(session).output(1), layout.live_name(session, 1))


def test_a_turn_whose_runner_and_agent_are_gone_is_lost(layout, store):
    abandoned(layout, store, output=b"some text\n")
    settle(layout, store)
    session = store.session(SESSION)
    assert session.status is Status.LOST
    assert session.reason == "the runner was killed, and the agent ended without a final event"
    assert list(layout.live.iterdir()) == []
    assert layout.session(SESSION).output(1).read_bytes() == b"some text\n"


def test_a_session_from_before_a_reboot_is_lost_and_says_so(layout, store):
    # The same pid may well live again after a reboot: it is a stranger.
    abandoned(layout, store, boot_id="another boot", agent=(os.getpid(), processes.by_pid(os.getpid()).start))
    settle(layout, store)
    session = store.session(SESSION)
    assert session.status is Status.LOST
    assert session.reason.startswith("the machine was rebooted")


def test_the_turn_file_decides_where_it_holds_the_proper_end(layout, store):
    abandoned(layout, store, output=CODEX_END, agent_name="codex")
    settle(layout, store)
    session = store.session(SESSION)
    assert (session.status, session.reason, session.exit_code) == (Status.DONE, "the runner was killed", None)
    assert session.usage.total_tokens == 110
    assert session.last_message == "All good."


def test_another_hosts_session_is_left_alone(layout, store):
    abandoned(layout, store, host="elsewhere", boot_id="another boot")
    settle(layout, store)
    assert store.session(SESSION).status is Status.RUNNING


def test_a_machine_that_was_renamed_is_still_this_one(layout, store):
    abandoned(layout, store, host="its-old-name")
    settle(layout, store)
    assert store.session(SESSION).status is Status.LOST


def test_a_runner_in_a_container_that_ended_left_its_session_lost(layout, store):
    # Its pids mean nothing here, but its lock, on the same kernel, would be held if it lived.
    abandoned(layout, store, pid_ns="pid:[1]", agent=(os.getpid(), processes.by_pid(os.getpid()).start))
    settle(layout, store)
    assert store.session(SESSION).status is Status.LOST


def test_a_queued_turn_of_another_host_is_not_started_here(layout, store):
    layout.session(SESSION).create()
    start = Start("t", agent="command", title="t", cwd="/", session_id=SESSION)
    store.create(start, Launch(argv=("true",)), "run-1", host="elsewhere")
    settle(layout, store)
    assert store.turns(SESSION)[0].launches == 0


def test_a_huge_turn_file_is_concluded_by_its_tail(layout, store, monkeypatch):
    monkeypatch.setattr("agentdash.sessions.storage.files.line_reader.READ_SECONDS", -1.0)
    monkeypatch.setattr("agentdash.sessions.storage.files.line_reader.TAIL_BYTES", 10_000)
    abandoned(layout, store, output=b'{"type":"odd"}\n' * 200_000 + CODEX_END, agent_name="codex")
    settle(layout, store)
    assert store.session(SESSION).status is Status.DONE
    assert store.session(SESSION).unknown < 150_000


def test_one_broken_session_does_not_keep_the_others_from_being_settled(layout, store):
    abandoned(layout, store, agent_name="an agent of a later version")
    other = "fedcba9876543210"
    abandoned(layout, store, session=other)
    settle(layout, store)
    assert store.session(SESSION).status is Status.RUNNING
    assert store.session(other).status is Status.LOST


def test_a_prompt_under_way_to_an_agent_that_is_not_known_does_not_hold_up_the_queue(layout, store, monkeypatch):
    started = []
    monkeypatch.setattr("agentdash.sessions.runner.queue.pump.send_runner", lambda *facts: started.append(facts[1]))
    abandoned(layout, store, agent_name="codex", output=CODEX_END)
    settle(layout, store)
    store.queue.hold(SESSION, "wait")
    prompt = store.queue.add(request(SESSION, "more"), no_prompts)
    with store.database.transaction() as db:
        db.execute("UPDATE sessions SET agent = 'an agent of a later version'")
        db.execute("UPDATE queue SET state = 'sent', turn = 1")
    other = "fedcba9876543210"
    store.create(
        Start("t", agent="command", title="t", cwd="/", session_id=other),
        Launch(argv=("true",)),
        "run-2",
        host=processes.host_name(),
    )
    settle(layout, store)
    assert started == [other]
    assert store.queue.prompt(prompt.id).state == "sent"


def test_a_session_whose_lock_is_held_is_left_alone(layout, store):
    abandoned(layout, store)
    with runner_lock.hold(layout.session(SESSION).lock):
        settle(layout, store)
        assert store.session(SESSION).status is Status.RUNNING
    settle(layout, store)
    assert store.session(SESSION).status is Status.LOST


def test_a_session_whose_folder_was_deleted_is_settled_all_the_same(layout, store):
    import shutil

    abandoned(layout, store)
    shutil.rmtree(layout.session(SESSION).path)
    settle(layout, store)
    assert store.session(SESSION).status is Status.LOST


def test_a_clock_that_goes_back_changes_no_outcome(layout, store, monkeypatch):
    abandoned(layout, store)
    monkeypatch.setattr("agentdash.sessions.storage.turns.turn_log.now_ms", lambda: 1000)
    settle(layout, store)
    assert store.session(SESSION).status is Status.LOST


CODEX_END = (
    b'{"type":"thread.started","thread_id":"t-1"}\n{"type":"turn.started"}\n'
    b'{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"All good."}}\n'
    b'{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":0,"output_tokens":10}}\n'
)


@pytest.fixture
def sent(monkeypatch):
    """The runners that are started instead of real ones: session and turn."""
    started = []
    monkeypatch.setattr(reconcile, "send_runner", lambda _layout, session, turn, *_: started.append((session, turn)))
    return started


@pytest.fixture
def slow_runner(layout, store):
    """A runner that lives and does not hold its session's lock yet."""
    layout.session(SESSION).create()
    store.create(
        Start("t", agent="command", title="t", cwd="/", session_id=SESSION),
        Launch(argv=("true",)),
        "run-1",
        host=processes.host_name(),
    )
    assert store.begin_launch(SESSION, 1, 0) == 0
    env = os.environ | {processes.RUNNER_MARK: str(layout.session(SESSION).lock)}
    argv = [sys.executable, "-c", "print(); input()", RUNNER]
    with subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as runner:
        runner.stdout.readline()
        yield runner
        runner.kill()


def begun(store, seconds):
    """Let the runner have been started so long ago."""
    with store.database.transaction() as db:
        db.execute("UPDATE turns SET launched_at = launched_at - ?", (seconds * 1000,))


@pytest.mark.parametrize(("seconds", "replaced"), [(30, False), (100, True)], ids=["slow", "hangs"])
def test_a_runner_without_its_lock_is_replaced_only_if_it_hangs(layout, store, sent, slow_runner, seconds, replaced):
    begun(store, seconds)
    settle(layout, store)
    assert sent == [(SESSION, 1)] * replaced
    assert store.turns(SESSION)[0].launches == 1 + replaced


def test_a_runner_that_died_before_it_held_its_lock_is_replaced_soon(layout, store, sent, slow_runner):
    slow_runner.kill()
    slow_runner.wait()
    settle(layout, store)
    assert sent == []
    begun(store, 4)
    settle(layout, store)
    assert sent == [(SESSION, 1)]


def test_a_turn_whose_runners_all_died_at_their_start_fails(layout, store, sent, slow_runner):
    slow_runner.kill()
    slow_runner.wait()
    for _ in range(3):
        begun(store, 4)
        settle(layout, store)
    assert sent == [(SESSION, 1)] * 2
    assert store.session(SESSION).status is Status.FAILED
    assert "its runner did not start" in store.session(SESSION).reason


@pytest.mark.parametrize("place", ["here", "elsewhere"])
def test_checking_sessions_that_need_nothing_makes_no_query_per_session(layout, store, monkeypatch, place):
    """A follower checks all sessions every two seconds."""
    ids, locks = [f"session-{number:04}" for number in range(25)], []
    for session in ids:
        if place == "elsewhere":
            abandoned(layout, store, session=session, boot_id="of another machine", host="elsewhere")
        else:
            abandoned(layout, store, session=session)
            locks.append(runner_lock.hold(layout.session(session).lock))
    asked = []
    rows = store.database.rows
    with monkeypatch.context() as patch:
        patch.setattr(store.database, "rows", lambda sql, *values: asked.append(sql) or rows(sql, *values))
        settle(layout, store)
    for lock in locks:
        lock.release()
    assert {store.session(session).status for session in ids} == {Status.RUNNING}
    assert len(asked) < len(ids)


def test_a_rebuild_corrects_a_turn_whose_final_event_was_not_read(layout, store):
    abandoned(layout, store, output=b"noise\n" * 100 + CODEX_END, agent_name="codex")
    owner = Owner(pid=1, start=1, boot_id=processes.boot_id(), pid_ns=processes.pid_namespace())
    verdict = at_the_end(EndFacts(facts=Facts(), succeeded=False, exit_code=0))
    outcome = Outcome(status=verdict.status, reason=verdict.reason, rule=verdict.rule, exit_code=0)
    TurnLog(store, SESSION, 1, owner).end(Facts(), outcome, 0, no_prompts)
    other = "fedcba9876543210"
    abandoned(layout, store, session=other, output=b"noise\n", agent_name="codex")
    TurnLog(store, other, 1, owner).end(Facts(), outcome, 0, no_prompts)
    assert store.session(SESSION).reason == "ended without a final event (exit 0)"
    assert rebuild(layout).corrected == (SESSION,)
    session = store.session(SESSION)
    assert (session.status, session.reason, session.last_message) == (Status.DONE, None, "All good.")
    assert session.usage.total_tokens == 110
    assert store.session(other).status is Status.FAILED  # it has no such event
    assert rebuild(layout).corrected == ()
