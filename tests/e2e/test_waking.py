"""A lead that ended is woken by the ends of its workers: with processes, and without a front end that stays open."""

import json
import os
import signal
import subprocess
import sys

import pytest

from agentdash.sessions.model.session import Status, StepKind
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.runner_process import RUNNER, WAITER

pytestmark = pytest.mark.usefixtures("scripted_agent")


def run(*words, code=0, inside=None):
    """One command line, as a script runs it; ``inside`` is the session that runs it."""
    env = os.environ | ({processes.SESSION_TAG: inside} if inside else {})
    done = subprocess.run(
        [sys.executable, "-m", "agentdash", *words], capture_output=True, text=True, check=False, env=env
    )
    assert done.returncode == code, done.stderr
    return done


def spawned(*words, inside=None):
    return json.loads(run("spawn", "--json", "--agent", "scripted", *words, inside=inside).stdout)["id"]


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """Writes the settings file."""
    path = tmp_path / "config.toml"
    monkeypatch.setenv("AGENTDASH_CONFIG", str(path))

    def write(places, wakes=20):
        path.write_text(f"[queue]\nmax_running = {places}\n[orchestration]\nwakes = {wakes}\n")

    write(1)
    return write


class Family:
    """A lead that is done, and four linked workers that wait for a place until they are let go."""

    def __init__(self, manager, tmp_path, settings, wakes):
        self.manager = manager
        self._settings = settings
        self._wakes = wakes
        settings(1, wakes)
        self.lead = spawned("--wait", "[[script:quick]] lead them")
        gate = tmp_path / "gate"
        os.mkfifo(gate)
        self._gate = gate
        run("run", "--", "sh", "-c", f"read line < {gate}")
        self.workers = [spawned(f"[[script:quick]] part {number}", inside=self.lead) for number in range(4)]
        with manager.store.database.transaction() as db:
            db.execute("UPDATE sessions SET lifecycle = 'linked' WHERE parent = ?", (self.lead,))

    def let_go(self):
        """Let all workers run, and wait until they have ended."""
        self._settings(8, self._wakes)
        run("ls")
        self._gate.write_text("\n")
        assert all(session.status is Status.DONE for session in self.manager.wait(self.workers, timeout=120))

    def prompts(self):
        """The prompts of the lead after its first one."""
        return [step.text for step in self.manager.reader.steps.messages(self.lead) if step.kind is StepKind.PROMPT][1:]

    def explained(self):
        facts = json.loads(run("explain", "--json", self.lead).stdout)["facts"]
        return {fact["name"]: fact["value"] for fact in facts}


@pytest.fixture
def family(manager, tmp_path, settings):
    return lambda wakes=20: Family(manager, tmp_path, settings, wakes)


def helpers(name):
    """The pids of the processes of a module that work on this test's state folder."""
    home = os.environ["AGENTDASH_HOME"]
    found = (processes.by_pid(pid) for pid in processes.scan())
    return [one.pid for one in found if one is not None and name in one.command and home in one.command]


@pytest.mark.smoke
def test_a_lead_with_four_workers_is_woken_once_and_no_front_end_is_needed(family, at):
    four = family()
    four.let_go()
    lead = four.manager.reader.get(four.lead)
    at(lead, 2, Status.DONE)
    (prompt,) = four.prompts()
    assert prompt.startswith("The ends of 4 workers: 4 done.")
    assert all(worker[:8] in prompt for worker in four.workers)
    steps = json.loads(run("trajectory", "--json", four.lead).stdout)
    assert [step["from"] for step in steps if step["kind"] == "prompt"] == [None, "agentdash"]
    for words in (("trajectory", four.lead), ("export", four.lead), ("export", "--format", "html", four.lead)):
        shown = run(*words).stdout
        assert "agentdash: The ends of 4 workers: 4 done." in shown
        assert "agentdash: [[script:quick]]" not in shown
    assert four.explained()["woken"] == "1 time of 20"
    assert four.explained()["wakes"].startswith("no: no end of a worker is new to it")
    worker = four.manager.reader.get(four.workers[0])
    assert (worker.attention, worker.reported_turn) == (False, 1)


def test_also_if_every_runner_and_the_process_that_waits_are_killed_while_the_ends_are_gathered(family, at, wait_until):
    four = family()
    four.let_go()
    wait_until(lambda: helpers(WAITER), timeout=60, what="the process that waits")
    for pid in [*helpers(WAITER), *helpers(RUNNER)]:
        os.kill(pid, signal.SIGKILL)
    assert four.manager.reader.get(four.lead).turn == 1
    at(four.manager.reader.get(four.lead), 2, Status.DONE)
    assert len(four.prompts()) == 1
    assert not four.manager.store.wakes.exist()


def test_a_lead_that_is_stopped_while_the_ends_are_gathered_is_not_woken(family):
    four = family()
    four.let_go()
    assert "in " in four.explained()["wakes"]
    run("stop", four.lead)
    assert not four.manager.store.wakes.exist()
    run("ls")
    assert four.prompts() == []
    assert four.manager.reader.get(four.lead).turn == 1


def test_with_wakes_0_nothing_is_gathered(family):
    four = family(wakes=0)
    four.let_go()
    run("ls")
    assert not four.manager.store.wakes.exist()
    assert four.prompts() == []
    assert four.explained()["wakes"] == "no: orchestration.wakes is 0"
    assert four.manager.reader.get(four.workers[0]).attention


def test_the_prompt_waits_in_a_held_queue_where_it_can_be_cancelled_for_good(family, wait_until):
    four = family()
    run("queue", four.lead, "hold")
    four.let_go()
    wait_until(lambda: four.manager.queue.prompts(four.lead), timeout=60, what="the prompt")
    shown = run("queue", four.lead).stdout
    assert "agentdash: The ends of 4 workers: 4 done." in shown
    run("queue", four.lead, "cancel", "1")
    run("queue", four.lead, "release")
    run("ls")
    assert four.manager.reader.get(four.lead).turn == 1
    assert not four.manager.store.wakes.exist()
