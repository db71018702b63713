"""codex's transcript while it is written: whose tokens they are, what they cost, and what cannot harm a reader."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from places import TRANSCRIPTS

from agentdash.sessions.agents.codex.adapter import Codex
from agentdash.sessions.agents.codex.usage import CodexMeter
from agentdash.sessions.agents.parsing.usage_meter import Meter, TranscriptEnd, When
from agentdash.sessions.rules.costs.prices import Price
from agentdash.sessions.rules.costs.pricing import Pricing
from agentdash.sessions.rules.costs.reports import Reported
from agentdash.sessions.rules.launch import Command, Launch
from agentdash.sessions.rules.limits.limits import Limits
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.limits.spending import Spending

THREAD = "01a1fb63-d45a-7f82-8a8f-c9f1972ee698"
BORN = int(THREAD[:8] + THREAD[9:13], 16)


class Transcript:
    """A thread's transcript at its usual place."""

    def __init__(self, home: Path) -> None:
        folder = home / "sessions" / f"{datetime.fromtimestamp(BORN / 1000, UTC):%Y/%m/%d}"
        folder.mkdir(parents=True)
        self.path = folder / f"rollout-2026-11-20T23-56-26-{THREAD}.jsonl"
        self.path.touch()

    def add(self, kind: str, payload: Any, at: int = BORN) -> None:
        """Append a line."""
        when = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with self.path.open("a") as file:
            file.write(json.dumps({"timestamp": when, "type": kind, "payload": payload}, separators=(",", ":")) + "\n")

    def model(self, name: str) -> None:
        """A turn begins with a model."""
        self.add("turn_context", {"model": name})

    def call(self, *, at: int = BORN, **usage: int) -> None:
        """The record of one call."""
        self.add("token_usage_record", {"usage": usage}, at)

    def count(self, *, at: int = BORN, **total: int) -> None:
        """The sum of the thread."""
        self.add("event_msg", {"type": "token_count", "info": {"total_token_usage": total}}, at)


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    return Transcript(tmp_path)


def meter(home: Path, began: int = BORN, prices: dict[str, Price] | None = None) -> CodexMeter:
    return CodexMeter(home, began, {} if prices is None else prices)


def test_what_the_thread_used_before_the_turn_is_known_apart(tmp_path: Path, transcript: Transcript) -> None:
    transcript.call(input_tokens=1200, output_tokens=20)
    transcript.count(input_tokens=1200, output_tokens=20)
    transcript.call(input_tokens=1600, output_tokens=27)  # killed before its sum
    transcript.call(at=BORN + 9, input_tokens=2000, output_tokens=30)
    transcript.count(at=BORN + 9, input_tokens=4800, output_tokens=77)
    found = meter(tmp_path, BORN + 5)
    assert total(found) == 2030
    assert found.thread_before.total_tokens == 2847
    facts = Facts(agent_session=THREAD)
    Spending(list, 1, meter(tmp_path, BORN + 5), at_end=True).finish(facts)
    assert facts.thread_usage.minus(facts.thread_before).total_tokens == 2030


@pytest.mark.parametrize("size", [10, 3 << 20])
def test_a_compaction_of_the_turn_is_reported_once(tmp_path: Path, transcript: Transcript, size: int) -> None:
    began = BORN + 60_000
    transcript.add("compacted", {"message": "", "replacement_history": []}, BORN)  # of an earlier turn
    transcript.call(at=began + 1, input_tokens=90_000, output_tokens=500)
    said = {"type": "message", "content": [{"type": "input_text", "text": '{"type":"compacted"}' + "x" * size}]}
    transcript.add("compacted", {"message": "", "replacement_history": [said]}, began + 2)
    transcript.add("event_msg", {"type": "context_compacted"}, began + 2)
    transcript.add("response_item", said, began + 3)
    facts = Facts(agent_session=THREAD, reported=Reported(Pricing()))
    spending = Spending(list, 1, meter(tmp_path, began), at_end=False)
    spending.update(facts)
    spending.update(facts)
    spending.finish(facts)
    assert facts.reported is not None
    (compacted,) = facts.reported.compactions()
    assert (compacted.at, compacted.tokens_before, compacted.step, compacted.trigger) == (began + 2, 90_500, None, None)
    live = Codex.use.meter(launch(transport="app-server"), {"CODEX_HOME": str(tmp_path)}, began)
    assert live is not None
    live.read_new(THREAD)
    assert live.compactions == [], "its stream shows them"


