"""The use of the context of a live turn, from real output."""

import json

import pytest
from places import CAPTURES
from unit.sessions.agents.live_captures import read

from agentdash.sessions.agents.claude.adapter import Claude


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
