"""A turn of a live agent, as its runner sees it: what is written to the agent, and when."""

import json

import pytest
from factories import no_prompts, request
from live_rows import BEGAN, GONE, LAUNCH, OWNER, READY, SESSION, ended, feed, remark

from agentdash.sessions.agents.dialogue import TurnBegan
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.asks.model import Answer, AskKind, Verdict
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.runner.live.channel import MOST_BYTES
from agentdash.sessions.service.lifecycle.recovery.reconcile import settle

ASK = {"type": "ask", "key": "a", "kind": "command", "title": "run: ls", "body": "ls", "verdicts": ["allow", "deny"]}
OWN = {"type": "turn_began", "key": "", "conversation": "c", "model": "scripted-1"}


def written(live):
    """The lines in the agent's standard input."""
    return [json.loads(line) for line in live.channel.drain().splitlines()]


@pytest.fixture
def own(store, live_log, adopted):
    """A turn that the agent began by itself."""
    ended(store)
    n = live_log.own_turn(LAUNCH, "r-2", OWNER, GONE, (1, 7, 0))
    live, turn = adopted(n)
    feed(live, READY, OWN)
    return live, turn


def test_an_answer_is_written_in_a_turn_that_the_agent_began_by_itself(store, own):
    live, turn = own
    live.feed(json.dumps(ASK).encode(), 10)
    [recorded] = store.asks.of_session(SESSION)
    assert recorded.ask.kind is AskKind.COMMAND
    store.asks.answer(recorded.id, Answer(verdict=Verdict.ALLOW), "you")
    turn.advance()
    assert [line["type"] for line in written(live)] == ["answer"]


def test_a_turn_hears_again_what_came_before_it(adopted):
    live, _ = adopted()
    heard = []
    live.listener = heard.append
    feed(live, READY)
    live.feed(json.dumps(OWN).encode(), 10, between=True)
    began = heard[-1]
    assert isinstance(began, TurnBegan)
    heard.clear()
    live.feed(b"", 10)
    live.feed(b"", 10)
    assert heard == [began]


def test_an_interrupt_is_written_in_a_turn_that_the_agent_began_by_itself(own):
    live, turn = own
    turn.interrupt(1.0)
    turn.advance()
    assert [line["type"] for line in written(live)] == ["interrupt"]


def test_a_line_that_is_too_long_is_no_fault_of_the_prompt_of_the_turn(adopted):
    live, turn = adopted()
    feed(live, READY, BEGAN)
    live.send(b"x" * (MOST_BYTES + 1))
    live.send(b'{"type": "next"}\n')
    turn.advance()
    assert turn.courier.failed is None
    assert written(live) == [{"type": "next"}]


def test_a_prompt_into_the_turn_that_is_too_long_is_the_next_turn(store, adopted):
    live, turn = adopted()
    feed(live, READY, BEGAN)
    store.queue.add(request(SESSION, "x" * (MOST_BYTES + 1), steers=True), no_prompts)
    turn.steer()
    turn.advance()
    [waiting] = store.queue.waiting(SESSION)
    assert (waiting.state, waiting.steers, turn.courier.failed) == ("queued", False, None)


def test_a_prompt_into_the_turn_is_written_as_soon_as_it_is_found(store, adopted):
    live, turn = adopted()
    feed(live, READY, BEGAN)
    store.queue.add(request(SESSION, "a remark", steers=True), no_prompts)
    turn.steer()
    assert [line["text"] for line in written(live)] == ["a remark"]


def test_a_prompt_that_is_edited_before_it_is_written_is_written_as_edited(store, live_log, adopted):
    live, turn = adopted()
    feed(live, READY, BEGAN)
    queued = store.queue.add(request(SESSION, "a remark", steers=True), no_prompts)
    before = live_log.steering()
    store.queue.edit(queued.id, "another remark")
    assert not live_log.begin_steering(before, 1)
    turn.steer()
    assert [line["text"] for line in written(live)] == ["another remark"]


def test_a_receipt_that_could_not_be_recorded_is_recorded_later(store, live_log, adopted, monkeypatch):
    prompt = remark(store, live_log, PromptState.SENT)
    live, turn = adopted()
    feed(live, READY, BEGAN)

    def full(*_):
        raise StoreError("disk full")

    with monkeypatch.context() as disk:
        disk.setattr(live_log, "steered_is", full)
        live.feed(json.dumps({"type": "prompt", "key": prompt.run_id, "state": "seen", "text": "a remark"}).encode(), 9)
        with pytest.raises(StoreError):
            turn.advance()
    assert store.queue.prompt(prompt.id).state == "sent"
    turn.advance()
    assert store.queue.prompt(prompt.id).state == "seen"


def test_a_turn_that_the_agent_began_by_itself_does_not_begin_again_if_all_are_gone(layout, store, live_log):
    ended(store)
    n = live_log.own_turn(LAUNCH, "r-2", OWNER, GONE, (1, 7, 0))
    settle(layout, store)
    assert (store.session(SESSION).status, store.newest_turn(SESSION).n) == (Status.LOST, n)


def test_a_request_to_close_an_idle_agent_does_not_end_the_turn_that_it_began(store, live_log):
    ended(store)
    idle = store.session(SESSION)
    store.request_close(idle, "agentdash")
    assert store.open_requests(SESSION, 1) == ["close"]
    live_log.own_turn(LAUNCH, "r-2", OWNER, GONE, (1, 7, 0))
    assert store.open_requests(SESSION, 1) == []
    store.request_close(idle, "agentdash")
    assert store.open_requests(SESSION, 1) == []


def test_a_held_queue_steers_nothing_but_what_is_sent_at_once(store, live_log):
    store.queue.hold(SESSION)
    store.queue.add(request(SESSION, "a remark", steers=True), no_prompts)
    assert live_log.steering() is None
    store.queue.add(request(SESSION, "stop that", steers=True, at_once=True), no_prompts)
    assert live_log.steering().text == "stop that"
    store.queue.cancel(live_log.steering().id)
    store.queue.release(SESSION, no_prompts)
    assert live_log.steering().text == "a remark"
