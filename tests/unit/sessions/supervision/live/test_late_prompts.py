"""Prompts into running turns whose runner, agent or turn ended before their receipt."""

import json

import pytest
from factories import add_turn, no_prompts, request
from live_rows import BEGAN, GONE, LAUNCH, OWNER, READY, SESSION, ended, feed, remark

from agentdash.sessions.agents.demo.adapter import Demo
from agentdash.sessions.agents.demo.conversation import Conversation
from agentdash.sessions.asks.model import Ask, AskKind
from agentdash.sessions.asks.recorded import AskState
from agentdash.sessions.lifecycle.recovery.reconcile import settle
from agentdash.sessions.model import Status
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.storage.turns.live_log import LiveLog
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.sessions.supervision.runner import serve_from


@pytest.mark.parametrize("state", [PromptState.SENDING, PromptState.SENT])
def test_a_receipt_that_came_while_no_runner_lived_is_read_by_the_next(store, live_log, adopted, state):
    prompt = remark(store, live_log, state)
    live, turn = adopted()
    feed(live, READY, BEGAN, {"type": "prompt", "key": prompt.run_id, "state": "seen", "text": "a remark"})
    turn.advance()
    assert store.queue.prompt(prompt.id).state == "seen"
    assert live.channel.unread == 0


def test_a_prompt_that_the_running_turn_refuses_is_the_next_turn(store, live_log, adopted):
    prompt = remark(store, live_log, PromptState.SENT)
    live, turn = adopted()
    feed(live, READY, BEGAN, {"type": "prompt", "key": prompt.run_id, "state": "refused", "reason": "no"})
    turn.advance()
    found = store.queue.prompt(prompt.id)
    assert (found.state, found.turn, found.steers) == ("queued", None, False)


@pytest.mark.parametrize("state", [PromptState.SENDING, PromptState.SENT])
def test_a_prompt_too_late_for_its_turn_keeps_its_state_as_the_next(store, live_log, state):
    prompt = remark(store, live_log, state)
    ended(store)
    late = live_log.under_way()[0]
    n = live_log.steered_turn(late, LAUNCH, OWNER, GONE, (1, 7, 0))
    assert (n, live_log.prompt(2).state, live_log.prompt(2).attempt) == (2, state, 1)
    assert store.queue.prompt(prompt.id).state == "taken"
    assert store.launch(SESSION, 2).stdin == "a remark"


@pytest.mark.parametrize("state", [PromptState.SENDING, PromptState.SENT, PromptState.SEEN])
@pytest.mark.parametrize(("kept", "expected"), [(True, "seen"), (False, "queued")])
def test_the_transcript_decides_about_a_prompt_if_runner_and_agent_are_gone(
    layout, store, live_log, state, kept, expected
):
    prompt = remark(store, live_log, state)
    if kept:
        Conversation(layout.home, "c").add("a remark", prompt.run_id)
    settle(layout, store)
    assert store.session(SESSION).status is Status.LOST
    assert store.queue.prompt(prompt.id).state == expected


@pytest.mark.parametrize("state", [PromptState.SENDING, PromptState.SENT])
def test_a_prompt_is_unconfirmed_if_runner_and_agent_are_gone_and_no_transcript_can_be_read(
    layout, store, live_log, state, monkeypatch
):
    monkeypatch.setattr(Demo, "has_prompt", lambda *_: None)
    prompt = remark(store, live_log, state)
    settle(layout, store)
    settle(layout, store)
    assert store.queue.prompt(prompt.id).state == "unconfirmed"
    assert (store.session(SESSION).unconfirmed, store.session(SESSION).queued) == (1, 0)
    assert [(one.turn, one.text) for one in store.unconfirmed(SESSION)] == [(1, "a remark")]


def test_a_prompt_that_the_agent_reported_as_read_stays_read_if_no_transcript_can_be_read(
    layout, store, live_log, monkeypatch
):
    monkeypatch.setattr(Demo, "has_prompt", lambda *_: None)
    prompt = remark(store, live_log, PromptState.SEEN)
    settle(layout, store)
    assert store.queue.prompt(prompt.id).state == "seen"


def test_an_ask_is_lost_if_runner_and_agent_are_gone(layout, store):
    store.asks.record(SESSION, 1, 1, Ask(key="a", kind=AskKind.COMMAND, title="run: ls"))
    settle(layout, store)
    assert [ask.state for ask in store.asks.of_session(SESSION)] == [AskState.LOST]


