"""The first act of a turn on a live agent: its prompt is written before anything else is read or recorded."""

import json

import pytest
from live_rows import READY, feed

from agentdash.sessions.rules.prompts.delivery import PromptState


@pytest.fixture
def begun(store, live_log, adopted):
    """Makes a turn whose prompt has a state, and begins it."""

    def begin(state, *events):
        with store.database.transaction() as db:
            db.execute("UPDATE prompts SET state = ?", (state,))
        live, turn = adopted()
        feed(live, *events)
        turn.begin()
        return live, live_log.prompt(1).state

    return begin


def test_the_prompt_of_an_agent_that_waits_is_written_at_once(begun):
    live, state = begun(PromptState.QUEUED, READY)
    assert json.loads(live.channel.drain())["text"] == "begin"
    assert state is PromptState.SENT


def test_an_agent_that_is_not_ready_gets_its_prompt_later(begun):
    live, state = begun(PromptState.QUEUED)
    assert live.channel.unread == 0
    assert state is PromptState.QUEUED


@pytest.mark.parametrize("state", [PromptState.SENDING, PromptState.SENT, PromptState.SEEN])
def test_a_prompt_that_may_have_arrived_waits_until_the_output_is_read(begun, state):
    live, after = begun(state, READY)
    assert live.channel.unread == 0
    assert after is state
