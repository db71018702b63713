"""The cost and the use of the context of a live turn, from real output and from hostile lines."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import CAPTURES
from unit.sessions.agents.live_captures import NAMES, lines_of, read

from agentdash.sessions.agents.base import LaunchRequest
from agentdash.sessions.agents.claude.adapter import Claude
from agentdash.sessions.agents.codex.adapter import Codex, CodexSettings
from agentdash.sessions.agents.codex.app_server.cost import AppServerCost
from agentdash.sessions.costs.prices import Price

FLAT = {"gpt-*": Price(input=1.0, cached_input=0.5, cache_write=2.0, output=10.0)}
LINES = [line for name in NAMES for line in lines_of(name)]


def costed(lines: list[bytes], model: str | None = None, prices: dict[str, Price] = FLAT) -> AppServerCost:
    meter = AppServerCost(model, prices)
    for line in lines:
        meter.feed(line)
    return meter


def encoded(method: str, **params: Any) -> bytes:
    return json.dumps({"method": method, "params": {"threadId": "T"} | params}).encode()


def began() -> bytes:
    return encoded("turn/started", turn={"id": "t"})


def used(total: int, *, thread: str = "T", **last: int) -> bytes:
    usage = {"total": {"inputTokens": total}, "last": last, "modelContextWindow": 258_400}
    return encoded("thread/tokenUsage/updated", threadId=thread, tokenUsage=usage)


class TestCodexCost:
    def test_each_call_is_priced_by_its_kinds_of_tokens(self) -> None:
        call = {"inputTokens": 1_000_000, "cachedInputTokens": 600_000, "cacheWriteInputTokens": 100_000}
        meter = costed([began(), used(1, **call, outputTokens=1_000)], "gpt-9")
        assert meter.cost_usd == pytest.approx(0.3 * 1 + 0.6 * 0.5 + 0.1 * 2 + 0.01)

    def test_real_output_with_the_models_list_price(self) -> None:
        meter = costed(lines_of("codex-live-steer.jsonl"), prices={})
        usage = read("codex-live-steer.jsonl")[0].facts.usage
        fresh = (usage.input_tokens or 0) - (usage.cached_input_tokens or 0)
        listed = 5.0 * fresh + 0.5 * (usage.cached_input_tokens or 0) + 30.0 * (usage.output_tokens or 0)
        assert meter.cost_usd == pytest.approx(listed / 1e6), "the thread's answer names gpt-5.5"

    def test_a_model_without_a_price_has_no_cost_and_not_zero(self) -> None:
        meter = costed([began(), used(1, inputTokens=10)], "unlisted-model", {})
        assert (meter.cost_usd, meter.trouble) == (None, None)
        assert costed([began(), used(1, inputTokens=10)], None).cost_usd is None

    def test_a_handshake_that_an_adopter_repeated_hides_no_call(self) -> None:
        opened = [json.dumps({"id": 2, "result": {"thread": {"id": thread}}}).encode() for thread in ("T", "unused")]
        lines = [opened[0], began(), opened[1], used(1, inputTokens=10)]
        assert costed(lines, "gpt-9").cost_usd == pytest.approx(1e-5)

    def test_one_unknown_call_makes_the_sum_unknown(self) -> None:
        lines = [began(), used(1, inputTokens=10), used(2, thread="helper", inputTokens=10), used(3, inputTokens=10)]
        assert costed(lines[:2], "gpt-9").cost_usd == pytest.approx(1e-5)
        assert costed(lines, "gpt-9").cost_usd is None

    def test_a_report_that_is_repeated_or_comes_before_the_turn_counts_once_or_not(self) -> None:
        lines = [used(5, inputTokens=5), began(), used(5, inputTokens=5), used(9, inputTokens=4)]
        assert costed([*lines, lines[-1]], "gpt-9").cost_usd == pytest.approx(4e-6)

    def test_a_turn_is_priced_with_the_model_with_which_it_began(self) -> None:
        prices = FLAT | {"dear": Price(input=100.0, output=1.0)}
        changed = encoded("thread/settings/updated", threadSettings={"model": "dear"})
        running = [began(), used(1, inputTokens=10), changed, used(2, inputTokens=10)]
        assert costed(running, "gpt-9", prices).cost_usd == pytest.approx((10 + 10) / 1e6)
        following = [changed, began(), used(1, inputTokens=10)]
        assert costed(following, "gpt-9", prices).cost_usd == pytest.approx(1000 / 1e6)

    def test_a_live_codex_is_estimated_without_any_limit_and_one_of_one_turn_is_not(self) -> None:
        def launch(**own: Any):
            settings = CodexSettings(**own)
            return Codex().launch(LaunchRequest(prompt="x", cwd="/p", session_id="s", settings=settings))

        assert isinstance(Codex().meter(launch(live=True), {}, 0), AppServerCost)
        assert Codex().meter(launch(live=False), {}, 0) is None

    @given(st.lists(st.one_of(st.sampled_from(LINES), st.binary(max_size=80)), max_size=20))
    def test_no_output_breaks_it_and_no_cost_is_negative(self, lines: list[bytes]) -> None:
        assert (costed([began(), *lines], "gpt-9").cost_usd or 0.0) >= 0.0


class TestContext:
    def test_codex_reports_the_last_call_and_the_window(self) -> None:
        facts = read("codex-live-steer.jsonl", until=b"tokenUsage/updated")[0].facts
        assert (facts.context_tokens, facts.context_window) == (1220, 258_400)

    @pytest.mark.parametrize("version", ["197", "330"])
    def test_claude_reports_the_window_at_the_end_of_a_turn(self, version: str) -> None:
        parser = Claude().parser(1, "stream-json")
        lines = (CAPTURES / "live" / f"claude-{version}-can-use-tool.jsonl").read_bytes().splitlines()
        seen = set()
        for line in lines:
            parser.feed(line)
            seen.add(parser.facts.context_window)
        assert seen == {None, 1_000_000}
        assert parser.facts.context_tokens

    def test_the_window_of_claude_is_unknown_if_several_models_were_used_and_none_is_its_own(self) -> None:
        parser = Claude().parser(1, "stream-json")
        used = {"contextWindow": 5}
        parser.feed(json.dumps({"type": "result", "modelUsage": {"a": used, "b": used}}).encode())
        assert parser.facts.context_window is None
