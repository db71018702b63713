"""A runner that does not react to the request to stop."""

import signal
import subprocess
import sys
import uuid

import pytest
from talks import Talk
from waiting import until

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.runner.processes.processes import SESSION_TAG
from agentdash.sessions.service.lifecycle import stop
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.turns.claim import Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

SESSION = uuid.uuid4().hex[:16]  # its own in each worker of the tests: processes are found by it
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


@pytest.fixture
def manager(tmp_path):
    with SessionManager(tmp_path / "state") as manager:
        yield manager


@pytest.fixture
def process():
    """Starts a process that does nothing."""
    started = []

    def start(**env):
        started.append(subprocess.Popen(SLEEP, env=env))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.wait()


@pytest.fixture
def runner(manager, tmp_path, monkeypatch, process):
    """A process that owns the turn and never answers, while the session's lock is held."""
    monkeypatch.setattr(stop, "_patience", lambda *_: 0.2)
    talk = Talk(manager, SESSION, tmp_path)
    runner = process()
    identity = processes.by_pid(runner.pid)
    owner = Owner(pid=runner.pid, start=identity.start, boot_id=processes.boot_id(), pid_ns=processes.pid_namespace())
    assert TurnLog(talk.store, SESSION, 1, owner).claim() is not None
    with runner_lock.hold(talk.folder.lock):
        yield runner


def refused(manager):
    with pytest.raises(AgentdashError, match="did not react to the stop"):
        manager.stop(SESSION)


def test_a_runner_that_has_only_the_end_to_record_is_left_alone(manager, runner):
    refused(manager)
    assert runner.poll() is None
    assert not manager.layout.session(SESSION).runner_log.exists()


def test_a_runner_whose_agent_lives_is_replaced_and_its_log_names_the_reason(manager, runner, process):
    process(**{SESSION_TAG: SESSION})
    refused(manager)
    assert runner.wait(10) == -signal.SIGKILL
    log = manager.layout.session(SESSION).runner_log.read_text()
    assert log == f"runner {runner.pid} was killed: it did not react to the request to stop\n"


def test_a_runner_that_a_signal_stopped_is_replaced(manager, runner):
    runner.send_signal(signal.SIGSTOP)
    until(lambda: processes.by_pid(runner.pid).stopped)
    refused(manager)
    assert runner.wait(10) == -signal.SIGKILL
