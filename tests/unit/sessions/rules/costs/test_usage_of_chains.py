"""The use of several turns: of one process, resumed, forked, compacted, failed, killed; all kinds of tokens.

The expected figures are read here from the raw lines with nothing but ``json``.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from places import CAPTURES
from recorded_use import ID, Recorded

from agentdash.sessions.rules.launch import Fork

Kinds = tuple[int, int, int, int]
"""Input, cached input, written input and output."""

NOTHING: Kinds = (0, 0, 0, 0)


@pytest.fixture
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Recorded]:
    """Makes a store for each capture."""
    return lambda: Recorded(tmp_path_factory.mktemp("use"))


@pytest.fixture
def recorded(fresh: Callable[[], Recorded]) -> Recorded:
    return fresh()


def lines_of(name: str) -> list[tuple[bytes, dict[str, Any]]]:
    found = []
    for line in (CAPTURES / name).read_bytes().split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        found.append((line, value if isinstance(value, dict) else {}))
    return found


def turns_of(name: str) -> list[list[bytes]]:
    """The lines of each turn of a process without those of threads that codex forked inside it, as no session does."""
    turns: list[list[bytes]] = [[]]
    ended, thread = False, None
    for line, value in lines_of(name):
        own = (value.get("params") or {}).get("threadId")
        thread = thread or own
        if own != thread and own is not None:
            continue
        if ended:
            turns.append([])
        turns[-1].append(line)
        ended = value.get("type") == "result" or value.get("method") == "turn/completed"
    return turns


def plus(*all_kinds: Kinds) -> Kinds:
    return tuple(sum(column) for column in zip(NOTHING, *all_kinds, strict=True))  # type: ignore[return-value]


def minus(total: Kinds, part: Kinds) -> Kinds:
    return tuple(a - b for a, b in zip(total, part, strict=True))  # type: ignore[return-value]


def claude_models(name: str) -> dict[str, Kinds]:
    """The last running totals of a capture; claude counts the three kinds of input apart."""
    last: dict[str, Any] = {}
    for _, one in lines_of(name):
        last = one["modelUsage"] if one.get("type") == "result" else last
    found = {}
    for model, used in last.items():
        cached, written = used["cacheReadInputTokens"], used["cacheCreationInputTokens"]
        found[model] = (used["inputTokens"] + cached + written, cached, written, used["outputTokens"])
    return {model: kinds for model, kinds in found.items() if any(kinds)}


def codex_calls(name: str) -> Kinds:
    """The sum of the calls of an app-server's first thread: its totals that differ from the one before."""
    thread, started, before, calls = None, False, None, []
    for _, one in lines_of(name):
        params = one.get("params") or {}
        if one.get("method") == "turn/started":
            thread, started = thread or params["threadId"], True
        if one.get("method") == "thread/tokenUsage/updated" and params["threadId"] in (thread, None):
            total, last = params["tokenUsage"]["total"], params["tokenUsage"]["last"]
            if total != before and started:
                cached, written = last["cachedInputTokens"], last["cacheWriteInputTokens"]
                calls.append((last["inputTokens"], cached, written, last["outputTokens"]))
            before = total
    return plus(*calls)


def counted(recorded: Recorded, session: str | None = None) -> Kinds:
    table = recorded.table("session")
    rows = [row for row in table.rows if session is None or row.group == session]
    return plus(*(kinds_of(row.usage) for row in rows))


def kinds_of(usage: Any) -> Kinds:
    return (
        usage.input_tokens or 0,
        usage.cached_input_tokens or 0,
        usage.cache_write_tokens or 0,
        usage.output_tokens or 0,
    )


def is_live(path: Path) -> bool:
    return ".in." not in path.name


LIVE_CLAUDE = sorted(
    str(path.relative_to(CAPTURES))
    for folder in ("live", "chains")
    for path in CAPTURES.glob(f"{folder}/claude-*.jsonl")
    if is_live(path) and path.read_bytes().count(b'"type":"result"') > 1
)
LIVE_CODEX = sorted(
    str(path.relative_to(CAPTURES))
    for path in CAPTURES.glob("app-server/codex-*.jsonl")
    if is_live(path) and path.read_bytes().count(b'"thread/tokenUsage/updated"') > 1
)


