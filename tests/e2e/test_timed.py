"""Prompts and starts that wait for a time, with the processes that send them."""

import json
import os
import signal
import sqlite3
import subprocess
import sys

import pytest

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.runner_process import WAITER

pytestmark = pytest.mark.usefixtures("scripted_agent")


def run(*words, code=0):
    done = subprocess.run([sys.executable, "-m", "agentdash", *words], check=False, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done


def waiters(home):
    """The processes that wait for a time of this state folder."""
    found = ((pid, processes.by_pid(pid)) for pid in processes.scan())
    return [pid for pid, one in found if one is not None and WAITER in one.command and str(home) in one.command]


@pytest.fixture
def home(manager):
    """The state folder; its processes that wait end with the test."""
    yield manager.reader.home
    for pid in waiters(manager.reader.home):
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def session(manager, home):
    one = manager.spawn(Start("First [[script:quick]]", agent="scripted", options={"script": "quick"}))
    manager.wait([one.id], timeout=60)
    return one


def shift(home, hours):
    """Set all times back, as if the machine had been off until now."""
    with sqlite3.connect(home / "agentdash.db") as db:
        for table in ("queue", "prompts"):
            db.execute(f"UPDATE {table} SET due_at = due_at - ? WHERE due_at IS NOT NULL", (hours * 3_600_000,))
    db.close()


@pytest.mark.smoke
def test_a_prompt_is_sent_at_its_time_with_no_front_end(session, manager, home, wait_until):
    said = run("inject", session.id, "Second [[script:quick]]", "--at", "+2s")
    assert said.stdout.startswith("queued until ")
    wait_until(lambda: manager.reader.get(session.id).turn == 2, timeout=60, what="the second turn")
    manager.wait([session.id], timeout=60)
    assert [prompt.text for prompt in manager.store.prompts(session.id)][-1] == "Second [[script:quick]]"
    wait_until(lambda: not waiters(home), timeout=60, what="the process that waited to end")


def test_a_start_waits_for_its_time_can_be_begun_at_once_and_cancelled(manager, home):
    begun = json.loads(run("spawn", "-a", "scripted", "--at", "+3h", "--json", "Go [[script:quick]]").stdout)
    assert (begun["status"], begun["reason"][:13]) == ("queued", "queued until ")
    assert begun["due_at"] > begun["created_at"] + 10_000_000
    listed = run("ls").stdout
    assert "queued until " in listed
    other = json.loads(run("spawn", "-a", "scripted", "--at", "+3h", "--json", "No [[script:quick]]").stdout)
    run("stop", other["id"])
    assert manager.reader.get(other["id"]).status is Status.STOPPED
    run("start", begun["id"])
    manager.wait([begun["id"]], timeout=60)
    assert manager.reader.get(begun["id"]).status is Status.DONE
    assert manager.reader.get(begun["id"]).due_at is None


def test_after_a_restart_the_next_command_sends_what_was_due_and_says_so(session, manager, home, wait_until):
    run("inject", session.id, "Second [[script:quick]]", "--at", "+3h")
    late = json.loads(run("spawn", "-a", "scripted", "--at", "+3h", "--json", "Late [[script:quick]]").stdout)
    wait_until(lambda: waiters(home), timeout=60, what="the process that waits")
    assert len(waiters(home)) == 1
    for pid in waiters(home):
        os.kill(pid, signal.SIGKILL)
    shift(home, 8)
    said = run("ls").stderr
    assert said.count(", 5h ago: nothing waited for it, and it is next now.") == 2
    assert "5h ago" not in run("ls").stderr
    manager.wait([session.id, late["id"]], timeout=60)
    assert manager.reader.get(session.id).turn == 2


def test_after_a_restart_before_the_time_the_next_command_has_a_process_wait(session, home, wait_until):
    run("inject", session.id, "Second", "--at", "+3h")
    wait_until(lambda: waiters(home), timeout=60, what="the process that waits")
    os.kill(waiters(home)[0], signal.SIGKILL)
    wait_until(lambda: not waiters(home), timeout=60, what="its end")
    run("ls")
    wait_until(lambda: waiters(home), timeout=60, what="the process that waits")


def test_the_queue_shows_changes_and_cancels_it(session, manager, home, monkeypatch):
    run("inject", session.id, "Second", "--at", "18:00")
    (prompt,) = json.loads(run("queue", session.id, "--json").stdout)["prompts"]
    assert prompt["state"] == "queued"
    assert prompt["due_at"] == manager.reader.get(session.id).due_at
    assert "18:00] Second" in run("queue", session.id).stdout
    monkeypatch.setenv("COLUMNS", "200")
    assert "(1 queued until " in run("ls").stdout
    said = run("queue", session.id, "edit", "1", "--at", "+2h").stdout
    assert said.startswith("edited (queued until ")
    (changed,) = json.loads(run("queue", session.id, "--json").stdout)["prompts"]
    assert (changed["text"], changed["due_at"] != prompt["due_at"]) == ("Second", True)
    run("queue", session.id, "cancel", "1")
    assert manager.reader.get(session.id).due_at is None
    assert manager.reader.get(session.id).turn == 1


def test_a_time_that_cannot_be_meant_is_refused(session, home):
    assert "is not a valid time" in run("inject", session.id, "Second", "--at", "soon", code=2).stderr
    assert "cannot be combined" in run("inject", session.id, "Second", "--at", "+2h", "--now", code=2).stderr
    assert "cannot be combined" in run("spawn", "Go", "--at", "+2h", "--after", session.id, code=2).stderr
    assert "works only with edit" in run("queue", session.id, "cancel", "1", "--at", "+2h", code=2).stderr
