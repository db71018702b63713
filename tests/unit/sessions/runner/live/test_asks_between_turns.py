"""Asks that outlive their turn, or come while no turn runs: they are recorded, answered and settled like all others."""

import json
import os
import threading
from types import SimpleNamespace

import pytest
from factories import no_prompts
from msgspec import structs

from agentdash.sessions.agents.claude.live.dialogue import ClaudeDialogue
from agentdash.sessions.agents.dialogue import Asked, Settled
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Verdict
from agentdash.sessions.rules.asks.recorded import AskState
from agentdash.sessions.rules.asks.settings import AskRule, AsksSettings
from agentdash.sessions.rules.launch import Launch, Start, WarmSettings
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.child import AgentChild
from agentdash.sessions.runner.live import clerk as clerk_of_asks
from agentdash.sessions.runner.live.agent import LiveAgent
from agentdash.sessions.runner.live.channel import MOST_BYTES, Channel, make_fifo
from agentdash.sessions.runner.live.clerk import Clerk
from agentdash.sessions.runner.live.warm import Warm
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.lifecycle.recovery.reconcile import read_facts
from agentdash.sessions.service.lifecycle.starts.launch_plan import build_launch
from agentdash.sessions.settings.config import Config
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

SESSION = "0123456789abcdef"
RULE = AskRule(decide="allow", command="git log")
LAUNCH = Launch(argv=("claude",), transport="stream-json", asks=AsksSettings(rules=(RULE,)))
OWNER = Owner(pid=2**22 - 2, start=1, boot_id=processes.boot_id(), pid_ns=processes.pid_namespace())
INIT = {"type": "system", "subtype": "init", "cwd": "/p"}
RESULT = {"type": "result", "subtype": "success"}


def request(key, command):
    asked = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": command}}
    return {"type": "control_request", "request_id": key, "request": asked}


class Idle(AgentChild):
    """A process that lives until the test says otherwise."""

    def __init__(self):
        super().__init__()
        self.gone = False

    def reap(self):
        pass


class Session:
    """A session whose agent, a claude, has ended its first turn."""

    def __init__(self, layout, store):
        self.layout, self.store, self.folder = layout, store, layout.session(SESSION)
        self.output = self.folder.output(1)
        self.output.touch()
        make_fifo(self.folder.stdin)
        make_fifo(self.folder.poke)
        self.written = Channel(self.folder.stdin)
        self.child, self.launch, self.following = Idle(), LAUNCH, None
        self._thread = None

    def prints(self, *lines):
        with self.output.open("a") as file:
            file.write("".join(json.dumps(line) + "\n" for line in lines))

    def ends_turn(self):
        done = Outcome(status=Status.DONE, reason=None, end_byte=self.output.stat().st_size, warm=True)
        TurnLog(self.store, SESSION, 1, OWNER).end(Facts(end="completed"), done, 1, no_prompts)

    def adopted(self):
        live = LiveAgent(self.child, Channel(self.folder.stdin), ClaudeDialogue(), launch=self.launch, stream=1)
        live.catch_up(self.output, self.output.stat().st_size)
        live.end_byte = live.position
        return live

    def waits(self):
        """Let a runner wait with the agent."""
        live = self.adopted()

        def wait():
            store = Store(self.layout.database)
            signals = SimpleNamespace(shutdown=False, requested=False, wake=os.pipe()[0])
            self.following = Warm(self.layout, store, signals, SESSION, 1, live).wait()
            store.close()

        self._thread = threading.Thread(target=wait, daemon=True)
        self._thread.start()

    def pokes(self):
        poke = os.open(self.folder.poke, os.O_RDWR | os.O_NONBLOCK)
        os.write(poke, b".")
        return poke

    def ended(self):
        """The next turn, and how it is served."""
        self._thread.join(30)
        return self.following

    @property
    def asks(self):
        return self.store.asks.of_session(SESSION)


@pytest.fixture
def session(tmp_path):
    layout = Layout(tmp_path / "state")
    layout.create()
    layout.session(SESSION).create()
    store = Store(layout.database)
    start = Start("begin", agent="claude", title="t", cwd="/p", session_id=SESSION)
    store.create(start, LAUNCH, "r-1", host=processes.host_name())
    log = TurnLog(store, SESSION, 1, OWNER)
    log.claim()
    log.running(2**22 - 3, 1, sent=False)
    yield Session(layout, store)
    store.close()


