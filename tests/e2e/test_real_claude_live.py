"""A real claude that lives through several turns, over a FIFO that it holds open itself, with its output in a file."""

import os
import subprocess

import pytest
from real_clis import CLAUDES

from agentdash.sessions.agents.base import LaunchRequest
from agentdash.sessions.agents.claude.adapter import ClaudeSettings
from agentdash.sessions.agents.dialogue import Asked, Delivery, Received, Settled, TurnBegan, TurnEnded
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import StepKind, StepStatus
from agentdash.sessions.rules.asks.model import Answer, Verdict

pytestmark = pytest.mark.real

ALLOW = Answer(verdict=Verdict.ALLOW)
DENY = Answer(verdict=Verdict.DENY, message="Once is \u2028 enough.")
SESSION = "5e0f1f3c-6a3e-4d0e-9d47-1f0a7f2d9c11"


def key(number):
    return f"00000000-0000-4000-8000-{number:012}"


class Live:
    """One claude process and the dialogue with it."""

    def __init__(self, folder, wait_until):
        self.agent, self.wait_until = agent_named("claude"), wait_until
        self.launch = self.agent.command(
            LaunchRequest(
                prompt="", cwd=str(folder), session_id=SESSION,
                settings=ClaudeSettings(live=True, permission_mode="default"),
            )
        )  # fmt: skip
        self.out = folder.parent / "out.jsonl"
        fifo = folder.parent / "in"
        os.mkfifo(fifo)
        self.stdin = os.open(fifo, os.O_RDWR)
        with self.out.open("wb") as out:
            self.process = subprocess.Popen(self.launch.argv, cwd=folder, stdin=self.stdin, stdout=out)
        self.adopt()

    def adopt(self):
        """Make a new dialogue and feed it all that was printed."""
        self.dialogue = self.agent.dialogue(self.launch.transport, self.launch.opening)
        self.events, self.bounds, self.position = [], [0], 0
        self.read()

    def read(self):
        data = self.out.read_bytes()
        while (end := data.find(b"\n", self.position)) >= 0:
            events = self.dialogue.feed(data[self.position : end])
            self.events += events
            self.position = end + 1
            if TurnEnded() in events:
                self.bounds.append(self.position)
        return self.events

    def write(self, *lines):
        for line in lines:
            os.write(self.stdin, line)

    def event(self, wanted, what):
        """Wait for the first event that is wanted."""

        def found():
            assert self.process.poll() is None, "claude has ended"
            return next((event for event in self.read() if wanted(event)), None)

        return self.wait_until(found, what=what)

    def asked(self, number):
        """Wait for an ask, counted from 1."""

        def wanted(event):
            return isinstance(event, Asked) and self.asks.index(event.ask) == number - 1

        return self.event(wanted, f"ask {number}").ask

    @property
    def asks(self):
        return [event.ask for event in self.events if isinstance(event, Asked)]

    def count(self, kind):
        return sum(isinstance(event, kind) for event in self.read())

    def ended(self, turns):
        self.wait_until(lambda: self.count(TurnEnded) == turns, what=f"the end of turn {turns}")

    def steps(self, turn):
        """The steps of a turn, and its facts, from its own part of the output."""
        parser = self.agent.parser(turn, self.launch.transport)
        part = self.out.read_bytes()[self.bounds[turn - 1] : self.bounds[turn]]
        steps = [step for line in part.splitlines() for step in parser.feed(line)]
        assert parser.facts.unknown_kinds == parser.facts.unreadable == {}
        return parser.facts, list({step.index: step for step in steps}.values())


@pytest.fixture
def live(use_agent, request, tmp_path, wait_until):
    use_agent(request.param)
    (tmp_path / "project").mkdir()
    one = Live(tmp_path / "project", wait_until)
    yield one
    one.process.kill()
    one.process.wait()
    os.close(one.stdin)


def texts(steps, kind):
    return [step.text for step in steps if step.kind is kind]


@pytest.mark.parametrize("live", CLAUDES, indirect=True)
def test_a_live_claude_is_steered_asked_interrupted_and_closed(live, fake_model):
    dialogue = live.dialogue
    # Turn 1: of two commands one is allowed and one denied; a prompt is steered in between.
    live.write(dialogue.prompt(key(1), 1, "[[fake:slow_steps]] the first prompt\u2028of all"))
    first = live.asked(1)
    assert first.title.startswith("run: for i in 1 2 3 4 5")
    assert first.cwd.endswith("/project")
    live.write(dialogue.answer(first.key, ALLOW))
    live.event(lambda event: event == Settled(first.key, answered=True), "the receipt of the answer")
    live.write(dialogue.prompt(key(2), 1, "the steered prompt"))
    second = live.asked(2)
    live.write(dialogue.answer(second.key, DENY), dialogue.answer(second.key, DENY))
    live.ended(1)
    assert Received(key(2), Delivery.SEEN) in live.events
    assert fake_model.was_shown("the steered prompt")
    assert fake_model.was_shown(DENY.message)
    facts, steps = live.steps(1)
    assert facts.end == "completed"
    assert texts(steps, StepKind.PROMPT) == ["the steered prompt"]
    assert [step.status for step in steps if step.kind is StepKind.COMMAND] == [StepStatus.OK, StepStatus.DECLINED]
    assert [step.text.rpartition(" (")[2] for step in steps if step.event == "ask"] == [
        "allowed)",
        "denied: Once is enough.)",
    ]
    cost = facts.cost_usd
    assert cost == facts.running_cost_usd > 0

    # Turn 2: it is interrupted while it asks.
    live.write(dialogue.prompt(key(3), 1, "[[fake:shell_fail]] the second prompt"))
    third = live.asked(3)
    live.write(*dialogue.interrupt())
    live.ended(2)
    assert Settled(third.key, answered=False) in live.events
    facts, _ = live.steps(2)
    assert (facts.end, facts.cost_usd) == ("failed", None)
    assert facts.running_cost_usd > cost

    # Turn 3: an adopter takes over while a command runs, takes back a prompt that claude did not read, and interrupts.
    live.write(dialogue.prompt(key(4), 1, "[[fake:sleep600]] the third prompt"))
    live.wait_until(lambda: b'"command":"echo started; sleep 600' in live.out.read_bytes(), what="the command")
    events = list(live.read())
    live.adopt()
    assert live.events[: len(events)] == events
    dialogue = live.dialogue
    live.write(dialogue.prompt(key(6), 1, "the words that came too late"))
    live.write(dialogue.withdraw(key(6)), *dialogue.interrupt())
    live.ended(3)
    assert Received(key(6), Delivery.WITHDRAWN) in live.events
    assert dialogue.interrupt() == []
    # Turn 4: the same prompt twice.
    again = dialogue.prompt(key(5), 1, "[[fake:plain]] the fourth prompt")
    live.write(again, again)
    live.ended(4)
    facts, steps = live.steps(4)
    assert (facts.end, texts(steps, StepKind.PROMPT)) == ("completed", [])
    assert texts(steps, StepKind.MESSAGE) == ["Hello. This is a plain answer with no tool calls."]
    assert live.count(TurnBegan) == 4

    # A request whose id was used before is answered like any other.
    change = dialogue.change("mode", "plan")
    live.write(change, change)
    live.wait_until(lambda: live.out.read_bytes().count(b'"change-1-mode-plan"') == 2, what="both responses")
    live.write(dialogue.closing())
    assert live.process.wait(timeout=60) == 0
    live.read()
    assert live.count(TurnEnded) == 4
    assert not fake_model.was_shown("the words that came too late")