def test_there_are_processes_of_several_turns_of_each_agent() -> None:
    assert {name.split("-")[1] for name in LIVE_CLAUDE} == {"197", "330"}
    assert {name.split("/")[1].removesuffix(".jsonl") for name in LIVE_CLAUDE} >= {
        "claude-197-compact", "claude-330-compact", "claude-197-rewind-base", "claude-330-rewind-base",
    }  # fmt: skip
    assert len(LIVE_CLAUDE) > 10
    assert len(LIVE_CODEX) > 5


def test_the_turns_of_a_live_claude_add_up_to_its_running_total(fresh: Callable[[], Recorded]) -> None:
    for name in LIVE_CLAUDE:
        recorded = fresh()
        for number, lines in enumerate(turns_of(name)):
            recorded.turn(lines, "claude", "stream-json", stream=1 if number else None)
        models = {row.group: kinds_of(row.usage) for row in recorded.table("model").rows}
        assert {model: kinds for model, kinds in models.items() if any(kinds)} == claude_models(name), name


def test_the_turns_of_a_live_codex_add_up_to_the_calls_of_its_thread(fresh: Callable[[], Recorded]) -> None:
    for name in LIVE_CODEX:
        recorded = fresh()
        for number, lines in enumerate(turns_of(name)):
            recorded.turn(lines, "codex", "app-server", stream=1 if number else None)
        assert counted(recorded) == codex_calls(name), name
        assert kinds_of(recorded.store.session(ID.format(1)).usage) == codex_calls(name), name  # type: ignore[union-attr]


@pytest.mark.parametrize("version", ["197", "330"])
def test_a_compaction_of_a_live_claude_counts_once_and_is_recorded(recorded: Recorded, version: str) -> None:
    name = f"{'live' if version == '330' else 'chains'}/claude-{version}-compact.jsonl"
    for number, lines in enumerate(turns_of(name)):
        recorded.turn(lines, "claude", "stream-json", stream=1 if number else None)
    found = recorded.store.database.rows("SELECT trigger, tokens_before FROM compactions ORDER BY turn, n")
    boundaries = [one["compact_metadata"] for _, one in lines_of(name) if one.get("subtype") == "compact_boundary"]
    assert [tuple(row) for row in found] == [(one["trigger"], one["pre_tokens"]) for one in boundaries]
    assert counted(recorded) == plus(*claude_models(name).values())


@pytest.mark.parametrize("version", ["197", "330"])
def test_a_fork_of_claude_counts_its_own_part(recorded: Recorded, version: str) -> None:
    """2.1.330 begins with the total of the conversation that it copies, 2.1.197 at 0."""
    base, fork = (f"chains/claude-{version}-{part}.jsonl" for part in ("rewind-base", "fork"))
    for number, lines in enumerate(turns_of(base)):
        recorded.turn(lines, "claude", "stream-json", stream=1 if number else None)
    with recorded.store.database.transaction() as db:
        db.execute("UPDATE sessions SET ended_at = 1, warm_since = NULL")
    conversation = recorded.store.session(ID.format(1)).agent_session  # type: ignore[union-attr]
    forked = {"fork": Fork(session=ID.format(1), turn=3), "conversation": conversation}
    recorded.turn(turns_of(fork)[0], "claude", "stream-json", session=ID.format(2), forked=forked)
    of_base, total = (plus(*claude_models(name).values()) for name in (base, fork))
    expected = minus(total, of_base) if version == "330" else total
    assert counted(recorded, ID.format(1)) == of_base
    assert counted(recorded, ID.format(2)) == expected == (1200, 0, 0, 28)


RESUMES = ["codex-resume-1", "codex-resume-2", "codex-resume-3-danger", "codex-resume-4", "codex-resume-last"]


def codex_thread(name: str) -> Kinds:
    (used,) = (one["usage"] for _, one in lines_of(f"{name}.jsonl") if one.get("type") == "turn.completed")
    return tuple(  # type: ignore[return-value]
        used[key] for key in ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
    )


def test_a_chain_of_resumes_and_a_fork_of_codex_add_up_to_their_threads(recorded: Recorded) -> None:
    for name in RESUMES:
        recorded.turn((CAPTURES / f"{name}.jsonl").read_bytes(), "codex")
        assert counted(recorded) == codex_thread(name)
    conversation = recorded.store.session(ID.format(1)).agent_session  # type: ignore[union-attr]
    forked = {"fork": Fork(session=ID.format(1), turn=len(RESUMES)), "conversation": conversation}
    recorded.turn((CAPTURES / "codex-fork.jsonl").read_bytes(), "codex", session=ID.format(2), forked=forked)
    assert counted(recorded) == codex_thread("codex-fork")
    assert counted(recorded, ID.format(2)) == minus(codex_thread("codex-fork"), codex_thread(RESUMES[-1]))