def later_turn(store):
    """A second turn of the same process."""
    ended(store)
    add_turn(store, SESSION, 1, "more", LAUNCH)
    log = TurnLog(store, SESSION, 2, OWNER)
    claim = log.claim()
    LiveLog(store.database, SESSION).continue_stream(2, 1, 7, 0)
    log.running(*GONE, sent=False)
    return claim.run_id


def test_a_prompt_of_a_later_turn_that_the_agent_read_is_not_sent_again(layout, store, live_log):
    key = later_turn(store)
    live_log.prompt_is(2, PromptState.SEEN)
    Conversation(layout.home, "c").add("more", key)
    settle(layout, store)
    assert (store.session(SESSION).status, live_log.prompt(2).state) == (Status.LOST, PromptState.SEEN)
    assert store.queue.waiting(SESSION) == []


def test_a_later_turn_whose_prompt_was_never_written_begins_again_with_files_of_its_own(layout, store, live_log):
    later_turn(store)
    settle(layout, store)
    turn = store.one_turn(SESSION, 2)
    assert (turn.status, turn.stream_number, turn.begin_byte) == (Status.QUEUED, 2, 0)
    assert layout.session(SESSION).output(1).exists()


def test_a_runner_for_an_agent_that_waits_serves_the_turn_that_began_before_it_got_the_lock(store):
    assert serve_from(store, SESSION) == (1, "adopt")
    ended(store)
    assert serve_from(store, SESSION) == (1, "warm")
    add_turn(store, SESSION, 1, "more", LAUNCH)
    assert serve_from(store, SESSION) == (1, "warm")
    TurnLog(store, SESSION, 2, OWNER).claim()
    assert serve_from(store, SESSION) == (2, "adopt")


def test_a_prompt_without_a_receipt_is_written_again_before_the_next(store, live_log, adopted):
    prompt = remark(store, live_log, PromptState.SENDING)
    store.queue.add(request(SESSION, "the next remark", steers=True), no_prompts)
    live, turn = adopted()
    feed(live, READY, BEGAN)
    turn.advance()
    assert store.queue.prompt(prompt.id).state == "sent"
    assert json.loads(live.channel.drain())["text"] == "a remark"
    assert [one.id for one in live_log.under_way()] == [prompt.id]


def lines_to(live):
    """The lines that a runner writes until nothing is left, as values."""
    found = []
    live.flush()
    while line := live.channel.drain():
        found.append(json.loads(line))
        live.flush()
    return found


@pytest.mark.parametrize("state", [PromptState.SENDING, PromptState.SENT])
def test_a_prompt_that_an_interrupted_turn_did_not_read_returns_to_the_queue(store, live_log, adopted, state):
    prompt = remark(store, live_log, state)
    live, turn = adopted()
    feed(live, READY, BEGAN)
    turn.advance()
    lines_to(live)
    turn.interrupt(1.0)
    assert [line["type"] for line in lines_to(live)] == ["withdraw", "interrupt"]
    live.feed(json.dumps({"type": "prompt", "key": prompt.run_id, "state": "withdrawn"}).encode(), 3)
    turn.advance()
    assert [one.id for one in store.queue.waiting(SESSION)] == [prompt.id]
    assert lines_to(live) == []


def test_a_prompt_that_waits_is_not_written_into_an_interrupted_turn(store, live_log, adopted):
    store.queue.add(request(SESSION, "a remark", steers=True), no_prompts)
    live, turn = adopted()
    feed(live, READY, BEGAN)
    turn.interrupt(1.0)
    turn.steer()
    turn.advance()
    assert [line["type"] for line in lines_to(live)] == ["interrupt"]
    assert [one.text for one in store.queue.waiting(SESSION)] == ["a remark"]


def test_a_prompt_that_was_read_stays_with_its_turn(store, live_log, adopted):
    prompt = remark(store, live_log, PromptState.SENT)
    live, turn = adopted()
    feed(live, READY, BEGAN, {"type": "prompt", "key": prompt.run_id, "state": "seen", "text": "a remark"})
    turn.interrupt(1.0)
    assert [line["type"] for line in lines_to(live)] == ["interrupt"]
    assert store.queue.prompt(prompt.id).state == "seen"
