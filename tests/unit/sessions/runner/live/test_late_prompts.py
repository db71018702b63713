"""Prompts into running turns whose runner, agent or turn ended before their receipt."""

import json
from types import SimpleNamespace

import pytest
from factories import add_turn, no_prompts, request
from live_rows import BEGAN, GONE, LAUNCH, OWNER, READY, SESSION, ended, feed, remark

from agentdash.sessions.model.session import Ended, Receipt, Status
from agentdash.sessions.rules.asks.model import Ask, AskKind
from agentdash.sessions.rules.asks.recorded import AskState
from agentdash.sessions.rules.prompts.delivery import Fate, PromptState, fate
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.child import AgentChild
from agentdash.sessions.runner.live.channel import make_fifo
from agentdash.sessions.runner.live.reach import orphan
from agentdash.sessions.runner.live.run import LiveRun
from agentdash.sessions.runner.live.warm import Warm
from agentdash.sessions.runner.runner import serve_from
from agentdash.sessions.runner.turn_end import Ending, evidence_of
from agentdash.sessions.service.lifecycle.recovery.reconcile import settle
from agentdash.sessions.storage.turns.claim import Outcome
from agentdash.sessions.storage.turns.live_log import LiveLog
from agentdash.sessions.storage.turns.turn_log import TurnLog
from scripted.adapter import Scripted
from scripted.conversation import Conversation


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
    monkeypatch.setattr(Scripted, "own_files", None)
    prompt = remark(store, live_log, state)
    settle(layout, store)
    settle(layout, store)
    assert store.queue.prompt(prompt.id).state == "unconfirmed"
    assert (store.session(SESSION).unconfirmed, store.session(SESSION).queued) == (1, 0)
    assert [(one.turn, one.text) for one in store.unconfirmed(SESSION)] == [(1, "a remark")]


def test_a_prompt_that_the_agent_reported_as_read_stays_read_if_no_transcript_can_be_read(
    layout, store, live_log, monkeypatch
):
    monkeypatch.setattr(Scripted, "own_files", None)
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
    # An agent never reads a prompt again whose key it knows.
    again = live_log.steering()
    assert again.run_id != prompt.run_id
    assert live_log.begin_steering(again, 1)
    assert [one.run_id for one in live_log.under_way()] == [again.run_id]


@pytest.fixture
def beginning(store, live_log, adopted):
    """Makes a turn whose prompt is on its way in a state, as its adopter has it."""

    def begin(state):
        store.database.rows("SELECT 1")
        with store.database.transaction() as db:
            db.execute("UPDATE prompts SET state = ? WHERE session = ?", (state, SESSION))
        return adopted()

    return begin


def test_the_prompt_of_a_turn_that_is_interrupted_before_it_was_written_is_not_written(live_log, beginning):
    live, turn = beginning("queued")
    turn.interrupt(1.0)
    feed(live, READY)
    turn.advance()
    assert lines_to(live) == []
    assert turn.over and turn.courier.state is PromptState.QUEUED


def test_the_prompt_of_an_interrupted_turn_that_the_agent_gives_back_was_not_sent(live_log, beginning):
    live, turn = beginning("sent")
    feed(live, READY, BEGAN)
    turn.interrupt(1.0)
    assert [(line["type"], line.get("key")) for line in lines_to(live)] == [("withdraw", "r-1"), ("interrupt", None)]
    assert not turn.over
    live.feed(json.dumps({"type": "prompt", "key": "r-1", "state": "withdrawn"}).encode(), 3)
    assert turn.over and turn.courier.state is PromptState.QUEUED


def interrupted(store, again=True):
    """The end of a turn whose prompt an interrupt kept from the agent."""
    outcome = Outcome(
        status=Status.STOPPED, reason="stopped by you", stop_by="you", prompt=Fate(PromptState.UNSENT, again=again)
    )
    TurnLog(store, SESSION, 1, OWNER).end(Facts(agent_session="named only"), outcome, 0, no_prompts)