def test_an_ask_between_two_turns_is_answered_by_the_user(session, wait_until):
    session.prints(INIT, RESULT)
    session.ends_turn()
    session.waits()
    session.prints(request("q", "rm x"))
    [ask] = wait_until(lambda: session.store.asks.open(SESSION))
    assert (ask.ask.body, ask.turn, session.store.session(SESSION).asking) == ("rm x", 1, 1)
    session.store.asks.answer(ask.id, Answer(verdict=Verdict.ALLOW), "you")
    poke = session.pokes()
    answer = json.loads(wait_until(session.written.drain))
    assert answer["response"]["response"]["behavior"] == "allow"
    session.prints(answer, INIT)
    assert session.ended() == (2, "own")
    assert [one.state for one in session.asks] == [AskState.SETTLED]
    os.close(poke)


def test_an_ask_between_two_turns_is_answered_by_a_rule(session, wait_until):
    session.prints(INIT, RESULT)
    session.ends_turn()
    session.waits()
    session.prints(request("q", "git log"))
    assert json.loads(wait_until(session.written.drain))["response"]["request_id"] == "q"
    session.prints(INIT)
    session.ended()
    assert [one.answered_by for one in session.asks] == ["rule: allow command git log"]


def test_an_ask_that_its_turn_left_open_is_answered_after_the_turn(session, wait_until):
    session.prints(INIT, request("q", "rm x"), RESULT)
    session.store.asks.record(SESSION, 1, 1, Ask(key="q", kind=AskKind.COMMAND, title="run: rm x", body="rm x"))
    session.ends_turn()
    session.store.asks.answer(session.asks[0].id, Answer(verdict=Verdict.DENY, message="no"), "you")
    session.waits()
    assert json.loads(wait_until(session.written.drain))["response"]["response"]["message"] == "no"
    session.prints(INIT)
    session.ended()


def test_an_ask_that_an_earlier_turn_left_open_is_answered_in_the_next(session):
    session.prints(INIT, request("q", "rm x"), RESULT)
    session.store.asks.record(SESSION, 1, 1, Ask(key="q", kind=AskKind.COMMAND, title="run: rm x", body="rm x"))
    live = session.adopted()
    clerk = Clerk(live, session.store, SESSION, 2, agent="claude", cwd="/p", launch=LAUNCH)
    session.store.asks.answer(session.asks[0].id, Answer(verdict=Verdict.ALLOW), "you")
    clerk.advance()
    live.flush()
    assert json.loads(session.written.drain())["response"]["request_id"] == "q"
    assert [one.state for one in session.asks] == [AskState.SENT]


def test_an_ask_whose_answer_is_too_long_for_the_agent_is_denied(session):
    """Claude gets the input that it may use with the permission."""
    session.prints(INIT, request("q", "x" * MOST_BYTES), RESULT)
    live = session.adopted()
    session.store.asks.record(SESSION, 1, 1, Ask(key="q", kind=AskKind.COMMAND, title="run: x", body="x"))
    clerk = Clerk(live, session.store, SESSION, 2, agent="claude", cwd="/p", launch=LAUNCH)
    session.store.asks.answer(session.asks[0].id, Answer(verdict=Verdict.ALLOW), "you")
    clerk.advance()
    live.flush()
    response = json.loads(session.written.drain())["response"]["response"]
    assert response["behavior"] == "deny"
    assert response["message"].startswith("The answer cannot be passed on: 1,04")
    [ask] = session.asks
    assert (ask.state, ask.answer.verdict, ask.answered_by) == (AskState.SENT, Verdict.DENY, "agentdash")


def test_an_answer_between_two_turns_ends_no_later_turn(session):
    """The next turn hears the events again."""
    session.prints(INIT, RESULT)
    live = session.adopted()
    between = Clerk(live, session.store, SESSION, 1, agent="claude", cwd="/p", launch=LAUNCH)
    live.listener = between.hear
    asks = json.dumps(request("q", "rm x")).encode()
    live.feed(asks, live.position + 1, between=True)
    session.store.asks.answer(session.asks[0].id, Answer(verdict=Verdict.STOP), "you")
    between.advance()
    live.flush()
    answer = session.written.drain().strip()
    live.feed(answer, live.position + 1, between=True)
    assert [one.state for one in session.asks] == [AskState.SETTLED]
    turn = Clerk(live, session.store, SESSION, 2, agent="claude", cwd="/p", launch=LAUNCH)
    live.listener = turn.hear
    live.feed(asks, live.position - 1)
    live.feed(answer, live.position)
    assert (between.stopped_by, turn.stopped_by) == ("you", None)