def total(found: Meter) -> int | None:
    found.read_new(THREAD)
    return found.usage.total_tokens


def test_each_call_counts_as_soon_as_it_is_recorded(tmp_path: Path, transcript: Transcript) -> None:
    found = meter(tmp_path)
    assert total(found) is None
    transcript.model("gpt-5.5")
    transcript.call(input_tokens=1200, output_tokens=20)
    assert total(found) == 1220
    assert found.cost_usd == pytest.approx((1200 * 5 + 20 * 30) / 1e6)
    # The sum that follows when the commands of that call are through says nothing new.
    transcript.count(input_tokens=1200, output_tokens=20)
    assert total(found) == 1220
    transcript.call(input_tokens=1600, cached_input_tokens=1000, output_tokens=27)
    assert total(found) == 2847
    assert found.cost_usd == pytest.approx((1800 * 5 + 1000 * 0.5 + 47 * 30) / 1e6)
    assert found.thread_usage.total_tokens == 1220
    assert found.path == transcript.path
    found.close()


def test_a_version_without_records_is_counted_by_its_sums(tmp_path: Path, transcript: Transcript) -> None:
    found = meter(tmp_path)
    transcript.model("gpt-5.5")
    transcript.count(input_tokens=1200, output_tokens=20)
    transcript.count(input_tokens=1200, output_tokens=20)  # again, because a rate limit changed
    transcript.count(input_tokens=2800, cached_input_tokens=1000, output_tokens=47)
    assert total(found) == 2847
    assert found.cost_usd == pytest.approx((1800 * 5 + 1000 * 0.5 + 47 * 30) / 1e6)


@pytest.mark.parametrize("records", [True, False])
def test_earlier_turns_of_the_thread_are_not_counted_again(
    tmp_path: Path, transcript: Transcript, records: bool
) -> None:
    began = BORN + 60_000
    transcript.model("gpt-5.5")
    for at, of_turn, of_thread in ((BORN, 1200, 1200), (began + 5, 1600, 2800)):
        if records:
            transcript.call(input_tokens=of_turn, output_tokens=10, at=at)
        transcript.count(input_tokens=of_thread, output_tokens=10 * (1 + (at > began)), at=at)
    found = meter(tmp_path, began)
    assert total(found) == 1610
    assert found.cost_usd == pytest.approx((1600 * 5 + 10 * 30) / 1e6)
    assert found.thread_usage.total_tokens == 2820


def test_what_is_written_to_a_cache_has_its_own_price(tmp_path: Path, transcript: Transcript) -> None:
    found = meter(tmp_path, prices={"gpt-x": Price(input=1, cached_input=2, cache_write=4, output=8)})
    transcript.model("gpt-x")
    transcript.call(input_tokens=600, cached_input_tokens=200, cache_write_input_tokens=300, output_tokens=10)
    assert total(found) == 610
    assert found.cost_usd == pytest.approx((100 * 1 + 200 * 2 + 300 * 4 + 10 * 8) / 1e6)


def test_a_model_without_a_price_costs_nothing_that_is_known(tmp_path: Path, transcript: Transcript) -> None:
    found = meter(tmp_path)
    transcript.model("gpt-nope")
    transcript.call(input_tokens=1200, output_tokens=20)
    assert total(found) == 1220
    assert (found.cost_usd, found.unpriced) == (None, "gpt-nope")
    assert found.trouble == "its cost limit ignores gpt-nope, which has no price"


def test_nobody_is_told_of_prices_who_limits_tokens_alone(tmp_path: Path, transcript: Transcript) -> None:
    found = CodexMeter(tmp_path, BORN, None)
    transcript.model("gpt-nope")
    transcript.call(input_tokens=1200, output_tokens=20)
    assert total(found) == 1220
    assert found.trouble is None


