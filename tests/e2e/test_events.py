"""`agentdash events` in a process of its own: scripts follow it, and end it in their own ways."""

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest
from verbs import verb

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start

AGENTDASH = [sys.executable, "-m", "agentdash"]


class Reading:
    """A running `agentdash events`, whose lines can be waited for."""

    def __init__(self, wait_until, *words):
        self._wait_until = wait_until
        self.process = subprocess.Popen(
            [*AGENTDASH, "events", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
        os.set_blocking(self.process.stdout.fileno(), False)
        self._data = b""

    @property
    def lines(self):
        self._data += self.process.stdout.read() or b""
        return [json.loads(line) for line in self._data.split(b"\n")[:-1]]

    def told(self, event, **facts):
        """Wait for an event; it."""

        def there():
            found = [one for one in self.lines if one["event"] == event]
            return [one for one in found if all(one[key] == value for key, value in facts.items())]

        return self._wait_until(there, what=f"{event} {facts}")[0]

    def ended(self):
        self._wait_until(lambda: (self.lines, self.process.poll() is not None)[1], what="its end")
        return self.process.returncode, self.process.stderr.read().decode()


@pytest.fixture
def reading(wait_until):
    started = []

    def start(*words):
        started.append(Reading(wait_until, *words))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()
        one.process.stdout.close()
        one.process.stderr.close()


def command(manager, *argv):
    return manager.spawn(Start(" ".join(argv), agent="command", argv=argv))


@pytest.mark.smoke
def test_the_life_of_a_session_with_its_steps(manager, reading, tmp_path):
    following = reading("--follow", "--steps")
    assert following.told("begin")["seq"] == 0
    session = command(manager, "sh", "-c", "echo one; while [ ! -e go ]; do sleep 0.05; done; echo two; exit 3")
    following.told("started", id=session.id)
    (tmp_path / "go").touch()
    end = following.told("ended", id=session.id)
    assert (end["turn"], end["status"], end["session"]["exit_code"]) == (1, "failed", 3)
    manager.delete(session.id)
    following.told("deleted", id=session.id)
    events = [(one["event"], one.get("step", {}).get("text")) for one in following.lines]
    assert events.index(("step", "one")) < events.index(("step", "two")) < events.index(("ended", None))
    following.process.send_signal(signal.SIGINT)
    assert following.ended() == (130, "")


@pytest.mark.parametrize(("code", "expected"), [("true", 0), ("false", 1)])
def test_the_end_of_all_is_its_end(manager, reading, tmp_path, code, expected):
    gate = f"while [ ! -e go ]; do sleep 0.05; done; {code}"
    session = command(manager, "sh", "-c", gate)
    until = reading("--until-done", "--family", session.id)
    until.told("begin")
    (tmp_path / "go").touch()
    assert until.ended() == (expected, "")
    assert [one["event"] for one in until.lines][-1] == "ended"
    assert verb("events", "--until-done").returncode == expected


def test_a_second_reader_goes_on_behind_the_first(manager, at):
    first = command(manager, "true")
    at(first, 1, Status.DONE)
    seen = list(map(json.loads, verb("events", "--since", "0").stdout.splitlines()))
    assert [one["id"] for one in seen if one["event"] == "ended"] == [first.id]
    second = command(manager, "false")
    at(second, 1, Status.FAILED)
    rest = list(map(json.loads, verb("events", "--since", str(seen[-1]["seq"])).stdout.splitlines()))
    assert [one["id"] for one in rest if one["event"] == "ended"] == [second.id]


def test_a_closed_pipe_ends_it_without_a_traceback(reading):
    following = reading("--follow")
    following.told("begin")
    following.process.stdout.close()
    code = following.process.wait(timeout=60)
    assert (code, following.process.stderr.read()) == (141, b"")


def test_a_deleted_state_folder_ends_it_with_the_reason(manager, reading, tmp_path):
    command(manager, "true")
    following = reading("--follow")
    following.told("begin")
    home = manager.layout.home
    manager.close()
    home.rename(tmp_path / "gone")
    shutil.rmtree(tmp_path / "gone", ignore_errors=True)  # the runner may remove a file of its own meanwhile
    code, error = following.ended()
    assert (code, error.count("\n")) == (1, 1)
    assert str(home) in error
    home.mkdir(mode=0o700)  # the manager counts its sessions in the end


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("--since", "x"), 2, "'x' is not a valid integer"),
        (("--since", "-1"), 2, "-1 is not in the range"),
        (("--since", "99"), 2, "the newest position is 0"),
        (("--filter", "odd:1"), 2, "Unknown field odd"),
        (("--family", "nope"), 1, "No session with id 'nope'"),
        (("--steps",), 2, "--steps works only with"),
    ],
)
def test_bad_input(words, code, error):
    for more in ((), ("--follow",)) if words[0] != "--steps" else ((),):
        done = verb("events", *words, *more)
        assert (done.returncode, done.stdout) == (code, "")
        assert error in done.stderr
