"""The launch queue: a cap, an order that is kept, and no front end that has to stay open."""

import json
import os
import subprocess
import sys

import pytest

from agentdash.sessions.model.session import Status
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.manager import SessionManager

pytestmark = pytest.mark.usefixtures("scripted_agent")


@pytest.fixture
def two_places(tmp_path, manager):
    (tmp_path / "config.toml").write_text("[queue]\nmax_running = 2\n")
    return manager


def hold(manager, tmp_path, name):
    """A command that notes its start, and ends once the test opens its gate."""
    gate = tmp_path / f"{name}.gate"
    os.mkfifo(gate)
    return manager.run(["sh", "-c", f"echo {name} >> order; read line < {gate.name}"], title=name)


def let_go(tmp_path, name):
    (tmp_path / f"{name}.gate").write_text("\n")


def statuses(manager, sessions):
    return [str(manager.reader.get(session.id).status) for session in sessions]


@pytest.mark.smoke
def test_sessions_above_the_maximum_wait_and_start_in_their_order(two_places, tmp_path, wait_until):
    manager = two_places
    sessions = [hold(manager, tmp_path, name) for name in "abcd"]
    wait_until(lambda: statuses(manager, sessions) == ["running", "running", "queued", "queued"], what="two places")
    waiting = manager.reader.get(sessions[3].id)
    assert waiting.reason == "queued: 2 of 2 slots in use"
    assert manager.started(waiting.id).status is Status.QUEUED  # it is not waited for
    let_go(tmp_path, "a")
    wait_until(
        lambda: statuses(manager, sessions) == ["done", "running", "running", "queued"], what="the next one's turn"
    )
    assert manager.reader.get(sessions[2].id).reason is None
    let_go(tmp_path, "b")
    wait_until(lambda: statuses(manager, sessions)[3] == "running", what="the last one's turn")
    assert sorted((tmp_path / "order").read_text().split()[:2]) == ["a", "b"]
    # It runs before it has noted its start.
    wait_until(lambda: len((tmp_path / "order").read_text().split()) == 4, what="the last one's note")
    assert (tmp_path / "order").read_text().split()[2:] == ["c", "d"]
    for name in "cd":
        let_go(tmp_path, name)
    assert all(session.status is Status.DONE for session in manager.wait([s.id for s in sessions], timeout=60))


def test_queued_sessions_start_when_every_front_end_is_gone(two_places, tmp_path, wait_until):
    spawn = [sys.executable, "-m", "agentdash", "run", "--", "sh", "-c", "sleep 0.2"]
    for _ in range(6):
        subprocess.run(spawn, check=True, capture_output=True)
    two_places.close()
    # Looks at the rows alone: a manager's own waiting would move the queue.
    with SessionManager() as other:
        wait_until(lambda: all(s.status is Status.DONE for s in other.reader.sessions()), what="the runners to go on")
        assert len(other.reader.sessions()) == 6


def test_a_queued_session_can_be_cancelled(two_places, tmp_path, wait_until):
    manager = two_places
    first, second, third = (hold(manager, tmp_path, name) for name in "abc")
    wait_until(lambda: manager.reader.get(third.id).status is Status.QUEUED, what="the third to wait")
    receipt = manager.stop(third.id)
    assert (receipt.ended, receipt.note) == ((), "not started yet")
    assert manager.reader.get(third.id).reason == "stopped by you"
    order = tmp_path / "order"
    wait_until(lambda: order.exists() and len(order.read_text().split()) == 2, what="two starts")
    for session in (first, second):
        manager.stop(session.id)
    assert sorted(order.read_text().split()) == ["a", "b"]


def test_a_start_that_fails_gives_its_place_back(manager, tmp_path, wait_until):
    (tmp_path / "config.toml").write_text("[queue]\nmax_running = 1\n")
    first = hold(manager, tmp_path, "a")
    broken, last = manager.run(["/no/such/program"]), manager.run(["true"])
    wait_until((tmp_path / "order").exists, what="the first one's start")
    manager.close()
    let_go(tmp_path, "a")
    wait_until(lambda: statuses(manager, (first, broken, last)) == ["done", "failed", "done"], what="the runners")


def test_a_runner_that_is_killed_gives_its_place_back(two_places, tmp_path, wait_until):
    manager = two_places
    sessions = [manager.run(["sleep", "600"]) for _ in range(3)]
    wait_until(lambda: statuses(manager, sessions) == ["running", "running", "queued"], what="two places")
    turn = manager.reader.turns(sessions[0].id)[-1]
    for pid in (turn.runner_pid, turn.agent_pid):
        processes.send_kill(processes.by_pid(pid))

    def settled():
        manager.housekeeping.settle()
        return statuses(manager, sessions) == ["lost", "running", "running"]

    wait_until(settled, what="the place to be free")


def test_a_session_that_waits_for_its_own_children_takes_no_place(two_places, tmp_path, wait_until):
    """Else a few orchestrators that wait for queued children would wait for ever."""
    inner = f"{sys.executable} -m agentdash run --wait -- sh -c 'echo inner'"
    outer = [two_places.run(["sh", "-c", f"{inner} && echo outer"]) for _ in range(3)]
    ended = two_places.wait([session.id for session in outer], timeout=60)
    assert [session.status for session in ended] == [Status.DONE] * 3
    assert len(two_places.reader.sessions()) == 6


def test_copies_are_numbered_and_queued_in_order(two_places):
    command = [sys.executable, "-m", "agentdash", "spawn", "--agent", "scripted", "-n", "3", "Count [[script:quick]]"]
    done = subprocess.run([*command, "--wait", "--json"], capture_output=True, text=True, check=True)
    titles = [session["title"] for session in json.loads(done.stdout)]
    assert titles == [f"Count [[script:quick]] ({n}/3)" for n in (1, 2, 3)]


def test_who_waits_for_a_turn_of_another_session_takes_no_place(manager, tmp_path):
    (tmp_path / "config.toml").write_text("[queue]\nmax_running = 1\n")
    retry = "import os, sys; from agentdash.sessions.service.manager import SessionManager\n"
    retry += "with SessionManager() as own: [failed] = own.wait([own.run(['false']).id])\n"
    retry += "os.execv(sys.executable, [sys.executable, '-m', 'agentdash', 'retry', failed.id, '--wait'])"
    outer = manager.run([sys.executable, "-c", retry])
    [ended] = manager.wait([outer.id], timeout=60)
    assert ended.exit_code == 1
    [failed] = manager.store.descendants(outer.id)
    assert failed.turn == 2


def test_one_that_cannot_be_sent_does_not_hold_up_the_others(manager, tmp_path, wait_until):
    (tmp_path / "config.toml").write_text("[queue]\nmax_running = 1\n")
    first = hold(manager, tmp_path, "a")
    broken, last = manager.run(["true"]), manager.run(["true"])
    log = manager.reader.home / "sessions" / broken.id / "runner.log"
    log.mkdir()
    wait_until((tmp_path / "order").exists, what="the first one's start")
    (tmp_path / "config.toml").write_text("[queue]\nmax_running = 3\n")
    manager.housekeeping.settle()
    [done] = manager.wait([last.id], timeout=60)
    assert done.status is Status.DONE
    assert manager.reader.get(broken.id).status is Status.QUEUED
    log.rmdir()
    [done] = manager.wait([broken.id], timeout=60)
    assert done.status is Status.DONE
    let_go(tmp_path, "a")
    manager.wait([first.id], timeout=60)
