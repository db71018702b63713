"""Prompts into running turns whose runner, agent or turn ended before their receipt."""

import json

import pytest
from factories import add_turn, no_prompts, request

from agentdash.sessions.agents.demo.adapter import TRANSPORT
from agentdash.sessions.agents.demo.conversation import Conversation
from agentdash.sessions.agents.demo.dialogue import DemoDialogue
from agentdash.sessions.asks.model import Ask, AskKind
from agentdash.sessions.asks.recorded import AskState
from agentdash.sessions.launch import Launch, Start
from agentdash.sessions.lifecycle.reconcile import settle
from agentdash.sessions.model import Status
from agentdash.sessions.processes import processes
from agentdash.sessions.rules.delivery import PromptState
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.storage.live_log import LiveLog
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turn_log import Outcome, Owner, TurnLog
from agentdash.sessions.supervision.child import AgentChild
from agentdash.sessions.supervision.live.agent import LiveAgent
from agentdash.sessions.supervision.live.channel import Channel, make_fifo
from agentdash.sessions.supervision.live.turn import LiveTurn
from agentdash.sessions.supervision.runner import serve_from

SESSION = "0123456789abcdef"
LAUNCH = Launch(argv=("demo", "--conversation", "c"), stdin="begin", transport=TRANSPORT)
OWNER = Owner(pid=2**22 - 2, start=1, boot_id=processes.boot_id(), pid_ns=processes.pid_namespace())
GONE = (2**22 - 3, 1)
"""The agent: a process that is gone."""

READY = {"type": "ready", "conversation": "c", "model": "demo-1"}
BEGAN = {"type": "turn_began", "key": "r-1", "conversation": "c", "model": "demo-1"}


@pytest.fixture
def layout(tmp_path):
    layout = Layout(tmp_path / "state")
    layout.create()
    layout.session(SESSION).create()
    return layout


@pytest.fixture
def store(layout):
    """A live session in its first turn, whose prompt was read."""
    store = Store(layout.database)
    start = Start("begin", agent="demo", title="t", cwd="/", session_id=SESSION)
    store.create(start, LAUNCH, "r-1", host=processes.host_name())
    log = TurnLog(store, SESSION, 1, OWNER)
    log.claim()
    log.running(*GONE, sent=False)
    LiveLog(store.database, SESSION).prompt_is(1, PromptState.SEEN)
    layout.session(SESSION).output(1).touch()
    Conversation(layout.home, "c").add("begin", "r-1")
    yield store
    store.close()


@pytest.fixture
def live_log(store):
    return LiveLog(store.database, SESSION)


@pytest.fixture
def adopted(layout, store, live_log):
    """Makes the turn that another runner began, as its adopter has it."""

    def adopt():
        make_fifo(layout.session(SESSION).stdin)
        channel = Channel(layout.session(SESSION).stdin)
        live = LiveAgent(AgentChild(), channel, DemoDialogue(), launch=LAUNCH, stream=1)
        claim = TurnLog(store, SESSION, 1, OWNER).adopt()
        assert claim is not None
        return live, LiveTurn(live, store, live_log, SESSION, 1, claim)

    return adopt


def remark(store, live_log, state, turn=1):
    """A prompt into the running turn, on its way in a state."""
    store.queue.add(request(SESSION, "a remark", steers=True), no_prompts)
    prompt = live_log.steering()
    live_log.steered_is(prompt.id, PromptState.SENDING, turn, 1)
    if state is not PromptState.SENDING:
        live_log.steered_is(prompt.id, state, turn)
    return prompt


def feed(live, *events):
    for position, event in enumerate(events, 1):
        live.feed(json.dumps(event).encode(), position)


def ended(store, n=1):
    done = Outcome(status=Status.DONE, reason=None, end_byte=7, warm=True)
    TurnLog(store, SESSION, n, OWNER).end(Facts(end="completed"), done, 1, no_prompts)


def test_a_held_queue_steers_nothing_but_what_is_sent_at_once(store, live_log):
    store.queue.hold(SESSION)
    store.queue.add(request(SESSION, "a remark", steers=True), no_prompts)
    assert live_log.steering() is None
    store.queue.add(request(SESSION, "stop that", steers=True, at_once=True), no_prompts)
    assert live_log.steering().text == "stop that"
    store.queue.cancel(live_log.steering().id)
    store.queue.release(SESSION, no_prompts)
    assert live_log.steering().text == "a remark"


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
