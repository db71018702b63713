"""A live session of the scripted agent as rows and files: no process runs."""

import json
from collections.abc import Mapping
from typing import Any

from factories import no_prompts, request

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.live.agent import LiveAgent
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.live_log import LiveLog, Steered
from agentdash.sessions.storage.turns.turn_log import TurnLog
from scripted.adapter import TRANSPORT

SESSION = "0123456789abcdef"
LAUNCH = Launch(argv=("scripted", "--conversation", "c"), stdin="begin", transport=TRANSPORT)
OWNER = Owner(pid=2**22 - 2, start=1, boot_id=processes.boot_id(), pid_ns=processes.pid_namespace())
GONE = (2**22 - 3, 1)
"""The agent: a process that is gone."""

READY = {"type": "ready", "conversation": "c", "model": "scripted-1"}
BEGAN = {"type": "turn_began", "key": "r-1", "conversation": "c", "model": "scripted-1"}


def remark(store: Store, live_log: LiveLog, state: PromptState, turn: int = 1) -> Steered:
    """A prompt into the running turn, on its way in a state."""
    store.queue.add(request(SESSION, "a remark", steers=True), no_prompts)
    prompt = live_log.steering()
    assert prompt is not None
    live_log.steered_is(prompt.id, PromptState.SENDING, turn, 1)
    if state is not PromptState.SENDING:
        live_log.steered_is(prompt.id, state, turn)
    return prompt


def feed(live: LiveAgent, *events: Mapping[str, Any]) -> None:
    for position, event in enumerate(events, 1):
        live.feed(json.dumps(event).encode(), position)


def ended(store: Store, n: int = 1) -> None:
    """Let a turn be done; the agent waits."""
    done = Outcome(status=Status.DONE, reason=None, end_byte=7, warm=True)
    TurnLog(store, SESSION, n, OWNER).end(Facts(end="completed"), done, 1, no_prompts)