def test_an_odd_field_of_a_record_costs_that_field_alone(tmp_path: Path, transcript: Transcript) -> None:
    found = meter(tmp_path)
    transcript.model("gpt-5.5")
    usage = {"input_tokens": "1200", "output_tokens": 20, "cached_input_tokens": []}
    transcript.add("token_usage_record", {"usage": usage})
    assert total(found) == 1220


@pytest.mark.parametrize("field", ["input_tokens", "cached_input_tokens"])
def test_a_call_with_an_unreadable_number_is_not_priced(tmp_path: Path, transcript: Transcript, field: str) -> None:
    found = meter(tmp_path)
    transcript.model("gpt-5.5")
    transcript.add("token_usage_record", {"usage": {"input_tokens": 1200, "output_tokens": 20, field: -100}})
    found.read_new(THREAD)
    (report,) = found.reports
    assert getattr(report.usage, field) is None
    assert Pricing().priced(report).computed_usd is None


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"token_usage_record","payload":{"usage":{"input_tokens":-5}}}',
        b'{"type":"token_usage_record","payload":{"usage":{"input_tokens":99999999999999999999}}}',
        b'{"type":"token_usage_record","payload":[]}',
        b'{"type":"event_msg","payload":{"type":"token_count","info":null}}',
        b'{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":null}}}',
        b'{"type":"turn_context","payload":{"model":7}}',
        b'"token_count" \xff\xfe',
        b'{"type":"response_item","payload":{"text":"say \\"token_usage_record\\""}}',
        b"[" * 100_000 + b'"token_count"',
    ],
)
def test_odd_lines_are_passed_over(tmp_path: Path, transcript: Transcript, line: bytes) -> None:
    found = meter(tmp_path)
    transcript.model("gpt-5.5")
    with transcript.path.open("ab") as file:
        file.write(line + b"\n")
    transcript.call(input_tokens=1200, output_tokens=20)
    assert total(found) == 1220


def test_a_half_written_line_is_counted_once_it_is_whole(tmp_path: Path, transcript: Transcript) -> None:
    found = meter(tmp_path)
    transcript.call(input_tokens=1200, output_tokens=20)
    whole = transcript.path.read_bytes()
    transcript.path.write_bytes(whole[:50])
    assert total(found) is None
    with transcript.path.open("ab") as file:
        file.write(whole[50:])
    assert total(found) == 1220