def test_a_resume_of_codex_behind_a_failed_turn_does_not_count_its_calls_again(recorded: Recorded) -> None:
    """codex exec reports no tokens of a turn that fails; the runner reads them from codex's transcript."""
    recorded.turn((CAPTURES / "codex-resume-1.jsonl").read_bytes(), "codex")
    first = codex_thread("codex-resume-1")
    with recorded.store.database.transaction() as db:
        db.execute("UPDATE sessions SET status = 'failed'")
    lines = (CAPTURES / "codex-resume-2.jsonl").read_bytes().split(b"\n")
    recorded.turn([line for line in lines if b"turn.completed" not in line], "codex")
    with recorded.store.database.transaction() as db:
        used = (
            '{"input_tokens":300,"cached_input_tokens":0,"cache_write_tokens":0,"output_tokens":4,"total_tokens":304}'
        )
        db.execute("UPDATE turns SET usage = ? WHERE n = 2", (used,))
    recorded.turn((CAPTURES / "codex-resume-2.jsonl").read_bytes(), "codex")
    (turn,) = recorded.store.turns(ID.format(1), 3)
    assert kinds_of(turn.usage) == minus(minus(codex_thread("codex-resume-2"), first), (300, 0, 0, 4))


def without(mark: bytes, pattern: str) -> list[str]:
    paths = [path for path in sorted(CAPTURES.glob(pattern)) if is_live(path) and path.stat().st_size]
    return [str(path.relative_to(CAPTURES)) for path in paths if mark not in path.read_bytes()]


BROKEN = [
    *(("codex", "", name) for name in without(b'"turn.completed"', "codex-*.jsonl")),
    *(("codex", "app-server", name) for name in without(b"tokenUsage/updated", "app-server/codex-*.jsonl")),
]


def test_a_turn_of_codex_that_failed_or_was_killed_is_unknown_and_not_zero(fresh: Callable[[], Recorded]) -> None:
    for agent, transport, name in BROKEN:
        recorded = fresh()
        recorded.turn((CAPTURES / name).read_bytes(), agent, transport)
        total = recorded.table("day").total
        assert not total.usage.known, name
        assert (total.cost.known_usd, total.cost.missing) == (None, 1), name


KILLED = without(b'"type":"result"', "claude-*.jsonl")


def test_a_killed_claude_counts_each_message_once_or_is_unknown(fresh: Callable[[], Recorded]) -> None:
    for name in KILLED:
        recorded = fresh()
        recorded.turn((CAPTURES / name).read_bytes(), "claude")
        messages: dict[str, Kinds] = {}
        for _, one in lines_of(name):
            used = one.get("message", {}).get("usage") if one.get("type") == "assistant" else None
            if used and one["message"]["model"] != "<synthetic>":
                cached, written = used["cache_read_input_tokens"], used["cache_creation_input_tokens"]
                messages[one["message"]["id"]] = (
                    used["input_tokens"] + cached + written, cached, written, used["output_tokens"],
                )  # fmt: skip
        total = recorded.table("day").total
        assert kinds_of(total.usage) == plus(*messages.values()), name
        assert total.usage.known is bool(messages), name


def test_there_are_captures_of_failures_and_kills() -> None:
    names = " ".join([*(name for *_, name in BROKEN), *KILLED])
    for part in ("codex-err400", "codex-drop", "codex-kill-kill", "app-server/codex-kill-mid-turn", "claude-kill-kill"):
        assert part in names


def test_a_resumed_claude_whose_first_call_fails_costs_nothing_again(recorded: Recorded) -> None:
    """2.1.330 repeats the conversation's totals when it fails before its first call."""
    name = "chains/claude-330-fork.jsonl"
    recorded.turn(turns_of(name)[0], "claude")
    (cost,) = (one["total_cost_usd"] for _, one in lines_of(name) if one.get("type") == "result")
    failed = [
        value | {"is_error": True, "stop_reason": None, "usage": dict.fromkeys(value["usage"], 0)}
        for _, value in lines_of(name)
        if value.get("type") == "result"
    ]
    recorded.turn([line for line, value in lines_of(name) if value.get("subtype") == "init"]
                  + [json.dumps(value).encode() for value in failed], "claude")  # fmt: skip
    total = recorded.table("day").total
    assert total.cost.known_usd == pytest.approx(cost)
    assert kinds_of(total.usage) == plus(*claude_models(name).values())
