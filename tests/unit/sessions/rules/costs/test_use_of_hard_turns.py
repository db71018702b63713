"""The use of turns that are hard to count: broken off, resumed with sub-agents, repeated totals, missing prices."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from places import CAPTURES
from recorded_use import ID, Recorded
from unit.sessions.agents.codex.test_codex_usage import BORN, THREAD, Transcript

from agentdash.sessions.agents.claude.adapter import Claude
from agentdash.sessions.agents.claude.use.on_disk import total_before
from agentdash.sessions.agents.claude.use.reports import counted_by
from agentdash.sessions.agents.codex.adapter import Codex
from agentdash.sessions.model.session import Session, StepKind, Turn
from agentdash.sessions.rules.costs.cost import cost_words, tokens_words
from agentdash.sessions.rules.costs.price_table import AS_OF
from agentdash.sessions.rules.costs.usage_totals import session_cost, session_tokens
from agentdash.sessions.rules.digest.collect import digest_lines, digest_of
from agentdash.sessions.rules.launch import Launch
from agentdash.tui.render.sessions.cards import session_card
from agentdash.tui.render.style import Style

TALK = "11111111-1111-4111-8111-111111111111"
AT = 1_790_000_000_000
TURN = 60_000
"""Milliseconds between the beginnings of two turns."""
OPUS = "claude-opus-5-5"
"""4 dollars for a million tokens of input, 20 for output."""
OLD, NEW = "2.1.197", "2.1.330"


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """claude's own folder."""
    (tmp_path / "claude" / "projects" / "p").mkdir(parents=True)
    return tmp_path / "claude"


def init(version: str = NEW) -> dict[str, Any]:
    return {"type": "system", "subtype": "init", "session_id": TALK, "model": OPUS, "claude_code_version": version}


