"""The words of a denial for codex, which reads none with a decision: a prompt like all others, sent once."""

import json
import os
from types import SimpleNamespace

import pytest

from agentdash.sessions.agents.codex.app_server.dialogue import CodexDialogue
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.asks.model import Answer, Verdict
from agentdash.sessions.rules.asks.settings import AskRule, AsksSettings
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.child import AgentChild
from agentdash.sessions.runner.live.agent import LiveAgent
from agentdash.sessions.runner.live.channel import Channel, make_fifo
from agentdash.sessions.runner.live.turn import LiveTurn
from agentdash.sessions.runner.live.warm import Warm
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.queue.next_turn import builder
from agentdash.sessions.service.lifecycle.starts.launch_plan import build_launch
from agentdash.sessions.settings.config import Config
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.live_log import LiveLog
from agentdash.sessions.storage.turns.turn_log import TurnLog

SESSION = "0123456789abcdef"
OWNER = Owner(pid=2**22 - 2, start=1, boot_id=processes.boot_id(), pid_ns=processes.pid_namespace())
DENY = Answer(verdict=Verdict.DENY, message="not in this folder")
START = Start("begin", agent="codex", title="t", cwd="/p", session_id=SESSION, options={"sandbox": "read-only"})

THREAD = "0190f7a2-0000-7000-8000-000000000001"


def note(method, **params):
    return {"method": method, "params": {"threadId": "T", "turnId": "t"} | params}


READY = [{"id": 1, "result": {}}, {"id": 2, "result": {"thread": {"id": "T"}}}, note("turn/started", turn={"id": "t"})]
ASK = note("item/commandExecution/requestApproval", command="rm x") | {"id": 7}


@pytest.fixture
def layout(tmp_path):
    layout = Layout(tmp_path / "state")
    layout.create()
    layout.session(SESSION).create()
    layout.session(SESSION).output(1).touch()
    make_fifo(layout.session(SESSION).stdin)
    return layout


@pytest.fixture
def store(layout, tmp_path):
    """A live codex in its first turn, whose prompt was read."""
    store = Store(layout.database)
    config = Config(asks=AsksSettings(rules=(AskRule(decide="deny", command="git push"),)))
    store.create(START, build_launch(config, START), "r-1", host=processes.host_name())
    log = TurnLog(store, SESSION, 1, OWNER)
    log.claim()
    log.running(2**22 - 3, 1, sent=False)
    LiveLog(store.database, SESSION).prompt_is(1, PromptState.SEEN)
    yield store
    store.close()


@pytest.fixture
def runner(layout, store):
    """Makes a runner that adopts the turn, and reads these lines."""

    def adopt(*lines):
        live = LiveAgent(
            AgentChild(),
            Channel(layout.session(SESSION).stdin),
            CodexDialogue(),
            launch=store.launch(SESSION, 1),
            stream=1,
        )
        claim = TurnLog(store, SESSION, 1, OWNER).adopt()
        turn = LiveTurn(live, store, LiveLog(store.database, SESSION), SESSION, 1, claim, lambda _: None)
        made = SimpleNamespace(live=live, turn=turn, read=0)
        reads(made, *READY, *lines)
        return made

    return adopt


def reads(runner, *lines):
    for line in lines:
        runner.read += 1
        runner.live.feed(json.dumps(line).encode(), runner.read)


def written(runner):
    found = []
    runner.turn.advance()
    while line := runner.live.channel.drain():
        found.append(json.loads(line))
        runner.turn.advance()
    return found


def deny(store):
    [ask] = store.asks.open(SESSION)
    store.asks.answer(ask.id, DENY, "you")


def words(store):
    """The state and the text of the prompts after the first, whatever became of them."""
    rows = store.database.rows("SELECT state, text FROM queue WHERE session = ?", (SESSION,))
    return [(row["state"], row["text"]) for row in rows]


def test_the_words_follow_the_decision_as_a_prompt_with_a_receipt(store, runner):
    first = runner(ASK)
    deny(store)
    decision, prompt = written(first)
    assert decision == {"id": 7, "result": {"decision": "decline"}}
    assert prompt["params"]["input"][0]["text"] == DENY.message
    assert words(store) == [("sent", DENY.message)]
    key = prompt["params"]["clientUserMessageId"]
    reads(first, note("item/started", item={"type": "userMessage", "id": "i", "clientId": key}))
    assert words(store) == [("seen", DENY.message)]
    assert written(first) == []


def test_a_runner_that_is_killed_neither_loses_nor_doubles_them(store, runner):
    first = runner(ASK)
    deny(store)
    first.turn.clerk.advance()
    first.live.flush()
    first.live.channel.drain()
    assert words(store) == [("queued", DENY.message)]
    second = runner(ASK, note("serverRequest/resolved", requestId=7))
    second.turn.steer()
    [prompt] = written(second)
    assert prompt["params"]["input"][0]["text"] == DENY.message
    third = runner(ASK, note("serverRequest/resolved", requestId=7))
    assert written(third) == []
    assert words(store) == [("sent", DENY.message)]


def test_an_answer_that_is_written_again_adds_no_second_prompt(store, runner):
    first = runner(ASK)
    deny(store)
    first.turn.clerk.advance()
    second = runner(ASK)
    assert [line.get("method", "decision") for line in written(second)] == ["decision"]
    assert words(store) == [("queued", DENY.message)]


def test_what_a_rule_says_is_sent_without_a_poke(store, runner):
    lines = written(runner(note("item/commandExecution/requestApproval", command="git push", cwd="/p") | {"id": 7}))
    assert lines[0]["result"] == {"decision": "decline"}
    assert lines[1]["params"]["input"][0]["text"].startswith("Denied by a rule")


def test_words_that_came_too_late_are_the_next_turn_with_the_settings_of_this_one(layout, store, runner):
    first = runner(ASK)
    deny(store)
    first.turn.clerk.advance()
    done = Outcome(status=Status.DONE, reason=None, end_byte=0, warm=True)
    TurnLog(store, SESSION, 1, OWNER).end(Facts(end="completed", agent_session=THREAD), done, 1, builder(layout, store))
    launch = store.launch(SESSION, 2)
    assert (store.prompts(SESSION)[-1].text, launch.mode.permissions) == (DENY.message, "read-only")
    assert json.loads(launch.opening[2])["params"]["sandbox"] == "read-only"


def test_a_held_queue_keeps_them(store, runner):
    store.queue.hold(SESSION)
    first = runner(ASK)
    deny(store)
    assert [line.get("method", "decision") for line in written(first)] == ["decision"]
    assert words(store) == [("queued", DENY.message)]


def test_after_the_turn_they_begin_the_next(layout, store, runner):
    make_fifo(layout.session(SESSION).poke)
    first = runner(ASK)
    done = Outcome(status=Status.DONE, reason=None, end_byte=0, warm=True)
    TurnLog(store, SESSION, 1, OWNER).end(Facts(end="completed", agent_session=THREAD), done, 1, builder(layout, store))
    deny(store)
    first.live.child.gone = False
    first.live.child.reap = lambda: None
    signals = SimpleNamespace(shutdown=False, requested=False, wake=os.pipe()[0])
    assert Warm(layout, store, signals, SESSION, 1, first.live).wait() == (2, "run")
    assert store.prompts(SESSION)[-1].text == DENY.message
    first.live.flush()
    assert json.loads(first.live.channel.drain())["result"] == {"decision": "decline"}
