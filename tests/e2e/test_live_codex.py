"""The real codex app-server with the scripted model: what a dialogue makes of it, over its whole life."""

import os
import queue
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from agentdash.sessions.agents.base import LaunchRequest
from agentdash.sessions.agents.codex.adapter import Codex, CodexSettings
from agentdash.sessions.agents.dialogue import Asked, Delivery, Failed, Ready, Received, Settled, TurnBegan, TurnEnded
from agentdash.sessions.agents.parsing.sent_prompt import SentPrompt
from agentdash.sessions.model.session import StepKind, StepStatus
from agentdash.sessions.rules.asks.model import Answer, AskKind, Verdict

pytestmark = pytest.mark.real

CODEX = Codex()
PATIENCE = 120


class Live:
    """One app-server process: what it said, as events and as steps of the running turn."""

    def __init__(self, folder, thread=None, **settings):
        chosen = CodexSettings(live=True, bin=shutil.which("codex"), **settings)
        request = LaunchRequest(
            prompt="", cwd=str(folder), session_id="s", agent_session=thread, settings=chosen, model="gpt-5.5"
        )
        self.launch = CODEX.command(request)
        self.dialogue = CODEX.dialogue(self.launch.transport, self.launch.opening)
        self.parser = CODEX.parser(1, self.launch.transport)
        self.steps = {}
        self.events = []
        self.facts = []
        self._lines = queue.Queue()
        self.process = subprocess.Popen(
            self.launch.argv, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self.write(*self.dialogue.opening())

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def write(self, *lines):
        self.process.stdin.write(b"".join(lines))
        self.process.stdin.flush()

    def read_line(self):
        """Read the next line, and return its events."""
        line = self._lines.get(timeout=PATIENCE)
        assert line, "codex ended"
        self.steps |= {step.index: step for step in self.parser.feed(line.rstrip(b"\n"))}
        events = self.dialogue.feed(line.rstrip(b"\n"))
        self.events += events
        if not self.dialogue.ready:
            self.write(*self.dialogue.opening())
        if TurnEnded() in events:
            self.facts.append(self.parser.facts)
            self.parser = CODEX.parser(len(self.facts) + 1, self.launch.transport)
        return events

    def read_until(self, condition):
        """Read on until the condition holds."""
        while not condition():
            self.read_line()

    def until(self, condition):
        """Read on until an event fulfils the condition, and return the event."""
        while True:
            found = next((event for event in self.read_line() if condition(event)), None)
            if found is not None:
                return found

    def ready(self):
        return self.until(lambda event: isinstance(event, Ready)).agent_session

    def asked(self):
        return self.until(lambda event: isinstance(event, Asked)).ask

    def ended(self):
        """Wait for the end of the turn, and return its facts and steps."""
        self.until(lambda event: event == TurnEnded())
        steps, self.steps = list(self.steps.values()), {}
        return self.facts[-1], steps

    def close(self):
        """End the process as agentdash does, and return its exit code."""
        self.process.terminate()
        code = self.process.wait(PATIENCE)
        self.process.stdin.close()
        self._reader.join(PATIENCE)
        self.process.stdout.close()
        return code


def sleeping(folder):
    """The processes in a folder that run the script's long command."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cwd").readlink() == folder and b"sleep" in (entry / "cmdline").read_bytes():
                    found.append(entry.name)
            except OSError:
                continue
    return found


@pytest.fixture
def live(codex_env, tmp_path):
    """Starts a live codex in the test's folder; all are ended with the test."""
    folder, running = tmp_path / "project", []
    folder.mkdir()

    def start(**options):
        running.append(Live(folder, **options))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            one.close()


def test_prompts_approvals_interrupts_and_a_second_process(live, fake_model, codex_env, tmp_path, wait_until):
    codex = live(sandbox="read-only", instructions="Be brief.")
    thread = codex.ready()

    codex.write(codex.dialogue.prompt("one", 1, "[[fake:escalate]] one"))
    ask = codex.asked()
    assert (ask.kind, ask.title, ask.why) == (
        AskKind.COMMAND,
        "run: touch asked.txt && echo ran-it",
        "It makes a file.",
    )
    assert codex.parser.facts.waiting == "asks to run: touch asked.txt && echo ran-it"
    assert not (tmp_path / "project/asked.txt").exists()
    codex.write(codex.dialogue.answer(ask.key, Answer(verdict=Verdict.ALLOW)))
    facts, steps = codex.ended()
    assert (facts.end, facts.waiting, facts.agent_session) == ("completed", None, thread)
    assert [step.output for step in steps if step.kind is StepKind.COMMAND] == ["ran-it\n"]
    assert (tmp_path / "project/asked.txt").exists()
    assert codex.events[:6] == [
        Ready(thread), Received("one", Delivery.ACCEPTED), TurnBegan("one"), Received("one", Delivery.SEEN),
        Asked(ask), Settled(ask.key, answered=True),
    ]  # fmt: skip
    assert fake_model.was_shown("Be brief.")

    codex.write(codex.dialogue.prompt("two", 1, "[[fake:escalate]] two"))
    codex.write(codex.dialogue.answer(codex.asked().key, Answer(verdict=Verdict.DENY)))
    facts, steps = codex.ended()
    assert (facts.end, facts.denied) == ("completed", 0)
    assert [step.status for step in steps if step.kind is StepKind.COMMAND] == [StepStatus.DECLINED]

    codex.write(codex.dialogue.prompt("three", 1, "[[fake:slow_steps]] three"))
    codex.until(lambda event: event == Received("three", Delivery.SEEN))
    probes = [codex.dialogue.probe(key, 1) for key in ("steer", "never sent")]
    codex.write(codex.dialogue.prompt("steer", 1, "the steering words"), *probes)
    codex.until(lambda event: event == Received("steer", Delivery.SEEN))
    assert codex.dialogue.arrived("steer", 1) is True
    assert codex.dialogue.arrived("never sent", 1) is False
    facts, steps = codex.ended()
    assert [step.text for step in steps if step.kind is StepKind.PROMPT] == ["the steering words"]
    assert fake_model.was_shown("the steering words")

    codex.write(codex.dialogue.prompt("four", 1, "[[fake:sleep600]] four"))
    codex.read_until(lambda: any(step.status is StepStatus.RUNNING for step in codex.steps.values()))
    assert sleeping(tmp_path / "project")
    codex.write(codex.dialogue.prompt("dropped", 1, "never read"), *codex.dialogue.interrupt())
    facts, steps = codex.ended()
    assert (facts.end, facts.error) == ("failed", "the turn was interrupted")
    assert [step.status for step in steps if step.kind is StepKind.COMMAND] == [StepStatus.INTERRUPTED]
    assert codex.events[-1] == Received("dropped", Delivery.WITHDRAWN)
    wait_until(lambda: not sleeping(tmp_path / "project"))

    codex.write(codex.dialogue.prompt("five", 1, "[[fake:context_probe]] five"))
    facts, steps = codex.ended()
    assert facts.end == "completed"
    assert facts.last_message.endswith("Newest: five")
    assert codex.close() == 0

    again = live(thread=thread, sandbox="read-only")
    assert again.ready() == thread
    again.write(again.dialogue.prompt("six", 1, "[[fake:context_probe]] six"))
    facts, _ = again.ended()
    assert facts.end == "completed"
    assert facts.last_message.endswith("Newest: six")
    assert facts.usage.total_tokens < facts.thread_usage.total_tokens
    assert again.close() == 0

    def has(key, said):
        sent = SentPrompt(launch=again.launch, agent_session=thread, env=os.environ, at=0, key=key, recorded=said)
        return CODEX.own_files.has_prompt(sent)

    assert [has(key, "") for key in ("one", "two", "three", "steer", "four", "five", "six")] == [True] * 7
    assert has("dropped", "never read") is False


def test_a_second_process_on_a_thread_is_refused(live):
    codex = live()
    thread = codex.ready()
    codex.write(codex.dialogue.prompt("one", 1, "hello"))
    codex.ended()
    second = live(thread=thread)
    failed = second.until(lambda event: isinstance(event, Failed))
    assert "already has an active writer" in failed.reason
