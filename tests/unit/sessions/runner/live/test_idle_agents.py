"""Requests and turns that come while a live agent waits for prompts."""

import os

import pytest
from factories import add_turn, no_prompts

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.child import AgentChild
from agentdash.sessions.runner.live.agent import LiveAgent
from agentdash.sessions.runner.live.channel import Channel, make_fifo
from agentdash.sessions.runner.live.reach import close
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.live_log import LiveLog
from agentdash.sessions.storage.turns.turn_log import TurnLog
from scripted.adapter import TRANSPORT
from scripted.dialogue import ScriptedDialogue

SESSION = "0123456789abcdef"
LAUNCH = Launch(argv=("scripted",), stdin="begin", transport=TRANSPORT)
OWNER = Owner(pid=2**22 - 2, start=1, boot_id=processes.boot_id(), pid_ns=processes.pid_namespace())
AGENT = (2**22 - 3, 1)
DONE = Outcome(status=Status.DONE, reason=None, end_byte=7, warm=True)


@pytest.fixture
def store(tmp_path):
    """A live session whose agent waits after the first turn."""
    layout = Layout(tmp_path / "state")
    layout.create()
    layout.session(SESSION).create()
    store = Store(layout.database)
    start = Start("begin", agent="scripted", title="t", cwd="/", session_id=SESSION)
    store.create(start, LAUNCH, "r-1", host=processes.host_name())
    log = TurnLog(store, SESSION, 1, OWNER)
    log.claim()
    log.running(*AGENT, sent=False)
    log.end(Facts(end="completed"), DONE, 1, no_prompts)
    yield store
    store.close()


def own_turn(store):
    return LiveLog(store.database, SESSION).own_turn(LAUNCH, "r-own", OWNER, AGENT, (1, 7, 0))


def test_a_turn_that_the_agent_begins_does_not_overtake_the_one_that_is_queued(store):
    add_turn(store, SESSION, 1, "more", LAUNCH)
    assert own_turn(store) is None
    assert [(turn.n, turn.status) for turn in store.turns(SESSION)] == [(1, Status.DONE), (2, Status.QUEUED)]


def test_a_turn_that_the_agent_begins_is_the_next_if_none_is_queued(store):
    assert own_turn(store) == 2
    assert (store.session(SESSION).turn, store.session(SESSION).status) == (2, Status.RUNNING)


def test_an_idle_agent_that_was_closed_can_be_closed_again(tmp_path):
    """The turn that came at this moment finds it so."""
    make_fifo(tmp_path / "stdin")
    live = LiveAgent(AgentChild(), Channel(tmp_path / "stdin"), ScriptedDialogue(), launch=LAUNCH, stream=1)
    close(live, tmp_path / "live")
    reused = os.open(tmp_path / "stdin", os.O_RDWR | os.O_NONBLOCK)
    close(live, tmp_path / "live")
    with pytest.raises(BlockingIOError):
        os.read(reused, 1)  # it is open, and nothing was written
    os.close(reused)
