"""The demo's programs, run as an adapter runs them, and read by its real parser and dialogue."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pytest

from agentdash.sessions.agents.base import LaunchRequest
from agentdash.sessions.agents.dialogue import Asked, Ready, TurnEnded
from agentdash.sessions.agents.registry import agent_named
from agentdash.tui.demo.folder import enter_demo, make_demo

THREAD = "11111111-1111-4111-8111-111111111111"


@pytest.fixture
def demo(tmp_path, monkeypatch):
    """A demo at high speed, in which this process is."""
    for name in ("PATH", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "AGENTDASH_HOME", "AGENTDASH_CONFIG"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    make_demo(tmp_path / "demo", speed=200)
    enter_demo(tmp_path / "demo")
    (tmp_path / "demo" / "projects" / "api").mkdir()
    monkeypatch.chdir(tmp_path / "demo" / "projects" / "api")
    return tmp_path / "demo"


class Played:
    """What a process printed: the steps, the facts and the events of the dialogue."""

    def __init__(self, agent, transport):
        self.parser = agent_named(agent).parser(1, transport)
        self.lines, self.events, self.newest = [], [], {}

    def read(self, line):
        self.lines.append(line)
        self.newest |= {step.index: step for step in self.parser.feed(line, 7)}

    @property
    def steps(self):
        return list(self.newest.values())

    @property
    def facts(self):
        return self.parser.facts

    def kinds(self):
        return [str(step.kind) for step in self.steps]


def command_of(agent, prompt, **settings):
    kind = agent_named(agent).settings_type
    resumed = settings.pop("resumed", None)
    return agent_named(agent).command(
        LaunchRequest(
            prompt=prompt, cwd=str(Path.cwd()), session_id=THREAD, turn=2 if resumed else 1, agent_session=resumed,
            fork=settings.pop("fork", None), settings=kind(**settings),
        )
    )  # fmt: skip


@pytest.fixture
def one_turn(demo):
    """Plays the turn of a process of one turn."""

    def play(agent, prompt, **settings):
        command = command_of(agent, prompt, live=False, **settings)
        done = subprocess.run(command.argv, input=prompt.encode(), capture_output=True, timeout=60, check=False)
        played = Played(agent, "")
        for line in done.stdout.splitlines():
            played.read(line)
        return SimpleNamespace(played=played, code=done.returncode, stderr=done.stderr.decode())

    return play


@pytest.fixture
def live(demo):
    """Starts a live process: each call of ``turn`` plays one, and answers what it asks."""
    started = []

    def start(agent, **settings):
        command = command_of(agent, "", **settings)
        process = subprocess.Popen(command.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        started.append(process)
        return Talk(agent, process, agent_named(agent).dialogue(command.transport, command.opening), command.transport)

    yield start
    for process in started:
        process.kill()
        process.wait()


class Talk:
    """A dialogue with a live process."""

    def __init__(self, agent, process, dialogue, transport):
        self.agent, self.process, self.dialogue, self.transport = agent, process, dialogue, transport
        self.keys = 0

    def write(self, *lines):
        self.process.stdin.write(b"".join(filter(None, lines)))
        self.process.stdin.flush()

    def turn(self, prompt, answer=None, at=None):
        """Play a turn; ``answer`` answers each ask, and ``at`` is called with each line."""
        played = Played(self.agent, self.transport)
        self.write(*self.dialogue.opening())
        if self.dialogue.ready:
            self.prompt(prompt)
        while True:
            line = self.process.stdout.readline().rstrip(b"\n")
            assert line, "the process ended"
            played.read(line)
            events = self.dialogue.feed(line)
            played.events += events
            self.write(*self.dialogue.opening())
            for event in events:
                if isinstance(event, Ready):
                    self.prompt(prompt)
                elif isinstance(event, Asked) and answer is not None:
                    self.write(self.dialogue.answer(event.ask.key, answer(event.ask)))
            if at is not None:
                at(self, line)
            if any(isinstance(event, TurnEnded) for event in events):
                return played

    def prompt(self, text):
        self.keys += 1
        self.write(self.dialogue.prompt(str(uuid4()), 1, text))
