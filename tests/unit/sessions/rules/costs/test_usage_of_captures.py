"""The use in the database equals the raw figures of the captures, read here with nothing but ``json``."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded_use import ID, Recorded

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.rules.launch import Launch, Start

CAPTURES = Path(__file__).parents[4] / "captures"


@pytest.fixture
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Recorded]:
    """Makes a store for each capture."""
    return lambda: Recorded(tmp_path_factory.mktemp("use"))


@pytest.fixture
def recorded(fresh: Callable[[], Recorded]) -> Recorded:
    return fresh()


def raw(name: str) -> list[dict[str, object]]:
    """The JSON objects of a capture."""
    found = []
    for line in (CAPTURES / name).read_bytes().splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return [one for one in found if isinstance(one, dict)]


def claude_models(name: str) -> Counter[str]:
    """The tokens of each model in the last result of a capture."""
    results = [one for one in raw(name) if one.get("type") == "result"]
    used = results[-1].get("modelUsage") if results else None
    return Counter(
        {
            model: sum(
                figures[part]
                for part in ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
            )
            for model, figures in (used or {}).items()  # type: ignore[attr-defined]
        }
    )


CLAUDE = sorted(
    str(path.relative_to(CAPTURES))
    for path in [*CAPTURES.glob("claude-*.jsonl"), *CAPTURES.glob("live/claude-*.jsonl")]
    if b'"modelUsage"' in path.read_bytes() and ".in." not in path.name
)
CODEX = sorted(path.name for path in CAPTURES.glob("codex-*.jsonl") if b'"turn.completed"' in path.read_bytes())
APP_SERVER = sorted(
    path.name
    for path in CAPTURES.glob("app-server/codex-*.jsonl")
    if b"thread/tokenUsage/updated" in path.read_bytes() and ".in." not in path.name
)


def test_there_are_captures_of_every_kind() -> None:
    assert len(CLAUDE) > 50
    assert len(CODEX) > 5
    assert len(APP_SERVER) > 3


def test_claudes_use_is_that_of_its_models(fresh: Callable[[], Recorded]) -> None:
    for name in CLAUDE:
        recorded = fresh()
        live = name.startswith("live/") or "stdin" in name
        recorded.turn((CAPTURES / name).read_bytes(), "claude", "stream-json" if live else "")
        expected = claude_models(name)
        rows = {row.group: row.usage.total_tokens for row in recorded.table("model").rows if row.usage.total_tokens}
        assert rows == {model: tokens for model, tokens in expected.items() if tokens}, name
        results = [one for one in raw(name) if one.get("type") == "result"]
        assert recorded.table().total.cost.known_usd == pytest.approx(results[-1]["total_cost_usd"]), name
        assert recorded.table().total.cost.missing == 0, name


def test_codexs_use_is_the_total_of_its_thread(fresh: Callable[[], Recorded]) -> None:
    for name in CODEX:
        recorded = fresh()
        recorded.turn((CAPTURES / name).read_bytes(), "codex")
        usage = [one["usage"] for one in raw(name) if one.get("type") == "turn.completed"][-1]
        total = recorded.table("day").total
        assert (total.usage.input_tokens, total.usage.output_tokens) == (
            usage["input_tokens"],  # type: ignore[index]
            usage["output_tokens"],  # type: ignore[index]
        ), name
        assert total.cost.known_usd is None, name
        assert total.cost.mark == "?", name


def test_a_live_codexs_calls_add_up_to_its_thread(fresh: Callable[[], Recorded]) -> None:
    for name in APP_SERVER:
        recorded = fresh()
        recorded.turn((CAPTURES / "app-server" / name).read_bytes(), "codex", "app-server")
        last: dict[str, tuple[int, int]] = {}
        sums: Counter[str] = Counter()
        thread, running, before = None, False, None
        for one in raw(f"app-server/{name}"):
            params = one.get("params") if isinstance(one.get("params"), dict) else {}
            assert isinstance(params, dict), name
            if one.get("method") == "turn/started":
                thread, running = thread or params["threadId"], True
            if one.get("method") == "thread/tokenUsage/updated" and running and params["threadId"] == thread:
                usage = params["tokenUsage"]
                total = (usage["total"]["inputTokens"], usage["total"]["outputTokens"])
                if total != before:
                    sums["input"] += usage["last"]["inputTokens"]
                    sums["output"] += usage["last"]["outputTokens"]
                before = last["total"] = total
        row = recorded.table().total
        assert (row.usage.input_tokens or 0, row.usage.output_tokens or 0) == (sums["input"], sums["output"]), name


@pytest.mark.parametrize(
    ("name", "used"), [("codex-resume.jsonl", (2000, 23)), ("codex-native-queue-restart2.jsonl", (2400, 54))]
)
def test_a_live_codex_counts_nothing_that_its_thread_used_elsewhere(
    recorded: Recorded, name: str, used: tuple[int, int]
) -> None:
    recorded.turn((CAPTURES / "app-server" / name).read_bytes(), "codex", "app-server")
    usage = recorded.store.session(ID.format(1)).usage  # type: ignore[union-attr]
    assert (usage.input_tokens, usage.output_tokens) == used
    assert recorded.table().total.usage == usage


def test_a_resumed_turn_of_codex_counts_only_its_own_part(recorded: Recorded) -> None:
    for number in (1, 2):
        recorded.turn((CAPTURES / f"codex-resume-{number}.jsonl").read_bytes(), "codex")
    usage = raw("codex-resume-2.jsonl")[-1]["usage"]
    assert recorded.table().total.usage.input_tokens == usage["input_tokens"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("names", "models"),
    [
        (("claude-330-tasks.jsonl", "claude-330-tasks-resumed.jsonl"), "claude-330-tasks-resumed.jsonl"),
        (("claude-resume-1.jsonl", "claude-resume-2.jsonl"), None),
    ],
    ids=["a total of the conversation (2.1.330)", "a total of the process (2.1.197)"],
)
def test_a_resumed_turn_of_claude_counts_once(recorded: Recorded, names: tuple[str, ...], models: str | None) -> None:
    for name in names:
        recorded.turn((CAPTURES / name).read_bytes(), "claude")
    each = [claude_models(name) for name in names]
    expected = claude_models(models).total() if models else sum(one.total() for one in each)
    assert recorded.table().total.usage.total_tokens == expected
    costs = [[one for one in raw(name) if one.get("type") == "result"][-1]["total_cost_usd"] for name in names]
    cost = costs[-1] if models else sum(costs)  # type: ignore[arg-type]
    assert recorded.table().total.cost.reported_usd == pytest.approx(cost)


def test_two_models_give_two_rows_and_one_session(recorded: Recorded) -> None:
    figures = {"inputTokens": 100, "outputTokens": 7, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 20}
    models = {"claude-opus-5-5": figures | {"costUSD": 0.3}, "claude-haiku-5-5": figures | {"costUSD": 0.01}}
    result = {
        "type": "result", "subtype": "success", "is_error": False, "stop_reason": "end_turn", "modelUsage": models,
        "usage": {"input_tokens": 100, "output_tokens": 7, "cache_creation_input_tokens": 20}, "total_cost_usd": 0.31,
    }  # fmt: skip
    recorded.turn(json.dumps(result).encode(), "claude")
    table = recorded.table("model")
    assert [(row.group, row.usage.total_tokens, row.cost.reported_usd) for row in table.rows] == [
        ("claude-opus-5-5", 127, 0.3),
        ("claude-haiku-5-5", 127, 0.01),
    ]
    assert table.total.sessions == 1
    assert table.total.usage.cache_write_tokens == 40
    assert recorded.store.session(ID.format(1)).usage.total_tokens == 254  # type: ignore[union-attr]


def test_a_turn_whose_use_is_not_known_is_missing_and_never_zero(recorded: Recorded) -> None:
    recorded.turn(b'{"type":"thread.started","thread_id":"t"}\n{"type":"turn.started"}', "codex")
    total = recorded.table("agent").total
    assert (total.usage.total_tokens, total.cost.known_usd, total.cost.missing) == (None, None, 1)


def test_a_turn_of_unknown_use_has_its_own_model_if_another_is_chosen_while_it_runs(recorded: Recorded) -> None:
    lines = [
        b'{"id":2,"result":{"thread":{"id":"0190f7a2-0000-7000-8000-000000000001"},"model":"gpt-5.5"}}',
        b'{"method":"turn/started","params":{"threadId":"0190f7a2-0000-7000-8000-000000000001","turn":{"id":"t"}}}',
        b'{"method":"thread/settings/updated","params":{"threadId":"0190f7a2-0000-7000-8000-000000000001","threadSettings":{"model":"gpt-5.4"}}}',
    ]
    recorded.turn(lines, "codex", "app-server")
    assert [(row.group, row.cost.missing) for row in recorded.table("model").rows] == [("gpt-5.5", 1)]
    assert recorded.store.session(ID.format(1)).model == "gpt-5.4"  # type: ignore[union-attr]


UNREADABLE = [900_000_000_000_000, -100, "many"]


def marks(recorded: Recorded) -> tuple[int | None, int, int]:
    """The input of the session, and the numbers of its turns without a cost and without tokens."""
    session = recorded.store.session(ID.format(1))
    assert session is not None
    return session.usage.input_tokens, session.cost_missing, session.tokens_missing


@pytest.mark.parametrize("number", UNREADABLE)
def test_a_call_of_a_live_codex_with_an_unreadable_number_has_no_cost(recorded: Recorded, number: object) -> None:
    used = {name: {"inputTokens": number, "outputTokens": 30} for name in ("total", "last")}
    lines = [
        {"id": 2, "result": {"thread": {"id": "T"}, "model": "gpt-5.5"}},
        {"method": "turn/started", "params": {"threadId": "T", "turn": {"id": "t"}}},
        {"method": "thread/tokenUsage/updated", "params": {"threadId": "T", "tokenUsage": used}},
    ]
    recorded.turn([json.dumps(line).encode() for line in lines], "codex", "app-server")
    assert marks(recorded) == (None, 1, 1)


@pytest.mark.parametrize("number", UNREADABLE)
@pytest.mark.parametrize("field", ["inputTokens", "cacheReadInputTokens"])
def test_a_result_of_claude_with_an_unreadable_number_is_marked(recorded: Recorded, number: object, field: str) -> None:
    models = {"claude-opus-4-8": {"inputTokens": 5, "outputTokens": 30, field: number}}
    lines = [{"type": "result", "subtype": "success", "stop_reason": "end_turn", "modelUsage": models}]
    recorded.turn([json.dumps(line).encode() for line in lines], "claude")
    assert marks(recorded) == (None, 1, 1)


def test_the_use_of_a_deleted_session_stays_and_comes_back_once(recorded: Recorded) -> None:
    recorded.turn((CAPTURES / "claude-330-plain.jsonl").read_bytes(), "claude")
    before = recorded.table("agent")
    with recorded.store.database.transaction() as db:
        db.execute("DELETE FROM sessions")
    after = recorded.table("agent")
    assert after == before
    assert recorded.table("session").rows[0].label == "do it"
    recorded.turns.clear()
    recorded.turn((CAPTURES / "claude-330-plain.jsonl").read_bytes(), "claude")
    assert recorded.table("model").total == before.total


def test_what_a_runner_of_an_earlier_version_writes_counts(recorded: Recorded) -> None:
    launch = Launch(argv=("codex",))
    recorded.store.create(Start("x", agent="codex", cwd="/p", session_id=ID.format(2)), launch, "run", host="h")
    with recorded.store.database.transaction() as db:
        db.execute(
            "UPDATE turns SET usage = ?, cost_about_usd = 0.25, started_at = 1, ended_at = 1790000000000",
            ('{"input_tokens":10,"cached_input_tokens":4,"output_tokens":5,"total_tokens":15}',),
        )
    total = recorded.table("day").total
    assert (total.usage.total_tokens, total.usage.cache_write_tokens, total.cost.computed_usd) == (15, None, 0.25)


def test_compactions_are_recorded_once(recorded: Recorded) -> None:
    lines = (CAPTURES / "live/claude-330-compact.jsonl").read_bytes()
    recorded.turn(lines, "claude", "stream-json")
    expected = [one["compact_metadata"] for one in raw("live/claude-330-compact.jsonl") if "compact_metadata" in one]
    rows = recorded.store.database.rows("SELECT trigger, tokens_before, tokens_after FROM compactions ORDER BY n")
    assert [tuple(row) for row in rows] == [
        (one.get("trigger"), one.get("pre_tokens"), one.get("post_tokens"))  # type: ignore[attr-defined]
        for one in expected
    ]
    assert rows
    found = recorded.store.compactions_of(ID.format(1))
    parser = agent_named("claude").parser(1, "stream-json")
    steps = [step for line in lines.splitlines() for step in parser.feed(line, 1)]
    boundaries = [step.index + 1 for step in steps if getattr(step, "event", None) == "compact_boundary"]
    assert [one.step for one in found] == boundaries  # a recorded turn has its prompt before the steps of the parser