def test_a_long_transcript_is_read_in_pieces_and_none_is_lost(
    tmp_path: Path, transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentdash.sessions.agents.codex.usage.LOOK_SECONDS", 0.0)
    for _ in range(1000):
        transcript.call(input_tokens=10, output_tokens=1)
    found = meter(tmp_path)
    looks = 1
    while found.read_new(THREAD):
        looks += 1
    assert found.usage.total_tokens == 11_000
    assert looks > 3


@pytest.mark.parametrize("thread", [None, "../../etc", THREAD])
def test_without_a_transcript_there_is_nothing_to_count(tmp_path: Path, thread: str | None) -> None:
    found = meter(tmp_path)
    assert not found.read_new(thread)
    assert (found.usage.known, found.path, found.seeks) == (False, None, True)


@pytest.mark.parametrize(
    ("name", "tokens"), [("work", 13_365), ("resume", 9400), ("killed", 1226), ("killed-and-resumed", 2462)]
)
def test_captured_transcripts_give_what_codex_counted(tmp_path: Path, name: str, tokens: int) -> None:
    lines = (TRANSCRIPTS / f"codex-rollout-{name}.jsonl").read_bytes()
    Transcript(tmp_path).path.write_bytes(lines)
    found = meter(tmp_path, began=0)
    assert total(found) == tokens
    assert found.unpriced is None
    assert found.cost_usd is not None


def launch(**given: Any) -> Launch:
    return Launch(argv=("codex", "exec", *given.pop("more", ())), **given)


def cost_of(home: Path, **given: Any) -> tuple[When, bool]:
    made = launch(**given)
    command = Command(argv=made.argv, model=made.model)
    found = Codex().measures(command, made.prices, {"CODEX_HOME": str(home)}).cost
    return found.when, found.why is not None


def test_before_the_start_it_is_said_whether_the_cost_can_be_known(tmp_path: Path) -> None:
    assert cost_of(tmp_path, model="gpt-5.5") == (When.LIVE, False)
    assert cost_of(tmp_path, model="gpt-nope") == (When.NEVER, True)
    assert cost_of(tmp_path, model="gpt-nope", prices={"gpt-*": Price(input=1, output=2)}) == (When.LIVE, False)
    assert cost_of(tmp_path) == (When.LIVE, True)
    (tmp_path / "config.toml").write_text('model = "gpt-5.5"\n')
    assert cost_of(tmp_path) == (When.LIVE, False)
    for more in (("-p", "mine"), ("--model=mine",), ("-mmine",), ("-c", "model=mine")):
        assert cost_of(tmp_path, more=more) == (When.LIVE, True)
    (tmp_path / "config.toml").write_text('model = "gpt-nope"\n')
    assert cost_of(tmp_path) == (When.LIVE, True)
    (tmp_path / "config.toml").write_text("model = \n")
    assert cost_of(tmp_path) == (When.LIVE, True)
    assert cost_of(tmp_path, model="gpt-5.5", more=("--ephemeral",)) == (When.NEVER, True)


def test_nothing_is_followed_without_a_limit_on_it(tmp_path: Path) -> None:
    env = {"CODEX_HOME": str(tmp_path)}
    assert Codex.use.meter(launch(limits=Limits(wall_seconds=5)), env, 0) is None
    assert isinstance(Codex.use.meter(launch(limits=Limits(tokens=5)), env, 0), CodexMeter)
    assert isinstance(Codex.use.meter(launch(limits=Limits(cost_usd=5)), env, 0), CodexMeter)


def test_the_transcript_has_the_model_and_the_use_of_the_context(tmp_path: Path, transcript: Transcript) -> None:
    transcript.model("gpt-5.5")
    transcript.call(input_tokens=9_000, output_tokens=330)
    last = {"input_tokens": 9_000, "output_tokens": 330, "total_tokens": 9_330}
    info = {"total_token_usage": {"input_tokens": 21_000}, "last_token_usage": last, "model_context_window": 258_400}
    transcript.add("event_msg", {"type": "token_count", "info": info})
    facts = Facts(agent_session=THREAD)
    Spending(list, 1, meter(tmp_path), at_end=True).finish(facts)
    assert (facts.model, facts.context_tokens, facts.context_window) == ("gpt-5.5", 9_330, 258_400)
    estimate = {"last_token_usage": {"total_tokens": 700}, "model_context_window": None}
    transcript.add("event_msg", {"type": "token_count", "info": info | estimate})  # after a compaction
    Spending(list, 1, meter(tmp_path), at_end=True).finish(facts)
    assert (facts.context_tokens, facts.context_window) == (700, 258_400)


def test_the_model_that_the_stream_named_stays(tmp_path: Path, transcript: Transcript) -> None:
    transcript.model("gpt-5.5")
    facts = Facts(agent_session=THREAD, model="gpt-9")
    Spending(list, 1, meter(tmp_path), at_end=True).finish(facts)
    assert (facts.model, facts.context_tokens, facts.context_window) == ("gpt-9", None, None)


@pytest.mark.parametrize("recorded", [True, False])
def test_after_a_clock_step_back_a_turn_counts_its_own_calls_alone(
    tmp_path: Path, transcript: Transcript, recorded: bool
) -> None:
    later, began = BORN + 120_000, BORN + 60_000
    if recorded:
        transcript.call(at=later, input_tokens=1200, output_tokens=20)
    transcript.count(at=later, input_tokens=1200, output_tokens=20)
    found = meter(tmp_path, began)
    found.earlier = TranscriptEnd(transcript.path, transcript.path.stat().st_size)
    assert total(found) is None, "nothing of the thread is the turn's so far"
    if recorded:
        transcript.call(at=began + 1, input_tokens=1600, output_tokens=30)
    transcript.count(at=began + 1, input_tokens=2800, output_tokens=50)
    assert total(found) == 1630
    assert found.thread_before.total_tokens == 1220
