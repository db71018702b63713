"""The captured final events with each of their fields removed, renamed and retyped: the turn ends as before.

Only ``type`` and, of claude's result, ``is_error``, ``subtype`` and ``stop_reason`` decide; what happens without them
is stated below, case by case.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from places import CAPTURES

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Status, Step, StepKind
from agentdash.sessions.rules.json_schema import step_json
from agentdash.sessions.rules.status import EndFacts, Verdict, at_the_end
from agentdash.sessions.rules.turn_facts import Facts

FINAL = {"turn.completed", "turn.failed", "result"}
DECIDING = {"codex": {"type"}, "claude": {"type", "is_error", "subtype", "stop_reason"}}
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 1.0, 1.5, 10**23, -(10**400), float("nan"), float("inf"), "", "x", "1", "a\ud83d",
    "\0", [], [1], ["x", None], [[]], [{}], {}, {"message": 5}, {"of": {"tomorrow": [1]}},
]  # fmt: skip


def final_events() -> dict[str, tuple[str, dict[str, Any], int]]:
    """One captured event of each sort with its agent and exit code, by the name of the capture."""
    found: dict[tuple[Any, ...], tuple[str, tuple[str, dict[str, Any], int]]] = {}
    for path in sorted(CAPTURES.glob("*.jsonl")):
        events = [json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()]
        meta = path.with_name(f"{path.stem}.meta.json")
        code = json.loads(meta.read_text())["exit"] if meta.exists() else 0
        for event in [event for event in events if event["type"] in FINAL][-1:]:
            sort = (event["type"], *(event.get(name) for name in ("subtype", "is_error", "stop_reason")), sorted(event))
            found.setdefault(tuple(map(str, sort)), (path.stem, (path.stem.partition("-")[0], event, code)))
    return dict(found.values())


EVENTS = final_events()


def ended(agent: str, event: Any, exit_code: int = 0) -> tuple[Verdict, Facts, list[Step]]:
    """The verdict on a turn whose last line is this event."""
    adapter = agent_named(agent)
    parser = adapter.parser()
    steps = parser.feed(json.dumps(event).encode())
    for step in steps:
        json.dumps(step_json(step), ensure_ascii=False).encode()
    facts = parser.facts
    succeeded = adapter.succeeded(facts, exit_code)
    return at_the_end(EndFacts(facts=facts, succeeded=succeeded, exit_code=exit_code)), facts, steps


def changed(event: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str, Any]]:
    """Every field with what becomes of the event if it is removed, renamed, or has a value of another type."""
    names = list(event) if isinstance(event, dict) else range(len(event)) if isinstance(event, list) else []
    for name in names:
        rest = {key: value for key, value in event.items() if key != name} if isinstance(event, dict) else None
        if rest is not None:
            yield (*path, name), "removed", rest
            yield (*path, name), "renamed", rest | {f"{name}_of_tomorrow": event[name]}
        for value in VALUES:
            copy = event.copy()
            copy[name] = value
            yield (*path, name), f"{value!r}"[:20], copy
        for inner, how, other in changed(event[name], (*path, name)):
            copy = event.copy()
            copy[name] = other
            yield inner, how, copy


def test_there_are_events_of_each_sort() -> None:
    sorts = {(event["type"], event.get("subtype"), event.get("is_error")) for _, event, _ in EVENTS.values()}
    assert sorts >= {
        ("turn.completed", None, None), ("turn.failed", None, None), ("result", "success", False),
        ("result", "success", True), ("result", "error_during_execution", True),
    }  # fmt: skip


def test_no_other_field_changes_how_the_turn_ended() -> None:
    for name, (agent, event, code) in EVENTS.items():
        before, facts, _ = ended(agent, event, code)
        assert before.status is (Status.DONE if code == 0 and facts.end == "completed" else Status.FAILED), name
        for path, how, other in changed(event):
            if path[0] in DECIDING[agent] and len(path) == 1:
                continue
            verdict, now, _ = ended(agent, other, code)
            assert (verdict.status, verdict.rule) == (before.status, before.rule), (name, path, how)
            assert now.end == facts.end, (name, path, how)
            assert now.unknown == 0, (name, path, how)
            assert "without a final event" not in (verdict.reason or ""), (name, path, how)


def test_without_its_type_it_is_no_event_and_nothing_is_green() -> None:
    failed = Status.FAILED, "ended without a final event (exit 0)"
    for name, (agent, event, _) in EVENTS.items():
        bare = {key: found for key, found in event.items() if key != "type"}
        for value in [*VALUES, "missing"]:
            verdict, facts, (step,) = ended(agent, bare if value == "missing" else bare | {"type": value})
            assert (verdict.status, verdict.reason) == failed, (name, value)
            assert (step.kind, facts.end, facts.unknown) == (StepKind.UNKNOWN, None, 1), (name, value)


GOOD = {"type": "result", "subtype": "success", "is_error": False, "result": "Hi.", "stop_reason": "end_turn"}
GONE = object()
CUT = "the answer was cut off"
UNREADABLE = "could not be read"


def test_what_decides_the_end_of_a_claude_turn_is_never_guessed() -> None:
    for field, value, reason in [
        ("is_error", GONE, None), ("is_error", None, None), ("is_error", False, None), ("is_error", 0, None),
        ("is_error", "false", None), ("is_error", "False", None), ("is_error", "0", None),
        ("is_error", True, "Hi."), ("is_error", 1, "Hi."), ("is_error", "true", "Hi."), ("is_error", "1", "Hi."),
        ("is_error", 2, UNREADABLE), ("is_error", "no", UNREADABLE), ("is_error", {"code": 5}, UNREADABLE),
        ("is_error", [], UNREADABLE), ("is_error", 1.5, UNREADABLE), ("is_error", "", UNREADABLE),
        ("is_error", 1.0, "Hi."), ("is_error", 0.0, None),
        ("subtype", GONE, None), ("subtype", None, None), ("subtype", "success", None), ("subtype", "", None),
        ("subtype", "error_max_turns", "Hi."),
        ("subtype", "of_tomorrow", "the result is neither success nor an error: of_tomorrow"),
        ("subtype", 5, UNREADABLE), ("subtype", ["success"], UNREADABLE), ("subtype", {}, UNREADABLE),
        ("stop_reason", "stop_sequence", None), ("stop_reason", "tool_use", None), ("stop_reason", "of_tomorrow", None),
        ("stop_reason", GONE, CUT), ("stop_reason", None, CUT), ("stop_reason", "", CUT),
        ("stop_reason", "max_tokens", CUT), ("stop_reason", "model_context_window_exceeded", CUT),
        ("stop_reason", "refusal", "the model refused to answer"),
        ("stop_reason", "pause_turn", "the model paused"), ("stop_reason", "compaction", "the model paused"),
        ("stop_reason", 5, UNREADABLE), ("stop_reason", [], UNREADABLE),
        ("stop_reason", {"type": "end_turn"}, UNREADABLE),
    ]:  # fmt: skip
        event = {key: found for key, found in GOOD.items() if key != field} | ({} if value is GONE else {field: value})
        verdict, _, steps = ended("claude", event)
        case, told = (field, value), verdict.reason or ""
        assert verdict.status is (Status.DONE if reason is None else Status.FAILED), case
        assert told.startswith(reason if reason not in (None, UNREADABLE) else ""), case
        assert (reason != UNREADABLE) or f"the result's {field} could not be read" in told, case
        fatal = [step.fatal for step in steps if step.kind is StepKind.ERROR]
        assert fatal == ([] if reason is None else [True]), case


def test_a_result_that_neither_calls_itself_good_nor_bad_is_no_good_end() -> None:
    verdict, _, _ = ended("claude", {"type": "result", "result": "Hi.", "stop_reason": "end_turn"})
    assert (verdict.status, verdict.reason) == (Status.FAILED, "the result does not report success or failure")


def test_tokens_are_read_one_by_one() -> None:
    for usage, tokens, unread in [
        ({"input_tokens": 1.0, "output_tokens": "2"}, (1, 2), []),
        ({"input_tokens": "1", "output_tokens": 2}, (1, 2), []),
        ({"input_tokens": -1, "output_tokens": 2}, (None, 2), ["usage.input_tokens"]),
        ({"input_tokens": [], "output_tokens": 2}, (None, 2), ["usage.input_tokens"]),
        ({"input_tokens": 10**23, "output_tokens": 2}, (None, 2), ["usage.input_tokens"]),
        ({"input_tokens": float("nan"), "output_tokens": 2}, (None, 2), ["usage.input_tokens"]),
        ({"input_tokens": 1.5, "output_tokens": True}, (None, None), ["usage.input_tokens", "usage.output_tokens"]),
        ([], (None, None), ["usage"]),
        ("none", (None, None), ["usage"]),
        (None, (None, None), []),
    ]:  # fmt: skip
        verdict, facts, steps = ended("codex", {"type": "turn.completed", "usage": usage})
        assert (verdict.status, verdict.reason) == (Status.DONE, None), usage
        assert (facts.thread_usage.input_tokens, facts.thread_usage.output_tokens) == tokens, usage
        assert list(facts.unreadable) == [f"turn.completed: {name}" for name in unread], usage
        notices = [step.text for step in steps if step.kind is StepKind.NOTICE]
        assert len(notices) == bool(unread), usage
        assert all(name in notices[0] for name in unread), usage


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("no more tokens", "no more tokens"),
        ({"message": "no more tokens", "code": 5}, "no more tokens"),
        ({"message": {"of": "tomorrow"}}, '{"of":"tomorrow"}'),
        ({"message": '{"error":{"message":"half \\ud83d"}}'}, "half \ufffd"),
        ({"message": "cut \ud83d"}, "cut \ufffd"),
        (None, "exit 1"), ({}, "exit 1"), ([], "[]"), (7, "7"),
    ],
)  # fmt: skip
def test_a_failed_codex_turn_gives_the_words_of_its_error(error: Any, reason: str) -> None:
    verdict, _, _ = ended("codex", {"type": "turn.failed", "error": error}, 1)
    assert (verdict.status, verdict.reason) == (Status.FAILED, reason)


@pytest.mark.parametrize(
    ("own", "unread"),
    [
        ({"permission_denials": "x"}, ["permission_denials"]),
        ({"result": {"text": "Hi."}}, ["result"]),
        ({"result": 5}, ["result"]),
        ({"result": None}, []),
        ({"usage": 5, "total_cost_usd": "free"}, ["total_cost_usd", "usage"]),
        ({"total_cost_usd": -1, "errors": 5}, ["total_cost_usd"]),
        ({"permission_denials": [{"tool_name": 5}, {"tool_name": "Bash"}]}, ["permission_denials[].tool_name"]),
    ],
)
def test_a_side_field_of_a_claude_result_is_only_named(own: dict[str, Any], unread: list[str]) -> None:
    verdict, facts, _ = ended("claude", GOOD | own)
    assert verdict.status is Status.DONE
    assert list(facts.unreadable) == [f"result success: {name}" for name in unread]


def test_words_that_are_no_text_are_still_the_reason() -> None:
    verdict, facts, _ = ended("claude", GOOD | {"is_error": True, "result": {"code": 5}}, 1)
    assert verdict.reason == '{"code":5}'
    assert facts.unreadable == {"result success: result": 1}
    verdict, _, _ = ended("claude", {"type": "result", "subtype": "error_max_turns", "errors": "too many turns"}, 1)
    assert verdict.reason == "too many turns"


@pytest.mark.usefixtures("scripted_agent")
@pytest.mark.parametrize("agent", ["codex", "claude", "scripted"])
def test_an_unknown_event_hides_no_end(agent: str) -> None:
    good = {"codex": {"type": "turn.completed"}, "claude": GOOD, "scripted": {"type": "ended", "ok": True}}[agent]
    adapter = agent_named(agent)
    parser = adapter.parser()
    for event in ({"type": "of_tomorrow"}, good, {"type": "of_tomorrow"}, {"type": "system", "subtype": "x"}, 5):
        parser.feed(json.dumps(event).encode())
    parser.feed(b"plain text")
    parser.feed(b'{"type":"turn.fail')
    assert parser.facts.end == "completed"


@pytest.mark.usefixtures("scripted_agent")
@pytest.mark.parametrize(
    ("ok", "status"),
    [(True, Status.DONE), ("true", Status.DONE), (False, Status.FAILED), (None, Status.FAILED), ([], Status.FAILED)],
)
def test_the_scripted_agents_end_is_good_only_if_it_says_so(ok: Any, status: Status) -> None:
    event = {"type": "ended", "ok": ok, "input_tokens": -1, "cost_usd": "x", "error": None}
    assert ended("scripted", event)[0].status is status
