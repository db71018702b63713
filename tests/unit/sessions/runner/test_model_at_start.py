"""A turn counts with the model that its session had when it began, if another is chosen and its runner is killed."""

import json

import pytest
from factories import add_turn
from live_rows import GONE, OWNER

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.recorder import Recorder
from agentdash.sessions.service.lifecycle.recovery.reconcile import read_facts
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome
from agentdash.sessions.storage.turns.live_log import LiveLog
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.sessions.storage.turns.turn_output import own_output

CODEX = "20260101-000000-abcd"
LAUNCH = Launch(argv=("codex", "app-server"), transport="app-server")


def line(method, **params):
    return json.dumps({"method": method, "params": {"threadId": "t"} | params}) + "\n"


USED = {"inputTokens": 1200, "outputTokens": 1}
STREAM = "".join(
    [
        line("turn/started", turn={"id": "t2"}),
        line("thread/settings/updated", threadSettings={"model": "gpt-5.4"}),
        line("thread/tokenUsage/updated", tokenUsage={"total": USED, "last": USED}),
    ]
)


@pytest.fixture
def codex(layout):
    """A live codex behind its first turn, of which only the model is known: it served no call."""
    store = Store(layout.database)
    layout.session(CODEX).create()
    store.create(Start("a", agent="codex", title="t", cwd="/", session_id=CODEX), LAUNCH, "r", host="h")
    log = TurnLog(store, CODEX, 1, OWNER)
    log.claim()
    log.running(*GONE)
    done = Outcome(status=Status.DONE, reason=None, end_byte=0, warm=True)
    log.end(Facts(end="completed", model="gpt-5.5"), done, 1, lambda *_: None)
    yield store
    store.close()


def by_prompt(store):
    add_turn(store, CODEX, 1, "b", LAUNCH)
    assert TurnLog(store, CODEX, 2, OWNER).claim().launch.model is None
    LiveLog(store.database, CODEX).continue_stream(2, 1, 0, 0)


def by_itself(store):
    assert LiveLog(store.database, CODEX).own_turn(LAUNCH, "r-2", OWNER, GONE, (1, 0, 0)) == 2


@pytest.mark.parametrize("begin", [by_prompt, by_itself])
@pytest.mark.parametrize("runner", ["adopts", "is not there"])
def test_a_turn_counts_with_the_model_with_which_it_began(layout, codex, begin, runner):
    begin(codex)
    layout.session(CODEX).output(1).write_text(STREAM)
    with codex.database.transaction() as db:
        db.execute("UPDATE sessions SET model = 'gpt-5.4'")
    if runner == "adopts":
        log = TurnLog(codex, CODEX, 2, OWNER)
        recorder = Recorder(layout, CODEX, 2, codex, log)
        recorder.hear(lambda *_: None, own_output(layout.session(CODEX), 1), int)
        recorder.begin(agent_named("codex"), log.adopt().launch, dict, 0, adopted_after_s=1.0)
        recorder.follow()
        facts = recorder.facts
    else:
        facts, _ = read_facts(layout, codex, codex.one_turn(CODEX, 2))
    assert facts.turn_model == "gpt-5.5"
    assert facts.model == "gpt-5.4"
    assert facts.usage.input_tokens == 1200


def test_the_model_is_known_although_the_use_of_the_thread_cannot_be_read(layout, codex, monkeypatch):
    def cannot_be_read(*_):
        raise StoreError("the disk fails")

    by_prompt(codex)
    monkeypatch.setattr(codex, "thread_total_before", cannot_be_read)
    recorder = Recorder(layout, CODEX, 2, codex, TurnLog(codex, CODEX, 2, OWNER))
    recorder.begin(agent_named("codex"), LAUNCH, dict, 0)
    assert recorder.facts.reported.model == "gpt-5.5"
