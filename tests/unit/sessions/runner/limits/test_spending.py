"""A running turn against the limits of its session: known as soon as a line or a transcript says it."""

import select
from pathlib import Path

import pytest
from factories import turn

from agentdash.sessions.agents.parsing.usage_meter import Meter
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.model.session import Turn, Usage
from agentdash.sessions.rules.costs.prices import Price
from agentdash.sessions.rules.costs.usage_totals import Spent, spent_by
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.limits.limits import Limits
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner import inotify
from agentdash.sessions.runner.limits.spending import Spending
from agentdash.sessions.runner.recorder import Recorder
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

SESSION = "0123456789abcdef"
SAYS = b'{"type":"assistant","message":{"id":"%d","model":"m","usage":{"input_tokens":1000,"output_tokens":0}}}\n'


def test_estimates_are_added_to_the_agent_s_own_figures() -> None:
    turns = [
        turn(1, usage=Usage.of(10, 0, 5), cost_usd=1.0),
        turn(2),
        turn(3, usage=Usage.of(10, 0, 5), cost_usd=0.5),
    ]
    assert spent_by(turns) == Spent(30, 1.5, False)
    assert spent_by([*turns, turn(4, cost_about_usd=0.25)]) == Spent(30, 1.75, True)
    assert spent_by([turn(1, cost_usd=0.5, cost_about_usd=0.25)]) == Spent(None, 0.75, True)
    assert spent_by([]) == Spent(None, None, False)


def test_a_running_turn_is_added_to_those_before_it() -> None:
    before = [turn(1, usage=Usage.of(90, 0, 10), cost_usd=1.0), turn(2, usage=Usage.of(1, 0, 1))]
    spending = Spending(lambda: before, 2, Meter())
    facts = Facts(usage=Usage.of(40, 0, 10), cost_about_usd=0.5)
    assert spending.now(facts) == Spent(150, 1.5, True)
    facts.cost_usd, facts.cost_about_usd = 0.25, None
    assert spending.now(facts) == Spent(150, 1.25, False)


def test_a_store_that_cannot_be_read_is_asked_again() -> None:
    answers: list[list[Turn] | None] = [None, [turn(1, usage=Usage.of(90, 0, 10))]]

    def turns() -> list[Turn]:
        answer = answers.pop(0)
        if answer is None:
            raise StoreError("busy")
        return answer

    spending = Spending(turns, 2, None)
    assert spending.now(Facts()).tokens is None
    assert spending.now(Facts()).tokens == 100
    assert spending.now(Facts()).tokens == 100


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    """The recorder of claude's first turn, which may cost three cents and use ten thousand tokens."""
    layout = Layout(tmp_path / "state")
    layout.create()
    layout.session(SESSION).create()
    store = Store(layout.database)
    launch = Launch(
        argv=("claude",),
        limits=Limits(tokens=10_000, cost_usd=0.03),
        prices={"m": Price(input=10.0, output=10.0)},
    )
    store.create(Start("t", agent="claude", title="t", cwd="/", session_id=SESSION), launch, "r", host="h")
    log = TurnLog(store, SESSION, 1, Owner(pid=1, start=2, boot_id="b", pid_ns="n"))
    log.claim()
    log.running(10, 11)
    made = Recorder(layout, SESSION, 1, store, log)
    layout.session(SESSION).output(1).touch()
    made.begin(agent_named("claude"), launch, lambda: None, now_ms())  # type: ignore[arg-type, return-value]
    return made


def says(recorder: Recorder, lines: bytes) -> None:
    with recorder._folder.output(1).open("ab") as file:
        file.write(lines)
    recorder.follow()


def test_the_call_that_crosses_the_cost_is_dealt_with_before_the_next_one(recorder: Recorder) -> None:
    says(recorder, b"".join(SAYS % n for n in range(3)))
    assert not recorder.exceeds
    says(recorder, SAYS % 3)
    assert recorder.exceeds
    assert recorder.over_limit()[0] == "cost more than $0.03 (~$0.04)"
    assert not recorder.exceeds  # it was dealt with


def test_the_call_that_crosses_the_tokens_is_dealt_with_before_the_next_one(recorder: Recorder) -> None:
    says(recorder, (SAYS % 0).replace(b'"m"', b'"free"').replace(b":1000", b":10000"))
    assert not recorder.exceeds
    says(recorder, (SAYS % 1).replace(b'"m"', b'"free"').replace(b":1000", b":1"))
    assert recorder.exceeds
    assert recorder.over_limit()[0] == "used more than 10,000 tokens (10,001)"


def test_after_the_proper_end_nothing_is_left_to_stop(recorder: Recorder) -> None:
    says(recorder, b"".join(SAYS % n for n in range(4)))
    assert recorder.exceeds
    says(recorder, b'{"type":"result","subtype":"success","stop_reason":"end_turn","total_cost_usd":9.0}\n')
    assert not recorder.exceeds


@pytest.mark.skipif("sys.platform != 'linux'")
def test_a_file_that_is_found_late_wakes_who_waits(tmp_path: Path) -> None:
    path, poll = tmp_path / "rollout", select.poll()
    watch = inotify.LateWatch(poll)
    path.touch()
    watch.on(None)
    assert watch.descriptor is None
    watch.on(path)
    watch.on(path)
    assert poll.poll(0) == []
    path.write_bytes(b"x")
    [(descriptor, _)] = poll.poll(10_000)
    assert descriptor == watch.descriptor
    watch.off()
    assert watch.descriptor is None
    assert poll.poll(0) == []
