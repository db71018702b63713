"""A prompt on its way: what a dead runner may have written to codex, and turns that the agent begins meanwhile."""

import json

import pytest

from agentdash.sessions.agents.codex.app_server.dialogue import CodexDialogue
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.runner.child import AgentChild
from agentdash.sessions.runner.live.agent import LiveAgent
from agentdash.sessions.runner.live.channel import Channel, make_fifo
from agentdash.sessions.runner.live.courier import Courier
from scripted.dialogue import ScriptedDialogue

READY = [{"id": 1, "result": {}}, {"id": 2, "result": {"thread": {"id": "T"}}}]
LAUNCH = Launch(argv=("codex",), transport="app-server")


class Runner:
    """A runner that adopts the agent after the last one was killed, and reads all that the agent has printed."""

    def __init__(self, folder, output, state, attempt, dialogue):
        make_fifo(folder / "stdin")
        self.live = LiveAgent(AgentChild(), Channel(folder / "stdin"), dialogue, launch=LAUNCH, stream=1)
        self.recorded = (state, attempt)
        self.courier = Courier(self.live, self._record, key="k", text="hello", state=state, attempt=attempt)
        self.live.listener = self.courier.hear
        self._read = 0
        self.read(*output)

    def _record(self, state, attempt):
        self.recorded = (state, attempt or self.recorded[1])
        return True

    def read(self, *messages):
        for message in messages:
            self._read += 1
            self.live.feed(json.dumps(message).encode(), self._read)

    def written(self, name="id"):
        """What names the requests that it writes, until it waits for an answer."""
        found = []
        self._advance()
        while line := self.live.channel.drain():
            found.append(json.loads(line)[name])
            self._advance()
        return found

    def _advance(self):
        self.courier.advance()
        self.live.flush()


@pytest.fixture
def runner(tmp_path):
    def adopt(*output, state=PromptState.SENDING, attempt=1):
        return Runner(tmp_path, (*READY, *output), state, attempt, CodexDialogue())

    return adopt


@pytest.fixture
def scripted_runner(tmp_path):
    """A runner of the scripted agent."""

    def adopt(*output, state):
        return Runner(tmp_path, ({"type": "ready", "conversation": "c"}, *output), state, 1, ScriptedDialogue())

    return adopt


PROBED = {"id": "probe:k:1", "result": {"thread": {"id": "T"}}}
ARRIVED = {"id": "prompt:k:2", "result": {"turn": {"id": "t"}}}
PROBED_AGAIN = {"id": "probe:k:2", "result": {"thread": {"id": "T"}}}


def test_a_prompt_that_did_not_arrive_is_written_again(runner):
    second = runner()
    assert second.written() == ["probe:k:1"]
    second.read(PROBED)
    assert second.written() == ["prompt:k:2"]
    assert second.recorded == (PromptState.SENT, 2)


def test_after_a_second_death_the_answer_to_the_first_probe_decides_nothing(runner):
    third = runner(PROBED, attempt=2)
    assert third.written() == ["probe:k:2"]
    assert third.written() == []
    third.read(ARRIVED, PROBED_AGAIN)
    assert third.written() == []
    assert third.recorded == (PromptState.SENT, 2)


def test_after_a_second_death_a_prompt_that_did_not_arrive_either_is_written_a_third_time(runner):
    third = runner(PROBED, attempt=2)
    assert third.written() == ["probe:k:2"]
    third.read(PROBED_AGAIN)
    assert third.written() == ["prompt:k:3"]


OWN_TURN = ({"type": "turn_began", "conversation": "c"}, {"type": "turn_ended", "status": "completed"})
ITS_TURN = (
    {"type": "turn_began", "key": "k", "conversation": "c"},
    {"type": "prompt", "key": "k", "state": "seen", "text": "hello"},
    {"type": "turn_ended", "status": "completed"},
)


def test_a_turn_that_the_agent_begins_by_itself_beside_the_written_prompt_does_not_end_the_turn_of_the_prompt(
    scripted_runner,
):
    runner = scripted_runner(state=PromptState.QUEUED)
    assert runner.written("key") == ["k"]
    runner.read(*OWN_TURN)
    assert not runner.courier.over
    runner.read(*ITS_TURN)
    assert runner.courier.over


def test_a_runner_that_adopts_the_agent_does_not_take_the_agents_own_turn_for_that_of_the_prompt(scripted_runner):
    runner = scripted_runner(*OWN_TURN, state=PromptState.SENT)
    assert not runner.courier.over
    runner.read(*ITS_TURN)
    assert runner.courier.over