def message(name: str, tokens: int, output: int = 1, parent: str | None = None, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": tokens, "output_tokens": output}
    content = [{"type": "text", "text": "x"}]
    body = {"id": name, "model": OPUS, "role": "assistant", "content": content, "usage": usage} | more
    return {"type": "assistant", "session_id": TALK, "parent_tool_use_id": parent, "message": body}


def models(tokens: int, output: int, cost: float | None = None, model: str = OPUS) -> dict[str, Any]:
    used: dict[str, Any] = {"inputTokens": tokens, "outputTokens": output}
    return {model: used if cost is None else used | {"costUSD": cost}}


def result(tokens: int, output: int, total: dict[str, Any]) -> dict[str, Any]:
    cost = sum(one.get("costUSD", 0.0) for one in total.values())
    return {
        "type": "result", "subtype": "success", "is_error": False, "stop_reason": "end_turn", "session_id": TALK,
        "usage": {"input_tokens": tokens, "output_tokens": output}, "modelUsage": total, "total_cost_usd": cost,
    }  # fmt: skip


def lines(*events: dict[str, Any]) -> list[bytes]:
    return [json.dumps(event).encode() for event in events]


def on_disk(home: Path, at: int, *events: dict[str, Any], talk: str = TALK, helper: str | None = None) -> None:
    """Append lines of a transcript that were written at a time, UTC ms."""
    folder = home / "projects" / "p"
    path = folder / f"{talk}.jsonl" if helper is None else folder / talk / "subagents" / f"agent-{helper}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    stamp = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    with path.open("a") as file:
        for event in events:
            when = {} if event["type"] == "cost-state" else {"timestamp": stamp}
            file.write(json.dumps(event | when, separators=(",", ":")) + "\n")


def finished(name: str, tokens: int, output: int) -> dict[str, Any]:
    return message(name, tokens, output, stop_reason="tool_use")


def cost_state(total: dict[str, Any]) -> dict[str, Any]:
    return {"type": "cost-state", "sessionId": TALK, "modelUsage": total}


def counted(recorded: Recorded) -> list[tuple[str, str, int | None]]:
    rows = recorded.store.database.rows(
        "SELECT source, key, total_tokens FROM reports WHERE counted ORDER BY turn, key"
    )
    return [tuple(row) for row in rows]


class TestBrokenOff:
    def test_the_calls_of_the_transcript_count_each_once(self, recorded: Recorded, home: Path) -> None:
        on_disk(home, AT - TURN, finished("m0", 9_000, 900))
        on_disk(home, AT + 1, finished("m1", 5_000, 4_010), finished("m1", 5_000, 4_010))
        on_disk(home, AT + 2, finished("m2", 100, 10), helper="a")
        recorded.turn(lines(init(), message("m1", 5_000), message("m1", 5_000)), "claude", home=home, at=AT)
        assert counted(recorded) == [("transcript", "m1", 9_010), ("transcript", "m2", 110)]
        total = recorded.table("model").total
        assert (total.usage.input_tokens, total.usage.output_tokens) == (5_100, 4_020)
        expected = pytest.approx((5_100 * 4 + 4_020 * 20) / 1e6)
        assert (total.cost.computed_usd, total.cost.mark) == (expected, "~")
        (turn,) = recorded.store.turns(ID.format(1))
        assert (turn.usage.total_tokens, turn.cost_usd, turn.cost_about_usd) == (9_120, None, expected)

    def test_a_message_that_only_the_stream_has_counts_as_it_began_and_something_is_missing(
        self, recorded: Recorded, home: Path
    ) -> None:
        on_disk(home, AT + 1, finished("m1", 5_000, 4_010), message("m2", 7_000, 1, stop_reason=None))
        recorded.turn(lines(init(), message("m1", 5_000), message("m2", 7_000)), "claude", home=home, at=AT)
        total = recorded.table("model").total
        assert (total.usage.total_tokens, total.cost.mark) == (16_011, "≥")
        assert [(row.group, row.cost.missing) for row in recorded.table("model").rows] == [(OPUS, 1)]

    def test_without_a_transcript_it_is_never_exact(self, recorded: Recorded, home: Path) -> None:
        recorded.turn(lines(init(), message("m1", 5_000)), "claude", home=home, at=AT)
        total = recorded.table().total
        assert (total.usage.total_tokens, total.cost.mark) == (5_001, "≥")
        session = recorded.store.session(ID.format(1))
        assert session is not None
        assert (session.cost_missing, session.tokens_missing) == (1, 1)

    def test_the_call_of_a_compaction_is_missing(self, recorded: Recorded, home: Path) -> None:
        boundary = {"type": "system", "subtype": "compact_boundary", "session_id": TALK, "compact_metadata": {}}
        on_disk(home, AT + 1, finished("m1", 5_000, 4_010))
        recorded.turn(lines(init(), boundary, message("m1", 5_000)), "claude", home=home, at=AT)
        assert (recorded.table().total.usage.total_tokens, recorded.table().total.cost.mark) == (9_010, "≥")

    def test_calls_after_the_last_result_count_too(self, recorded: Recorded, home: Path) -> None:
        on_disk(home, AT + 1, finished("m1", 1_000, 10), finished("m2", 5_000, 4_010))
        told = result(1_000, 10, models(1_000, 10, 0.0042))
        recorded.turn(lines(init(), message("m1", 1_000), told, message("m2", 5_000)), "claude", home=home, at=AT)
        total = recorded.table().total
        assert (total.usage.total_tokens, total.cost.mark) == (10_020, "~")
        assert total.cost.known_usd == pytest.approx((6_000 * 4 + 4_020 * 20) / 1e6)

    def test_results_with_more_than_the_transcript_count_with_something_missing(
        self, recorded: Recorded, home: Path
    ) -> None:
        told = result(1_000, 10, models(90_000, 900, 0.5))
        recorded.turn(lines(init(), message("m1", 1_000), told, message("m2", 5_000)), "claude", home=home, at=AT)
        total = recorded.table().total
        assert (total.usage.total_tokens, total.cost.known_usd, total.cost.mark) == (90_900, 0.5, "≥")

    def test_a_turn_with_its_result_does_not_read_the_transcript(self, recorded: Recorded, home: Path) -> None:
        on_disk(home, AT + 1, finished("m1", 5_000, 4_010))
        told = result(1_000, 10, models(1_000, 10, 0.0042))
        recorded.turn(lines(init(), message("m1", 1_000), told), "claude", home=home, at=AT)
        assert counted(recorded) == [("models", OPUS, 1_010)]


class TestRunningTotals:
    def test_a_resumed_turn_of_2_1_197_with_a_sub_agent_keeps_the_turn_before(self, recorded: Recorded) -> None:
        told = []
        for name in ("claude-plain.jsonl", "claude-subagent.jsonl"):
            events = [json.loads(line) for line in (CAPTURES / name).read_bytes().splitlines()]
            told.append(events[-1])
            recorded.turn(lines(*(event | {"session_id": TALK} for event in events)), "claude")
        tokens = [
            sum(sum(one[key] for key in one if key.endswith("Tokens") and key != "maxOutputTokens") for one in used)
            for used in (event["modelUsage"].values() for event in told)
        ]
        turns = recorded.store.turns(ID.format(1))
        assert [turn.usage.total_tokens for turn in turns] == tokens
        costs = [event["total_cost_usd"] for event in told]
        assert [turn.cost_usd for turn in turns] == [pytest.approx(cost) for cost in costs]

    @pytest.mark.parametrize("transport", ["", "stream-json"])
    def test_a_process_goes_on_with_the_total_in_the_transcript(
        self, recorded: Recorded, home: Path, transport: str
    ) -> None:
        resume = ("--resume", TALK)
        first = models(1_000, 10, 0.1)
        recorded.turn(lines(init(), result(1_000, 10, first)), "claude", transport, home=home, at=AT)
        on_disk(home, AT + 5, {"type": "user"}, cost_state(first))
        # The process is killed: its total, of 9,000 and 90, is not written.
        recorded.turn(
            lines(init(), message("m", 9_000), result(8_000, 80, models(9_000, 90, 0.9))),
            "claude", transport, home=home, at=AT + TURN, argv=resume,
        )  # fmt: skip
        on_disk(home, AT + TURN, {"type": "user"})
        third = models(21_000, 210, 2.1)  # 20,000 and 200 of its own; the results have 15,000: a sub-agent has the rest
        recorded.turn(
            lines(init(), result(15_000, 150, third)),
            "claude", transport, home=home, at=AT + 2 * TURN, argv=resume,
        )  # fmt: skip
        on_disk(home, AT + 2 * TURN, {"type": "user"}, cost_state(third))
        turns = recorded.store.turns(ID.format(1))
        assert [turn.usage.total_tokens for turn in turns] == [1_010, 8_080, 20_200]
        assert [turn.cost_usd for turn in turns] == [pytest.approx(cost) for cost in (0.1, 0.8, 2.0)]

    @pytest.mark.parametrize("version", [OLD, NEW, None])
    def test_the_turns_of_one_process_are_subtracted(self, recorded: Recorded, version: str | None) -> None:
        begin = init() if version is None else init(version)
        if version is None:
            del begin["claude_code_version"]
        for number, own in enumerate((50_000, 1_000), 1):
            total = models(50_000 if number == 1 else 51_000, 10 * number, 0.5 * number)
            recorded.turn(lines(begin, result(own, 10, total)), "claude", "stream-json", stream=1)
        turns = recorded.store.turns(ID.format(1))
        assert [turn.usage.total_tokens for turn in turns] == [50_010, 1_010]
        assert [turn.cost_usd for turn in turns] == [0.5, 0.5]

    def test_the_version_decides_what_a_total_counts(self) -> None:
        for version, counts in [
            ("1.0.128", "process"), (OLD, "process"), ("2.1.198", None), ("2.1.329", None), (NEW, "conversation"),
            ("2.2.0", "conversation"), ("", None), (None, None), ("next", None), ("9" * 5_000, None),
        ]:  # fmt: skip
            assert counted_by(version) == counts, str(version)[:20]

    def test_the_total_before_a_process_is_the_last_one_written_before_it(self, home: Path) -> None:
        on_disk(home, AT - TURN, {"type": "user"}, cost_state(models(1, 1)), cost_state(models(2, 2)))
        on_disk(home, AT, {"type": "user"}, cost_state(models(3, 3)))
        (before,) = total_before(home, ("claude", "--resume", TALK), AT) or []
        assert (before.key, before.usage.input_tokens) == (OPUS, 2)
        assert total_before(home, ("claude", f"--resume={TALK}"), AT) == [before]
        assert total_before(home, ("claude", "--session-id", TALK), AT) == []
        assert total_before(home, ("claude", "--continue"), AT) is None
        assert total_before(home, ("claude", "--resume", "unknown"), AT) is None
        assert total_before(home, ("claude", "--resume"), AT) is None


class TestPrices:
    def test_a_model_whose_cost_claude_does_not_report_gets_that_of_the_list(self, recorded: Recorded) -> None:
        recorded.turn(lines(init(), result(1_000, 10, models(1_000, 10))), "claude")
        total = recorded.table().total
        assert (total.cost.computed_usd, total.cost.missing) == (pytest.approx((1_000 * 4 + 10 * 20) / 1e6), 0)
        (row,) = recorded.store.database.rows("SELECT source, price, price_as_of FROM reports WHERE counted")
        assert (row["source"], json.loads(row["price"])["input"], row["price_as_of"]) == ("models", 4.0, AS_OF)

    def test_reported_and_computed_models_add_up(self, recorded: Recorded) -> None:
        total = models(1_000, 10, 0.5) | models(2_000, 20, model="claude-haiku-4-5")
        recorded.turn(lines(init(), result(3_000, 30, total)), "claude")
        (turn,) = recorded.store.turns(ID.format(1))
        assert (turn.cost_usd, turn.cost_about_usd) == (0.5, pytest.approx((2_000 * 1 + 20 * 5) / 1e6))

    def test_a_model_without_any_price_stays_unknown(self, recorded: Recorded) -> None:
        recorded.turn(lines(init(), result(1_000, 10, models(1_000, 10, model="own-model"))), "claude")
        assert recorded.table().total.cost.mark == "?"

    def test_a_turns_own_sum_that_counts_keeps_its_price(self, recorded: Recorded) -> None:
        recorded.turn(lines(init(), message("m1", 1_000)), "claude")
        (row,) = recorded.store.database.rows("SELECT source, price, price_as_of FROM reports WHERE counted")
        assert (row["source"], json.loads(row["price"])["output"], row["price_as_of"]) == ("record", 20.0, AS_OF)


class TestRepeatedTotals:
    """A live codex repeats the last total during a turn, before the call of a compaction has ended."""

    @staticmethod
    def stream(*totals: tuple[int, int], thread: str = "T") -> list[bytes]:
        used = [
            {
                "method": "thread/tokenUsage/updated",
                "params": {
                    "threadId": thread,
                    "tokenUsage": {
                        "total": {"inputTokens": total, "outputTokens": 10},
                        "last": {"inputTokens": last, "outputTokens": 0},
                    },
                },
            }
            for total, last in totals
        ]
        turn = {"threadId": thread, "turn": {"id": "t", "status": "completed"}}
        return lines({"method": "turn/started", "params": turn}, *used, {"method": "turn/completed", "params": turn})

    def test_a_total_of_the_turn_before_of_the_process_is_no_call(self, recorded: Recorded) -> None:
        recorded.turn(self.stream((5_000, 5_000), (12_000, 7_000)), "codex", "app-server")
        recorded.turn(self.stream((12_000, 7_000), (13_000, 1_000), (13_000, 777)), "codex", "app-server", stream=1)
        turns = recorded.store.turns(ID.format(1))
        assert [turn.usage.input_tokens for turn in turns] == [12_000, 1_000]
        assert recorded.table().total.usage.input_tokens == 13_000

    def test_the_same_total_of_another_conversation_is_a_call(self, recorded: Recorded) -> None:
        recorded.turn(self.stream((5_000, 5_000)), "codex", "app-server")
        recorded.turn(self.stream((5_000, 5_000), thread="U"), "codex", "app-server")
        assert recorded.table().total.usage.input_tokens == 10_000


class TestStoppedCodex:
    """A live codex that was killed during its second call, of which nothing is recorded."""

    @pytest.fixture
    def stopped(self, recorded: Recorded, tmp_path: Path) -> Callable[[str], tuple[Session, Turn]]:
        def stop(model: str) -> tuple[Session, Turn]:
            transcript = Transcript(tmp_path)
            transcript.model(model)
            transcript.add("event_msg", {"type": "task_started", "turn_id": "t"})
            transcript.add("token_usage_record", {"turn_id": "t", "usage": {"input_tokens": 1200, "output_tokens": 20}})
            transcript.count(input_tokens=1200, output_tokens=20)
            launch = Launch(argv=("codex",), transport="app-server")
            opened = {"id": 2, "result": {"thread": {"id": THREAD}, "model": model}}
            began = {"method": "turn/started", "params": {"threadId": THREAD, "turn": {"id": "t"}}}
            meter = Codex.use.meter(launch, {"CODEX_HOME": str(tmp_path)}, BORN)
            recorded.turn(lines(opened, began), "codex", transport="app-server", at=BORN, meter=meter)
            session = recorded.store.session(ID.format(1))
            assert session is not None
            return session, recorded.store.turns(session.id)[0]

        return stop

    @pytest.mark.parametrize(("model", "cost"), [("gpt-5.5", "≥$0.0066"), ("no-price", "?")])
    def test_its_figures_are_a_lower_bound_in_each_place(
        self, recorded: Recorded, stopped: Callable[[str], tuple[Session, Turn]], model: str, cost: str
    ) -> None:
        session, turn = stopped(model)
        assert (session_tokens(session), cost_words(session_cost(session))) == ("≥1.2k", cost)
        assert (turn.usage.total_tokens, turn.tokens_missing, turn.cost_missing) == (1220, True, True)
        total = recorded.table("model").total
        assert (tokens_words(total.usage.total_tokens, total.tokens_missing), cost_words(total.cost)) == ("≥1.2k", cost)
        (line,) = (line for line in session_card(session, [turn], [], Style()) if "turn 1" in line)
        assert f"≥1.2k tok  {cost}" in line
        shown = digest_lines(digest_of(session, [turn], lambda _: iter(()), whole=True))
        assert "≥1,220 tokens" in shown[0]


@pytest.mark.parametrize("transport", ["", "stream-json"])
@pytest.mark.parametrize(
    "odd",
    [
        {"usage": "x"},
        {"usage": "x", "modelUsage": {}},
        {"usage": {"input_tokens": "x", "output_tokens": 5}, "modelUsage": {}},
        {"modelUsage": "x"},
        {"modelUsage": {OPUS: {"inputTokens": "x", "outputTokens": 5, "costUSD": 0.5}}},
        {"modelUsage": {OPUS: {"inputTokens": 10, "outputTokens": 5, "costUSD": "x"}}},
        {"total_cost_usd": "x"},
    ],
)
def test_an_odd_field_of_a_result_costs_that_field_alone(
    recorded: Recorded, odd: dict[str, Any], transport: str
) -> None:
    ended = result(10, 5, models(10, 5, 0.5)) | {"total_cost_usd": 0.5} | odd
    recorded.turn(lines(init(), message("m1", 10, 5), ended), "claude", transport=transport)
    (turn,) = recorded.store.turns(ID.format(1))
    assert (turn.usage.input_tokens, turn.usage.output_tokens) == (10, 5)
    assert (turn.cost_usd, turn.cost_missing) == (0.5, False)


@pytest.mark.parametrize("odd", [{"usage": "x"}, {"usage": {"input_tokens": 10, "output_tokens": "x"}}])
def test_the_step_of_an_odd_result_keeps_the_cost(odd: dict[str, Any]) -> None:
    parser = Claude().parser(1, "stream-json")
    steps = [
        step
        for line in lines(init(), message("m1", 10, 1), result(10, 5, models(10, 5, 0.5)) | odd)
        for step in parser.feed(line)
    ]
    assert [step.cost_usd for step in steps if step.kind is StepKind.USAGE] == [0.5]