def test_the_words_of_a_denied_form_are_a_prompt(session):
    asked = {"subtype": "elicitation", "mcp_server_name": "forms", "message": "Who?", "requested_schema": {}}
    session.prints(INIT, {"type": "control_request", "request_id": "q", "request": asked})
    live = session.adopted()
    ask = ClaudeDialogue()
    [event] = [one for line in (INIT, {"type": "control_request", "request_id": "q", "request": asked})
               for one in ask.feed(json.dumps(line).encode()) if isinstance(one, Asked)]  # fmt: skip
    session.store.asks.record(SESSION, 1, 1, event.ask)
    launch = build_launch(Config(), Start("x", agent="claude", cwd="/p", session_id=SESSION))
    clerk = Clerk(live, session.store, SESSION, 1, agent="claude", cwd="/p", launch=launch)
    session.store.asks.answer(session.asks[0].id, Answer(verdict=Verdict.DENY, message="ask me later"), "you")
    assert clerk.advance()
    [waiting] = session.store.queue.waiting(SESSION)
    assert (waiting.text, waiting.steers) == ("ask me later", True)


def test_the_time_limit_decides_an_ask_of_an_earlier_turn(session):
    session.prints(INIT, request("q", "rm x"), RESULT)
    ask = Ask(key="q", kind=AskKind.COMMAND, title="run: rm x", body="rm x")
    session.store.asks.record(SESSION, 1, 1, ask, due_at=1)
    live = session.adopted()
    limited = Launch(argv=("claude",), asks=AsksSettings(timeout="1s", on_timeout="deny"))
    denied = []
    clerk = Clerk(live, session.store, SESSION, 2, agent="claude", cwd="/p", launch=limited, count_denial=denied.append)
    clerk.advance()
    live.flush()
    assert json.loads(session.written.drain())["response"]["response"]["behavior"] == "deny"
    clerk.hear(Settled("q", answered=True))
    assert denied == ["run: rm x"]


def _cannot_be_recorded(session, monkeypatch, *, times):
    """The disk refuses the next asks; what is missing is recorded as soon as it can be."""
    record, refused = session.store.asks.record, iter(range(times))

    def recorded(*args):
        if next(refused, None) is not None:
            raise StoreError("The database is locked.")
        return record(*args)

    monkeypatch.setattr(session.store.asks, "record", recorded)
    monkeypatch.setattr(clerk_of_asks, "CHECK_SECONDS", 0.0)
    session.prints(INIT, RESULT)
    live = session.adopted()
    return Clerk(live, session.store, SESSION, 1, agent="claude", cwd="/p", launch=LAUNCH)


def test_an_ask_that_could_not_be_recorded_is_recorded_once_it_can_be(session, monkeypatch):
    clerk = _cannot_be_recorded(session, monkeypatch, times=2)
    clerk.hear(Asked(Ask(key="q", kind=AskKind.COMMAND, title="run: rm x", body="rm x")))
    assert (clerk.waits, clerk.unanswered(), session.asks) == (True, 0, [])
    clerk.advance()
    assert (clerk.waits, session.asks) == (True, [])
    clerk.advance()
    [ask] = session.asks
    assert (ask.state, ask.ask.body, clerk.unanswered()) == (AskState.OPEN, "rm x", ask.id)


def test_asks_that_cannot_be_recorded_hold_up_the_turn_once(session, monkeypatch):
    clerk = _cannot_be_recorded(session, monkeypatch, times=5)
    for key in ("a", "b", "c"):
        clerk.hear(Asked(Ask(key=key, kind=AskKind.COMMAND, title=f"run: {key}", body=key)))
    clerk.advance()
    clerk.advance()
    assert session.asks == []
    clerk.advance()
    assert [one.ask.key for one in session.asks] == ["a", "b", "c"]


