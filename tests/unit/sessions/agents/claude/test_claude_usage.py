"""claude's cost while a turn runs: each model call once, until claude's own figure comes."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from places import CAPTURES

from agentdash.sessions.agents.claude.adapter import Claude
from agentdash.sessions.agents.claude.use.usage import ClaudeMeter
from agentdash.sessions.agents.parsing.usage_meter import When
from agentdash.sessions.rules.costs.prices import Price
from agentdash.sessions.rules.launch import Command, Launch
from agentdash.sessions.rules.limits.limits import Limits

TEN = {"m": Price(input=10.0, cached_input=1.0, cache_write=20.0, cache_write_1h=30.0, output=100.0)}


def said(identity: str, content: list[Any] | None = None, parent: str | None = None, **usage: Any) -> bytes:
    message = {"id": identity, "model": "m", "content": content or [], "usage": {"output_tokens": 1} | usage}
    return json.dumps({"type": "assistant", "message": message, "parent_tool_use_id": parent}).encode()


def test_a_message_counts_once_however_many_blocks_repeat_its_usage() -> None:
    meter = ClaudeMeter(TEN)
    for _ in range(3):
        meter.feed(said("a", input_tokens=100_000, output_tokens=10))
    assert meter.cost_usd == pytest.approx(1.001)
    meter.feed(said("b", input_tokens=100_000, output_tokens=10))
    assert meter.cost_usd == pytest.approx(2.002)


def test_speakers_do_not_disturb_each_other() -> None:
    meter = ClaudeMeter(TEN)
    for _ in range(2):
        meter.feed(said("a", input_tokens=100_000, output_tokens=0))
        meter.feed(said("b", parent="toolu_1", input_tokens=100_000, output_tokens=0))
    assert meter.cost_usd == pytest.approx(2.0)


def test_input_has_its_price_by_how_it_was_cached() -> None:
    meter = ClaudeMeter(TEN)
    meter.feed(
        said(
            "a",
            input_tokens=1_000,
            cache_read_input_tokens=10_000,
            cache_creation_input_tokens=5_000,
            cache_creation={"ephemeral_5m_input_tokens": 3_000, "ephemeral_1h_input_tokens": 2_000},
            output_tokens=0,
        )
    )
    assert meter.cost_usd == pytest.approx((1_000 * 10 + 10_000 * 1 + 3_000 * 20 + 2_000 * 30) / 1e6)


def test_output_is_taken_from_what_was_printed_when_that_is_more() -> None:
    """The usage of a block is the one with which its message began."""
    meter = ClaudeMeter(TEN)
    text = {"type": "text", "text": "x" * 4_000}
    call = {"type": "tool_use", "id": "t", "name": "Write", "input": {"content": "y" * 3_986}}
    meter.feed(said("a", [text], input_tokens=0))
    assert meter.cost_usd == pytest.approx(0.1)
    meter.feed(said("a", [call], input_tokens=0))
    assert meter.cost_usd == pytest.approx(0.2, rel=0.01)
    thought = {"type": "thinking", "thinking": "", "signature": "z" * 40_000}
    meter.feed(said("a", [thought], input_tokens=0))
    assert meter.cost_usd == pytest.approx(0.2, rel=0.01)


def test_a_call_with_an_unreadable_number_makes_the_sum_unknown_until_claude_s_own_figure() -> None:
    meter = ClaudeMeter(TEN)
    for number in (100_000, 900_000_000_000_000, 100_000):
        meter.feed(said(f"{number}", input_tokens=number))
    assert meter.cost_usd is None
    assert "cannot be read" in (meter.trouble or "")
    meter.feed(b'{"type":"result","total_cost_usd":5.0,"usage":{}}')
    meter.feed(said("next", input_tokens=100_000, output_tokens=0))
    assert meter.cost_usd == pytest.approx(1.0)


def test_claude_s_own_figure_takes_the_place_of_the_estimate() -> None:
    meter = ClaudeMeter(TEN)
    meter.feed(said("a", input_tokens=100_000))
    meter.feed(b'{"type":"result","total_cost_usd":0.5,"usage":{"input_tokens":100000}}')
    assert meter.cost_usd is None
    meter.feed(said("b", input_tokens=100_000, output_tokens=0))
    assert meter.cost_usd == pytest.approx(1.0)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"assistant","message":{"id":"a","usage":{"input_tokens":-1}}}',
        b'{"type":"assistant","message":{"id":7,"usage":{}}}',
        b'{"type":"user","tool_use_result":{"usage":{"input_tokens":5}}}',
        b'{"type":"result","usage":{},"total_cost_usd":"x"}',
        b'{"type":"assistant","message":{"id":"a","model":"m","content":"text","usage":{"input_tokens":0}}}',
        b'"usage" \xff',
        b"[" * 100_000 + b'"usage"',
    ],
)
def test_odd_lines_are_passed_over(line: bytes) -> None:
    meter = ClaudeMeter(TEN)
    meter.feed(line)
    assert not meter.cost_usd
    meter.feed(said("z", input_tokens=100_000, output_tokens=0))
    assert meter.cost_usd == pytest.approx(1.0)


def test_a_cut_emoji_hides_no_usage() -> None:
    line = said("a", [{"type": "text", "text": "CUT"}], input_tokens=100_000, output_tokens=0)
    meter = ClaudeMeter(TEN)
    meter.feed(line.replace(b"CUT", b"\\ud83d"))
    assert meter.cost_usd == pytest.approx(1.0)


def test_a_model_without_a_price_is_named() -> None:
    meter = ClaudeMeter({})
    meter.feed(said("a", input_tokens=100_000))
    assert (meter.cost_usd, meter.unpriced) == (None, "m")
    made_up = ClaudeMeter({})
    made_up.feed(said("a", input_tokens=0).replace(b'"m"', b'"<synthetic>"'))
    assert made_up.unpriced is None


def test_a_captured_turn_is_estimated_near_to_claude_s_own_figure() -> None:
    meter, estimate = ClaudeMeter({}), 0.0
    for line in (CAPTURES / "claude-work.jsonl").read_bytes().split(b"\n"):
        meter.feed(line)
        estimate = meter.cost_usd or estimate
    assert estimate == pytest.approx(0.047625, rel=0.1)
    assert meter.cost_usd is None


@pytest.mark.parametrize(
    "odd",
    [
        {"cache_creation": []},
        {"cache_creation": {"ephemeral_1h_input_tokens": "many"}},
        {"cache_read_input_tokens": -1},
        {"service_tier": 7},
    ],
)
def test_an_odd_field_of_the_usage_costs_that_field_alone(odd: dict[str, Any]) -> None:
    meter = ClaudeMeter(TEN)
    meter.feed(said("a", input_tokens=100_000, output_tokens=0, **odd))
    assert meter.cost_usd == pytest.approx(1.0)


def test_a_number_written_as_text_is_read() -> None:
    meter = ClaudeMeter(TEN)
    meter.feed(said("a", input_tokens="100000", output_tokens=0))
    assert meter.cost_usd == pytest.approx(1.0)


def test_an_end_whose_cost_cannot_be_read_keeps_the_estimate() -> None:
    meter = ClaudeMeter(TEN)
    meter.feed(said("a", input_tokens=100_000, output_tokens=0))
    meter.feed(b'{"type":"result","usage":{},"total_cost_usd":"much"}')
    assert meter.cost_usd == pytest.approx(1.0)


def test_before_the_start_it_is_said_whether_the_cost_can_be_known() -> None:
    def cost_of(model: str | None, prices: Mapping[str, Price] | None = None) -> When:
        return Claude().measures(Command(argv=("claude",), model=model), prices or {}, {}).cost.when

    assert [cost_of(model) for model in (None, "opus", "claude-opus-4-8", "claude-opus-4-8[1m]")] == [When.LIVE] * 4
    assert cost_of("claude-nope-1") is When.END
    assert cost_of("glm-4.6") is When.END
    named = Claude().measures(Command(argv=("claude",)), {}, {"ANTHROPIC_MODEL": "claude-nope-1"}).cost
    assert (named.when, "claude-nope-1 has no price" in (named.why or "")) == (When.END, True)
    assert cost_of("claude-nope-1", prices={"claude-nope-*": Price(input=1, output=1)}) is When.LIVE


def test_nothing_is_followed_without_a_limit_on_the_cost() -> None:
    def meter(**limits: Any) -> object:
        new = Claude.use.meter
        assert new is not None
        return new(Launch(argv=("claude",), limits=Limits(**limits)), {}, 0)

    assert meter(tokens=5) is None  # the parser counts them
    assert isinstance(meter(cost_usd=5), ClaudeMeter)
