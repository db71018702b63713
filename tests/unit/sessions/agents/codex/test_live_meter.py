"""The use of a live codex: known before the commands of a call have ended, exact after a stop, else a lower bound."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.sessions.agents.codex.test_codex_usage import BORN, THREAD, Transcript
from unit.sessions.agents.live_captures import NAMES, lines_of

from agentdash.sessions.agents.codex.adapter import Codex
from agentdash.sessions.agents.parsing.usage_meter import Meter, TranscriptEnd
from agentdash.sessions.rules.costs.prices import Price
from agentdash.sessions.rules.costs.pricing import Pricing
from agentdash.sessions.rules.costs.reports import Reported
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.limits.spending import Spending

LINES = [line for name in NAMES for line in lines_of(name)]


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    return Transcript(tmp_path)


def meter(home: Path, prices: dict[str, Price] | None = None, began: int = BORN) -> Meter:
    launch = Launch(argv=("codex", "app-server"), transport="app-server", prices=prices or {})
    found = Codex.use.meter(launch, {"CODEX_HOME": str(home)}, began)
    assert found is not None
    return found


def message(method: str, **params: Any) -> bytes:
    return json.dumps({"method": method, "params": {"threadId": THREAD} | params}).encode()


def began(turn: str = "t1", root: str | None = None) -> bytes:
    return message("turn/started", turn={"id": turn, "rootTurnId": root})


def used(total: int, last: int) -> bytes:
    usage = {"total": {"inputTokens": total, "outputTokens": 1}, "last": {"inputTokens": last, "outputTokens": 1}}
    return message("thread/tokenUsage/updated", tokenUsage=usage)


def begin(transcript: Transcript, turn: str = "t1") -> None:
    transcript.add("event_msg", {"type": "task_started", "turn_id": turn})
    transcript.model("gpt-5.5")


def call(transcript: Transcript, tokens: int, turn: str = "t1") -> None:
    transcript.add("token_usage_record", {"turn_id": turn, "usage": {"input_tokens": tokens, "output_tokens": 1}})


def followed(home: Path, *stream: bytes) -> tuple[Facts, Spending, Any]:
    """Facts, spending and parser of a turn whose stream has these lines so far."""
    parser, spending = Codex().parser(1, "app-server"), Spending(list, 1, meter(home))
    parser.facts.agent_session, parser.facts.reported = THREAD, Reported(Pricing())
    for line in stream:
        parser.feed(line)
        spending.feed(line)
    spending.update(parser.facts)
    return parser.facts, spending, parser


def test_a_call_counts_while_its_commands_run_and_only_once(tmp_path: Path, transcript: Transcript) -> None:
    begin(transcript)
    call(transcript, 1200)
    facts, spending, parser = followed(tmp_path, began())
    assert facts.usage.total_tokens == 1201
    assert facts.cost_about_usd == pytest.approx((1200 * 5 + 30) / 1e6)
    assert facts.context_tokens == 1201
    transcript.count(input_tokens=1200, output_tokens=1)
    parser.feed(used(1200, 1200))  # the commands have ended
    spending.update(facts)
    assert facts.usage.total_tokens == 1201
    assert facts.thread_usage.total_tokens == 1201


def test_what_only_the_stream_has_counts(tmp_path: Path) -> None:
    facts, _, _ = followed(tmp_path, began(), used(1200, 1200), used(2800, 1600))
    assert facts.usage.total_tokens == 2802


def test_the_calls_of_other_turns_do_not_count_whatever_their_time(tmp_path: Path, transcript: Transcript) -> None:
    call(transcript, 700, turn="t0")  # killed in its command: the stream of the next turn lacks it
    begin(transcript)
    call(transcript, 1200)
    facts, _, _ = followed(tmp_path, began(), began("helper", root="t1"))
    assert facts.usage.total_tokens == 1201
    assert not facts.thread_before.known, "the parser has it from the stream"


@pytest.mark.parametrize("named", [True, False])
def test_what_a_resumed_thread_has_before_its_turn_begins_does_not_count(
    tmp_path: Path, transcript: Transcript, named: bool
) -> None:
    """After an undo the turn before used another thread, and this one may be read before the stream names the turn."""
    (other := tmp_path / "other.jsonl").touch()
    call(transcript, 700, turn="t0")
    found = meter(tmp_path, began=BORN + (0 if named else 5))
    if named:
        found.earlier = TranscriptEnd(other, 0)
    found.read_new(THREAD)
    assert not found.usage.known
    found.feed(began("t1" if named else ""))
    transcript.add("token_usage_record", {"turn_id": "t1", "usage": {"input_tokens": 1200}}, BORN + 9)
    found.read_new(THREAD)
    assert found.usage.input_tokens == 1200


@pytest.mark.parametrize(
    ("behind", "missed"),
    [
        ("", True),  # stopped before the first answer
        ("call", False),  # in its command
        ("call sum", True),  # during the next call
        ("call sum sum", True),
        ("call sum call", False),
        ("sum aborted", True),  # interrupted during the first call
        ("call sum aborted", False),  # in its command
        ("call sum sum aborted", True),  # during the next call
        ("call sum complete", False),
    ],
)
def test_a_call_that_was_under_way_makes_the_figure_a_lower_bound(
    tmp_path: Path, transcript: Transcript, behind: str, missed: bool
) -> None:
    begin(transcript)
    for event in behind.split():
        if event == "call":
            call(transcript, 1200)
        elif event == "sum":
            transcript.count(input_tokens=1200, output_tokens=1)
        else:
            name = {"aborted": "turn_aborted", "complete": "task_complete"}[event]
            transcript.add("event_msg", {"type": name, "turn_id": "t1"})
    facts, spending, _ = followed(tmp_path, began())
    spending.finish(facts)
    assert facts.reported is not None
    assert facts.reported.misses_call is missed


def test_without_a_transcript_a_stopped_turn_is_a_lower_bound_and_a_finished_one_is_not(tmp_path: Path) -> None:
    facts, spending, parser = followed(tmp_path, began(), used(1200, 1200))
    spending.finish(facts)
    assert facts.reported is not None
    assert facts.reported.misses_call
    facts, spending, parser = followed(tmp_path, began(), used(1200, 1200))
    parser.feed(message("turn/completed", turn={"id": "t1", "status": "completed"}))
    spending.finish(facts)
    assert facts.reported is not None
    assert not facts.reported.misses_call


def test_a_rerouted_turn_is_priced_with_the_model_that_answers(tmp_path: Path, transcript: Transcript) -> None:
    begin(transcript)
    found = meter(tmp_path, {"dear": Price(input=100.0, output=0.0)})
    found.feed(began())
    found.feed(message("model/rerouted", fromModel="gpt-5.5", toModel="dear"))
    call(transcript, 10)
    found.read_new(THREAD)
    assert found.cost_usd == pytest.approx(1000 / 1e6)


def test_a_missing_transcript_is_no_trouble_without_a_limit_on_the_cost(tmp_path: Path) -> None:
    found = meter(tmp_path)
    for _ in range(10):
        found.feed(began())
        found.read_new(THREAD)
    assert found.trouble is None


@given(st.lists(st.one_of(st.sampled_from(LINES), st.binary(max_size=80)), max_size=20))
def test_no_output_breaks_it(lines: list[bytes]) -> None:
    found = meter(Path("/nonexistent"))
    for line in lines:
        found.feed(line)
    assert not found.read_new(THREAD)


@pytest.mark.parametrize(
    "odd",
    [
        {"total": "x"},
        {"last": "x"},
        {"total": {"inputTokens": "x", "outputTokens": 1}},
        {"last": {"inputTokens": "x", "outputTokens": 1}},
    ],
)
def test_an_odd_count_of_the_stream_costs_that_count_alone(odd: dict[str, Any]) -> None:
    tokens = {"inputTokens": 1600, "outputTokens": 1}
    usage = {"total": {"inputTokens": 2800, "outputTokens": 2}, "last": tokens} | odd
    parser = Codex().parser(1, "app-server")
    for line in (began(), used(1200, 1200), message("thread/tokenUsage/updated", tokenUsage=usage)):
        parser.feed(line)
    assert parser.facts.usage.total_tokens == 2802
