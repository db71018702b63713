"""A live session whose agent is gone, and the turn of it that a runner adopts."""

import pytest
from live_rows import GONE, LAUNCH, OWNER, SESSION

from agentdash.sessions.rules.launch import Start
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.runner.child import AgentChild
from agentdash.sessions.runner.live.agent import LiveAgent
from agentdash.sessions.runner.live.channel import Channel, make_fifo
from agentdash.sessions.runner.live.turn import LiveTurn
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.live_log import LiveLog
from agentdash.sessions.storage.turns.turn_log import TurnLog
from scripted.conversation import Conversation
from scripted.dialogue import ScriptedDialogue


@pytest.fixture(autouse=True)
def known(scripted_agent):
    """The agent of these sessions is known."""


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
    start = Start("begin", agent="scripted", title="t", cwd="/", session_id=SESSION)
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
    """Makes a turn that another runner began, as its adopter has it."""

    def adopt(n=1):
        make_fifo(layout.session(SESSION).stdin)
        channel = Channel(layout.session(SESSION).stdin)
        live = LiveAgent(AgentChild(), channel, ScriptedDialogue(), launch=LAUNCH, stream=1)
        claim = TurnLog(store, SESSION, n, OWNER).adopt()
        assert claim is not None
        return live, LiveTurn(live, store, live_log, SESSION, n, claim, print)

    return adopt
