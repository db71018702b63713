"""A prompt that a dead runner may have written to a live codex, which does not ignore a prompt that it has."""

import json

import pytest

from agentdash.sessions.agents.codex.app_server.dialogue import CodexDialogue
from agentdash.sessions.launch import Launch
from agentdash.sessions.rules.delivery import PromptState
from agentdash.sessions.supervision.child import AgentChild
from agentdash.sessions.supervision.live.agent import LiveAgent
from agentdash.sessions.supervision.live.channel import Channel, make_fifo
from agentdash.sessions.supervision.live.courier import Courier

READY = [{"id": 1, "result": {}}, {"id": 2, "result": {"thread": {"id": "T"}}}]
LAUNCH = Launch(argv=("codex",), transport="app-server")


class Runner:
    """A runner that adopts the agent after the last one was killed, and reads all that the agent has printed."""

    def __init__(self, folder, output, state, attempt):
        make_fifo(folder / "stdin")
        self.live = LiveAgent(AgentChild(), Channel(folder / "stdin"), CodexDialogue(), launch=LAUNCH, stream=1)
        self.recorded = (state, attempt)
        self.courier = Courier(self.live, self._record, key="k", text="hello", state=state, attempt=attempt)
        self.live.listener = self.courier.hear
        self._read = 0
        self.read(*READY, *output)

    def _record(self, state, attempt):
        self.recorded = (state, attempt or self.recorded[1])
        return True

    def read(self, *messages):
        for message in messages:
            self._read += 1
            self.live.feed(json.dumps(message).encode(), self._read)

    def written(self):
        """The ids of the requests that it writes, until it waits for an answer."""
        found = []
        self._advance()
        while line := self.live.channel.drain():
            found.append(json.loads(line)["id"])
            self._advance()
        return found

    def _advance(self):
        self.courier.advance()
        self.live.flush()


@pytest.fixture
def runner(tmp_path):
    return lambda *output, state=PromptState.SENDING, attempt=1: Runner(tmp_path, output, state, attempt)


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
