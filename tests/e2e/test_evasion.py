"""Processes that claim to belong to another session, or to be agentdash's own: a stop ends them."""

import os
import subprocess
import sys

import pytest

from agentdash.sessions.model.session import Status
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.service.lifecycle.stop_family import NOW

UNKNOWN = "11111111-2222-4333-8444-555555555555"
EVADERS = {
    "a folder of its own": "AGENTDASH_HOME=$PWD/fake AGENTDASH_SESSION_ID={unknown} sleep 4001",
    "another session's tag": "AGENTDASH_SESSION_ID={other} sleep 4002",
    "another session's tag, as an orphan": "(AGENTDASH_SESSION_ID={other} setsid sleep 4003 &)",
    "a runner of its own": "AGENTDASH_RUNNER=$PWD/fake/sessions/{unknown}/runner.lock sleep 4004",
    "our own runner": "AGENTDASH_RUNNER={home}/sessions/$AGENTDASH_SESSION_ID/runner.lock sleep 4005",
    "another session's runner": "AGENTDASH_RUNNER={home}/sessions/{other}/runner.lock sleep 4006",
    "no environment, as an orphan": "(env -i setsid sleep 4007 &)",
    "a held lock that it may only read": (
        "AGENTDASH_SESSION_ID={other} flock -x {home}/sessions/{other}/runner.lock sleep 4008"
    ),
}


@pytest.fixture
def other(manager, tmp_path):
    """A session that has ended, and a folder that looks like a state folder, with the lock of a session held in it."""
    session = manager.wait([manager.run(["true"]).id], timeout=60)[0]
    fake = tmp_path / "fake/sessions" / UNKNOWN
    fake.mkdir(parents=True)
    os.mkfifo(fake / "poke")
    with runner_lock.hold(fake / "runner.lock"):
        yield session


@pytest.mark.parametrize("evader", EVADERS)
def test_what_claims_to_belong_elsewhere_is_shown_and_ended(manager, other, wait_until, sleepers, evader):
    script = EVADERS[evader].format(unknown=UNKNOWN, other=other.id, home=manager.layout.home)
    number = next(word for word in script.split() if word.startswith("400"))[:4]
    session = manager.started(manager.run(["bash", "-c", f"{script} & sleep 4000; wait"]).id)
    wait_until(lambda: sleepers(number), what="the process")
    [pid] = sleepers(number)
    assert pid in {one.pid for one in manager.reader.processes(session.id)}
    receipt = manager.stop(session.id, NOW)
    assert pid in {one.pid for one in receipt.ended}
    assert (receipt.left, sleepers(number)) == ((), [])


def test_a_command_line_like_that_of_a_runner_delays_the_end_of_a_stop_and_hides_nothing(manager, other, wait_until):
    words = [str(manager.layout.home), other.id, "1", "run"]
    session = manager.started(
        manager.run(
            [sys.executable, "-c", "import os, sys, time\nif os.fork(): sys.exit()\ntime.sleep(4009)", *words]
        ).id
    )
    wait_until(lambda: manager.reader.by_id(session.id).status.ended, what="the end of the command")
    [pid] = [pid for pid in processes.scan() if words == processes.arguments(pid)[-4:]]
    start = processes.by_pid(pid).start
    manager.stop(session.id, NOW)
    assert not processes.alive(pid, start)  # it may not be reaped yet


def test_a_session_that_is_just_being_started_inside_survives_the_stop_of_the_outer_one(manager, wait_until, sleepers):
    slow = "import os, time; os.kill(os.getppid(), 0)"
    inside = f"{sys.executable} -m agentdash run -- sleep 4010; {sys.executable} -c '{slow}'; sleep 4011"
    outer = manager.started(manager.run(["bash", "-c", inside]).id)

    def begun():
        found = next((one for one in manager.reader.sessions() if one.parent == outer.id), None)
        return found if found is not None and manager.store.newest_turn(found.id).launches else None

    inner = wait_until(begun, what="the runner that was sent")
    manager.stop(outer.id, NOW)
    assert sleepers(4011) == []
    wait_until(lambda: manager.store.newest_turn(inner.id).status is Status.RUNNING, what="the inner session")
    assert manager.store.newest_turn(inner.id).launches == 1
    assert len(sleepers(4010)) == 1


