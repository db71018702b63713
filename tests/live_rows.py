"""A live session of the demo agent as rows and files: no process runs."""

import json

from factories import no_prompts, request

from agentdash.sessions.agents.demo.adapter import TRANSPORT
from agentdash.sessions.launch import Launch
from agentdash.sessions.model import Status
from agentdash.sessions.processes import processes
from agentdash.sessions.rules.delivery import PromptState
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.storage.turn_log import Outcome, Owner, TurnLog

SESSION = "0123456789abcdef"
LAUNCH = Launch(argv=("demo", "--conversation", "c"), stdin="begin", transport=TRANSPORT)
OWNER = Owner(pid=2**22 - 2, start=1, boot_id=processes.boot_id(), pid_ns=processes.pid_namespace())
GONE = (2**22 - 3, 1)
"""The agent: a process that is gone."""

READY = {"type": "ready", "conversation": "c", "model": "demo-1"}
BEGAN = {"type": "turn_began", "key": "r-1", "conversation": "c", "model": "demo-1"}


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