def test_the_prompt_of_a_first_turn_that_the_agent_did_not_read_waits_in_a_held_queue(store):
    interrupted(store)
    (waiting,) = store.queue.waiting(SESSION)
    assert (waiting.text, waiting.plan.settings) == ("begin", LAUNCH.settings)
    assert store.session(SESSION).held == "turn 1 was stopped"
    assert store.queue.waiting_again(SESSION, 1).id == waiting.id
    assert store.session(SESSION).agent_session is None, "the agent named a conversation and kept nothing of it"


def test_a_turn_that_an_interrupt_cancels_before_it_is_taken_leaves_its_prompt_in_the_queue(store):
    ended(store)
    store.queue.add(request(SESSION, "the next"), lambda *_: LAUNCH)
    assert store.cancel_queued(SESSION, 2, Status.STOPPED, "stopped by you", "r", by="you", again=True)
    assert [prompt.text for prompt in store.queue.waiting(SESSION)] == ["the next"]
    assert store.session(SESSION).held


def test_an_agent_that_waits_is_found_behind_a_turn_that_was_cancelled(layout, store):
    ended(store)
    store.queue.add(request(SESSION, "the next"), lambda *_: LAUNCH)
    store.cancel_queued(SESSION, 2, Status.STOPPED, "stopped by you", "r", by="you")
    make_fifo(layout.session(SESSION).stdin)
    for turn in (2, 3):
        found = orphan(layout.session(SESSION), store, turn, also_gone=True)
        assert found is not None and (found.stream, found.end_byte) == (1, 7)
        found.channel.close()


@pytest.mark.parametrize(
    ("end", "expected"), [("failed", Status.STOPPED), (None, Status.STOPPED), ("completed", Status.DONE)]
)
def test_a_turn_whose_runner_was_killed_while_it_was_interrupted_is_stopped(layout, store, end, expected):
    TurnLog(store, SESSION, 1, OWNER).stopping("you")
    over = {"failed": False, "completed": True}.get(end)
    events = [
        READY,
        BEGAN,
        *([{"type": "turn_ended", "status": "interrupted" if not over else "completed"}] if end else []),
    ]
    layout.session(SESSION).output(1).write_text("".join(f"{json.dumps(event)}\n" for event in events))
    settle(layout, store)
    assert store.session(SESSION).status is expected


def test_a_prompt_is_not_seen_because_the_agent_printed_something_before_it_had_it(layout, store):
    """The runner that adopts the turn finds no agent."""
    with store.database.transaction() as db:
        db.execute("UPDATE prompts SET state = 'queued' WHERE session = ?", (SESSION,))
    run = LiveRun(layout, store, SESSION, 1, None)
    gone = AgentChild()
    gone.adopt(GONE)
    gone.reap()
    claim = TurnLog(store, SESSION, 1, OWNER).adopt()
    run.adopt(claim, gone)
    assert run.prompt is PromptState.QUEUED
    ending = Ending(child=gone, stopped_by=None, lingered=False, left=(), prompt=run.prompt)
    assert fate(evidence_of(ending, Scripted(), Facts(), 3)).state is PromptState.UNSENT


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


@pytest.mark.parametrize(("killed", "expected"), [(GONE[0], Status.STOPPED), (1, Status.LOST)])
def test_a_turn_that_the_agent_began_as_a_stop_ended_its_process_was_stopped(layout, store, killed, expected):
    """The runner of the stop has ended before it saw the beginning of that turn."""
    ended(store)
    log = TurnLog(store, SESSION, 1, OWNER)
    log.stopping("you")
    log.answer(Receipt(session=SESSION, status=Status.DONE, ended=(Ended(pid=killed, command="x", signal="SIGKILL"),)))
    beginning = json.dumps(READY)[:6] + "\n"  # the turns before have the first 7 bytes
    layout.session(SESSION).output(1).write_text(beginning + json.dumps(BEGAN | {"key": ""}) + "\n")
    make_fifo(layout.session(SESSION).stdin)
    signals = SimpleNamespace(shutdown=False, requested=False, wake=None)
    live = orphan(layout.session(SESSION), store, 2, also_gone=True)
    assert Warm(layout, store, signals, SESSION, 1, live).wait() == (2, "adopt")
    settle(layout, store)
    assert [turn.status for turn in store.turns(SESSION)] == [Status.DONE, expected]