def test_an_ask_that_its_agent_withdraws_before_it_could_be_recorded_is_on_record(session, monkeypatch):
    clerk = _cannot_be_recorded(session, monkeypatch, times=1)
    clerk.hear(Asked(Ask(key="q", kind=AskKind.COMMAND, title="run: rm x", body="rm x")))
    clerk.hear(Settled("q", answered=False))
    assert [(one.state, one.ask.body) for one in session.asks] == [(AskState.WITHDRAWN, "rm x")]
    assert (clerk.waits, clerk.unanswered()) == (False, 0)


@pytest.mark.parametrize("has_agent", [True, False])
def test_the_asks_of_a_process_that_is_gone_are_lost(session, has_agent):
    session.prints(INIT, RESULT)
    session.ends_turn()
    session.store.asks.record(SESSION, 1, 1, Ask(key="q", kind=AskKind.COMMAND, title="run: rm x", body="rm x"))
    session.child.gone = True
    signals = SimpleNamespace(shutdown=False, requested=False, wake=os.pipe()[0])
    live = session.adopted() if has_agent else None
    Warm(session.layout, session.store, signals, SESSION, 1, live).wait()
    assert [one.state for one in session.asks] == [AskState.LOST]
    assert session.store.session(SESSION).asking == 0


def test_an_agent_that_asks_is_not_closed_as_idle(session, wait_until):
    session.launch = structs.replace(LAUNCH, warm=WarmSettings(keep_seconds=0))
    session.prints(INIT, request("q", "rm x"), RESULT)
    session.ends_turn()
    session.store.asks.record(SESSION, 1, 1, Ask(key="q", kind=AskKind.COMMAND, title="run: rm x", body="rm x"))
    session.waits()
    session.store.asks.answer(session.asks[0].id, Answer(verdict=Verdict.ALLOW), "you")
    poke = session.pokes()
    answer = json.loads(wait_until(session.written.drain))
    assert answer["type"] == "control_response"
    session.prints(answer, INIT)
    assert session.ended() == (2, "own")
    os.close(poke)


def test_an_answer_without_a_receipt_keeps_no_agent(session):
    session.prints(INIT, request("q", "rm x"), RESULT)
    session.store.asks.record(SESSION, 1, 1, Ask(key="q", kind=AskKind.COMMAND, title="run: rm x", body="rm x"))
    session.store.asks.answer(session.asks[0].id, Answer(verdict=Verdict.ALLOW), "you")
    clerk = Clerk(session.adopted(), session.store, SESSION, 2, agent="claude", cwd="/p", launch=LAUNCH)
    assert clerk.waits
    clerk.advance()
    assert not clerk.waits
    session.store.asks.sent(session.asks[0].id)
    again = Clerk(session.adopted(), session.store, SESSION, 2, agent="claude", cwd="/p", launch=LAUNCH)
    assert not again.waits


def test_an_agent_that_asks_is_not_closed_to_make_room(session):
    session.launch = structs.replace(LAUNCH, warm=WarmSettings(keep_most=0))
    session.prints(INIT, request("q", "rm x"), RESULT)
    session.ends_turn()
    session.store.asks.record(SESSION, 1, 1, Ask(key="q", kind=AskKind.COMMAND, title="run: rm x", body="rm x"))
    session.waits()
    session.prints(INIT)
    assert session.ended() == (2, "own")
    assert session.store.open_requests(SESSION, 1) == []


LAST_WORDS = {"type": "assistant", "message": {"content": [{"type": "text", "text": "My plan has ended."}]}}


@pytest.mark.parametrize("has_agent", [True, False])
def test_what_an_agent_prints_between_its_last_turn_and_its_end_is_counted_with_that_turn(session, has_agent):
    session.prints(INIT, RESULT)
    session.ends_turn()
    session.prints(LAST_WORDS)
    session.child.gone = True
    signals = SimpleNamespace(shutdown=False, requested=False, wake=os.pipe()[0])
    live = session.adopted() if has_agent else None
    Warm(session.layout, session.store, signals, SESSION, 1, live).wait()
    turn = session.store.one_turn(SESSION, 1)
    assert (turn.status, turn.end_byte) == (Status.DONE, None)
    assert turn.steps == read_facts(session.layout, session.store, turn)[1] == 4
    assert session.store.session(SESSION).steps == 4
