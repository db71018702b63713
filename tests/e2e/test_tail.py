"""Sessions followed as plain text, by the command itself: what comes is printed when it comes."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start

AGENTDASH = [sys.executable, "-m", "agentdash"]
GATE = 'printf "%srst\\n" fi; while [ ! -e go ]; do sleep 0.05; done; printf "%scond\\n%sird\\n" se th'
"""Prints first, and then second and third; the command itself has none of these words, because it is shown, too."""


class Following:
    """A running `agentdash tail` or the like, whose lines can be waited for."""

    def __init__(self, wait_until, *arguments):
        self._wait_until = wait_until
        self.process = subprocess.Popen(
            [*AGENTDASH, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
        os.set_blocking(self.process.stdout.fileno(), False)
        os.set_blocking(self.process.stderr.fileno(), False)
        self._out = self._err = b""

    @property
    def out(self):
        return self._out.decode()

    @property
    def err(self):
        return self._err.decode()

    def _read(self):
        self._out += self.process.stdout.read() or b""
        self._err += self.process.stderr.read() or b""

    def shows(self, text):
        """Wait for a text on stdout or stderr."""

        def there():
            self._read()
            return text.encode() in self._out + self._err

        self._wait_until(there, what=f"{text!r} in {self._out!r} {self._err!r}")

    def ended(self):
        """Wait for its end; its exit code.  A full pipe would hold it up, so that it is read meanwhile."""

        def over():
            self._read()
            return self.process.poll() is not None

        self._wait_until(over, what="its end")
        self._read()
        return self.process.returncode


@pytest.fixture
def following(wait_until):
    opened = []

    def follow(*arguments):
        opened.append(Following(wait_until, *arguments))
        return opened[-1]

    yield follow
    for one in opened:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()
        one.process.stdout.close()
        one.process.stderr.close()


def run(manager, command, title=None):
    session = manager.run(["sh", "-c", command], cwd=str(Path.cwd()))
    if title:
        manager.housekeeping.rename(session.id, title)
    return manager.started(session.id, timeout=60).id


def words(shown):
    """What is said in each line, without the sign before it."""
    return [line.partition(" ")[2].strip() for line in shown.splitlines()]


@pytest.mark.smoke
@pytest.mark.parametrize("verb", [["tail"], ["tail", "-n", "all"], ["watch"]], ids=" ".join)
def test_what_comes_is_printed_while_the_session_still_runs(manager, following, verb):
    session = run(manager, GATE)
    shown = following(*verb, session)
    shown.shows("first")
    assert manager.reader.get(session).status is Status.RUNNING
    assert "second" not in words(shown.out)
    Path("go").touch()
    assert shown.ended() == 0
    assert words(shown.out)[-4:-1] == ["first", "second", "third"]
    assert "done" in shown.out.splitlines()[-1]
    assert shown.err == ""


def test_the_exit_code_is_that_of_the_session(manager, following):
    shown = following("tail", run(manager, "echo a; exit 3"))
    assert shown.ended() == 1
    assert "exit 3" in shown.out


def test_an_ended_session_shows_its_last_steps_and_ends(manager, following):
    session = run(manager, "seq 30")
    manager.wait([session])
    shown = following("tail", "-n", "3", session)
    assert shown.ended() == 0
    assert [line[2:] for line in shown.out.splitlines() if line.startswith("✦")] == ["28", "29", "30"]


def test_as_json_each_step_is_a_line_that_names_its_session(manager, following):
    session = run(manager, GATE)
    shown = following("tail", "--json", session)
    shown.shows("first")
    Path("go").touch()
    assert shown.ended() == 0
    told = [json.loads(line) for line in shown.out.splitlines()]
    assert [(one["session"], one["text"]) for one in told[1:]] == [
        (session, "first"), (session, "second"), (session, "third"),
    ]  # fmt: skip


def test_lines_of_several_sessions_begin_with_their_names(manager, following):
    one, two = run(manager, GATE, "the one"), run(manager, "echo other", "the two")
    shown = following("tail", one, two)
    shown.shows("other")
    shown.shows("first")
    Path("go").touch()
    assert shown.ended() == 0
    assert f"{one[:8]} the one" in next(line for line in shown.out.splitlines() if line.endswith("third"))
    assert f"{two[:8]} the two" in next(line for line in shown.out.splitlines() if line.endswith("other"))


def test_ctrl_c_ends_it_quietly_and_not_the_session(manager, following):
    session = run(manager, GATE)
    shown = following("tail", session)
    shown.shows("first")
    shown.process.send_signal(signal.SIGINT)
    assert shown.ended() == 130
    assert shown.err == ""
    assert manager.reader.get(session).status is Status.RUNNING


def test_a_reader_that_goes_away_ends_it_quietly_also_in_silence(manager, following):
    session = run(manager, GATE)
    shown = following("tail", session)
    shown.shows("first")
    shown.process.stdout.close()
    assert shown.process.wait(timeout=60) == 141
    assert shown.process.stderr.read() in (None, b"")
    assert manager.reader.get(session).status is Status.RUNNING


def test_a_session_that_is_deleted_meanwhile_is_named(manager, following):
    session = run(manager, GATE)
    shown = following("tail", "--follow-turns", session)
    shown.shows("first")
    manager.delete(session)
    assert shown.ended() == 1
    assert f"Session {session[:8]} was deleted." in shown.err


def test_it_follows_over_the_death_of_the_runner(manager, following):
    session = run(manager, GATE)
    shown = following("tail", session)
    shown.shows("first")
    os.kill(manager.reader.turns(session)[-1].runner_pid, signal.SIGKILL)
    Path("go").touch()
    assert shown.ended() == 1
    assert "third" in words(shown.out)
    assert "lost" in shown.out


def test_a_queued_session_is_followed_from_its_beginning(manager, following, tmp_path):
    Path(os.environ["AGENTDASH_CONFIG"]).write_text("[queue]\nmax_running = 1\n")
    run(manager, GATE)
    waiting = run(manager, "echo waited")
    shown = following("tail", waiting)
    shown.shows("is queued: not started yet.")
    Path("go").touch()
    assert shown.ended() == 0
    assert "waited" in words(shown.out)


def test_the_next_turn_is_followed_if_that_is_asked_for(manager, following):
    session = run(manager, "echo again")
    manager.wait([session])
    shown = following("tail", "--follow-turns", session)
    shown.shows("done")
    manager.prompts.retry(session)
    shown.shows("turn 2")
    manager.wait([session])
    one_turn = following("tail", "--turn", "1", session)
    assert one_turn.ended() == 0
    assert "turn 2" not in one_turn.out
    assert shown.process.poll() is None


def test_hostile_output_stays_on_its_line(manager, following):
    session = run(manager, r"printf 'a\033]0;PWNED\007b\033[2Jc\r\nx\342\200\250y\n'")
    manager.wait([session])
    shown = following("tail", session)
    assert shown.ended() == 0
    assert not set(shown.out) & set("\x1b\x07\u2028\r")
    assert "abc" in words(shown.out)


def test_one_look_shows_the_last_steps_and_the_state(manager, following):
    session = run(manager, GATE)
    following("tail", session).shows("first")
    shown = following("tail", "--once", "-n", "1", session)
    assert shown.ended() == 0
    assert "first" in words(shown.out)
    assert "running" in shown.out.splitlines()[-1]
    told = following("tail", "--once", "--json", session)
    assert told.ended() == 0
    found = json.loads(told.out)
    assert (found["session"]["id"], found["steps"][-1]["text"]) == (session, "first")


def test_a_trajectory_of_a_session_at_work_prints_what_is_there_and_ends(manager, following):
    session = run(manager, GATE)
    following("tail", session).shows("first")
    shown = following("trajectory", "--lines", "all", session)
    assert shown.ended() == 0
    assert words(shown.out)[-1] == "first"


@pytest.mark.real
def test_a_real_agent_is_followed_while_it_works(manager, following, agent, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    options = {"codex": {"sandbox": "danger-full-access"}, "claude": {"permission_mode": "bypassPermissions"}}
    session = manager.spawn(Start("[[fake:slow_steps]] go", agent=agent, cwd=str(project), options=options[agent]))
    shown = following("tail", session.id)
    shown.shows("for i in 1 2 3 4 5; do echo tick $i; sleep 1; done")
    assert "tick 5" not in shown.out
    shown.shows("tick 5")
    assert manager.reader.get(session.id).status is Status.RUNNING
    assert shown.ended() == 0
    ticking = [line for line in shown.out.splitlines() if "for i in 1 2 3 4 5" in line]
    assert len(ticking) == 2
    assert re.search(r"✓  \d+(\.\d+)?s$", ticking[1]), ticking
    assert "Finished." in shown.out


@pytest.mark.real
def test_the_transcript_that_a_real_agent_keeps_is_viewed(manager, following, agent, scratch_home, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    options = {"codex": {"sandbox": "danger-full-access"}, "claude": {"permission_mode": "bypassPermissions"}}
    session = manager.spawn(Start("[[fake:work]] go", agent=agent, cwd=str(project), options=options[agent]))
    manager.wait([session.id], timeout=120)
    folder = scratch_home / agent / ("sessions" if agent == "codex" else "projects")
    (transcript,) = folder.rglob("*.jsonl")
    shown = following("view", "--json", str(transcript))
    assert (shown.ended(), shown.err) == (0, "")
    steps = json.loads(shown.out)
    commands = [(step["command"], step["exit_code"]) for step in steps if step["kind"] == "command"]
    assert commands[1] == ("cat does-not-exist.txt; exit 3", 3)
    assert all(change["diff"] for step in steps for change in step.get("changes", ()))
    assert [step["text"] for step in steps if step["kind"] == "prompt"] == ["[[fake:work]] go"]
