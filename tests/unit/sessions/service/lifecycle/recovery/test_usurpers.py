"""The runner that signed a lock, and the processes that hold it in its place."""

import os

import pytest

from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.service.lifecycle.recovery.reconcile import runner_is_gone
from agentdash.sessions.storage.paths import SessionFolder


@pytest.fixture
def folder(tmp_path):
    folder = SessionFolder(tmp_path / "12345678-abcd")
    folder.path.mkdir()
    return folder


def test_a_runner_that_lives_is_there(folder):
    with runner_lock.hold(folder.lock) as lock:
        lock.sign()
        assert not runner_is_gone(folder)
        assert [one.pid for one in processes.lock_holders(folder.lock)] == [os.getpid()]
    assert list(processes.lock_holders(folder.lock)) == []


def test_a_runner_is_gone_if_its_number_is_free_or_that_of_another_process(folder):
    me = processes.by_pid(os.getpid())
    here = f"{processes.boot_id()} {processes.pid_namespace()}"
    for words, gone in (
        (f"{me.pid} {me.start} {here}", False),
        (f"{me.pid} {me.start + 1} {here}", True),
        (f"{2**22 - 1} 1 {here}", True),
        (f"{me.pid} 1 another-boot {processes.pid_namespace()}", False),
        (f"{me.pid} 1 {processes.boot_id()} pid:[1]", False),
        ("", False),
        ("x y", False),
        (f"x 1 {here}", False),
    ):
        folder.lock.write_text(words)
        assert runner_is_gone(folder) is gone, words


def test_a_dead_runner_that_is_not_reaped_is_gone(folder):
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    zombie = processes.by_pid(child)
    folder.lock.write_text(runner_lock.identity(zombie))
    try:
        assert runner_is_gone(folder)
    finally:
        os.waitpid(child, 0)
