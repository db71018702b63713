"""The handshake of an agent whose runner was killed in the middle of it: the next runner goes on with it."""

import json

import pytest
from places import CAPTURES

from agentdash.sessions.agents.base import LaunchRequest
from agentdash.sessions.agents.codex.adapter import Codex, CodexSettings
from agentdash.sessions.agents.dialogue import Ready
from agentdash.sessions.rules.launch import Terms, TurnPlan
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.runner.child import AgentChild
from agentdash.sessions.runner.live import agent as live_agent
from agentdash.sessions.runner.live.agent import LiveAgent
from agentdash.sessions.runner.live.channel import Channel, make_fifo
from agentdash.sessions.runner.live.courier import Courier

COMMAND = Codex().command(LaunchRequest(prompt="hello", cwd="/p", session_id="s", settings=CodexSettings(live=True)))
LAUNCH = TurnPlan(settings={}, terms=Terms()).launch(COMMAND)
PRINTED = (CAPTURES / "app-server" / "codex-handshake-twice.jsonl").read_bytes().splitlines(keepends=True)
"""What codex printed: it was written each line of the handshake twice."""
FIRST_THREAD = "01a207c0-3f17-74d2-b6be-c51188f38df2"
INITIALIZE, OTHERS = ["initialize"], ["initialized", "thread/start"]


class Adopted:
    """A live codex whose output so far another runner read, and a prompt for it."""

    def __init__(self, folder, printed):
        output, fifo = folder / "output", folder / "stdin"
        output.write_bytes(b"".join(printed))
        make_fifo(fifo)
        self.channel, self.events = Channel(fifo), []
        dialogue = Codex().dialogue(LAUNCH.transport, LAUNCH.opening)
        self.live = LiveAgent(AgentChild(), self.channel, dialogue, launch=LAUNCH, stream=1)
        self.live.listener = self.events.append
        self.live.catch_up(output, output.stat().st_size)
        self.courier = Courier(self.live, lambda *_: True, key="k", text="hello", state=PromptState.QUEUED, attempt=1)

    def written(self):
        """Let the runner take its next step, and codex read; the methods of its requests."""
        methods = []
        while True:
            self.courier.advance()
            self.live.flush()
            if not (read := self.channel.drain()):
                return methods
            methods.append(json.loads(read)["method"])

    def prints(self, *lines):
        for line in lines:
            self.live.feed(line.removesuffix(b"\n"), self.live.position + len(line))


@pytest.fixture
def adopted(tmp_path, monkeypatch):
    """Adopts a codex; ``patience`` in seconds before the handshake is written again."""
    opened = []

    def adopt(printed, patience=0.0):
        monkeypatch.setattr(live_agent, "REPEAT_SECONDS", patience)
        opened.append(one := Adopted(tmp_path, printed))
        return one

    yield adopt
    for one in opened:
        one.channel.close()


def test_a_handshake_that_was_not_begun_is_written_by_the_next_runner(adopted):
    one = adopted([])
    assert one.written() == INITIALIZE
    one.prints(PRINTED[0])
    assert one.written() == OTHERS
    one.prints(*PRINTED[3:5])
    assert one.written() == ["turn/start"]
    assert one.courier.failed is None


def test_a_handshake_without_the_answer_to_its_second_half_goes_on(adopted):
    one = adopted(PRINTED[:1])
    assert one.written() == OTHERS
    one.prints(PRINTED[3])
    assert one.written() == ["turn/start"]


def test_answers_that_come_twice_name_one_conversation(adopted):
    one = adopted([])
    assert one.written() == INITIALIZE
    one.prints(*PRINTED[:3])
    assert one.written() == OTHERS
    one.prints(*PRINTED[3:])
    assert one.events == [Ready(FIRST_THREAD)]
    assert one.courier.failed is None


def test_a_handshake_that_is_answered_in_time_is_not_repeated(adopted):
    one = adopted(PRINTED[:1], patience=3600)
    assert one.written() == []
    assert one.courier.due is not None
    one.prints(PRINTED[3])
    assert one.written() == ["turn/start"]


def test_the_steps_name_the_first_conversation_and_no_error():
    parser = Codex().parser(1, LAUNCH.transport)
    steps = [step for line in PRINTED for step in parser.feed(line.rstrip(b"\n"), 7)]
    assert [(step.kind, step.agent_session) for step in steps] == [("start", FIRST_THREAD)]
    assert (parser.facts.agent_session, parser.facts.error) == (FIRST_THREAD, None)