def test_a_runner_is_known_by_its_signature(manager, wait_until):
    session = manager.started(manager.run(["sleep", "4012"]).id)
    lock = manager.layout.session(session.id).lock
    runner = manager.store.newest_turn(session.id).runner_pid
    assert runner_lock.signer(lock)[0] == runner
    manager.stop(session.id, NOW)
    wait_until(lambda: not runner_lock.is_held(lock), what="the end of the runner")
    assert runner_lock.signer(lock) is None


def test_a_process_of_a_deleted_session_is_a_stray_whatever_folder_it_names(manager, tmp_path):
    from agentdash.sessions.doctor.files import unknown_processes

    session = manager.wait([manager.run(["true"]).id], timeout=60)[0]
    manager.delete(session.id)
    env = {processes.SESSION_TAG: session.id, processes.HOME: str(tmp_path / "fake")}
    with subprocess.Popen(["sleep", "4013"], env=env) as stray:
        found = [process.pid for process in unknown_processes(manager.layout)]
        stray.kill()
    assert stray.pid in found


USURPER = """\
until [ -e {go} ]; do :; done
runner=$(cut -d' ' -f1 {lock})
kill -9 $runner
exec {clear} flock -x {lock} sleep {number}
"""


@pytest.fixture
def usurped(manager, tmp_path, wait_until, sleepers):
    """Starts a session that kills its runner and holds the lock in its place."""

    def start(number, clear=""):
        lock = f"{manager.layout.home}/sessions/$AGENTDASH_SESSION_ID/runner.lock"
        script = USURPER.format(go=tmp_path / "go", lock=lock, clear=clear, number=number)
        session = manager.run(["bash", "-c", script])
        wait_until(lambda: manager.reader.by_id(session.id).status is Status.RUNNING, what="the record of the command")
        (tmp_path / "go").touch()
        wait_until(lambda: sleepers(number), what="the process that holds the lock")
        lock = manager.layout.session(session.id).lock
        assert runner_lock.is_held(lock)
        assert runner_lock.signer(lock) is None
        return session

    return start


@pytest.mark.smoke
@pytest.mark.parametrize("clear", ["", "env -i PATH=$PATH"])
def test_a_session_that_killed_its_runner_and_holds_its_lock_is_stopped(manager, usurped, sleepers, clear):
    session = usurped(4031, clear)
    explained = {fact.name: fact.value for fact in manager.reader.explain(session.id).facts}
    assert explained["runner's lock"] == "held by a process that is not the runner"
    receipt = manager.stop(session.id)
    assert (receipt.left, sleepers(4031)) == ((), [])
    assert manager.reader.by_id(session.id).status.ended
    assert "held the lock of the runner" in manager.layout.session(session.id).runner_log.read_text()


def test_the_next_command_takes_the_lock_from_what_is_no_runner(manager, usurped, sleepers, wait_until):
    session = usurped(4032)
    wait_until(lambda: [manager.housekeeping.settle(), manager.reader.by_id(session.id)][1].status.ended, what="an end")
    manager.stop(session.id)
    assert sleepers(4032) == []


def test_the_lock_of_another_session_that_works_is_left_to_its_runner(manager, wait_until, sleepers):
    """A holder that is no process of the session, such as a command that concludes its turn, is not touched."""
    from agentdash.sessions.service.lifecycle.recovery.reconcile import end_usurpers

    session = manager.wait([manager.run(["true"]).id], timeout=60)[0]
    folder = manager.layout.session(session.id)
    wait_until(lambda: not runner_lock.is_held(folder.lock), what="the end of the runner")
    with runner_lock.hold(folder.lock):
        assert not end_usurpers(folder, manager.store.newest_turn(session.id))
