"""The stream of a live codex (codex-cli 0.169.0) as steps, on its real output."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from unit.sessions.agents.live_captures import NAMES, lines_of, read

from agentdash.sessions.agents.codex.adapter import Codex
from agentdash.sessions.agents.codex.app_server.parser import TAIL, AppServerParser
from agentdash.sessions.model.session import Change, PlanItem, Step, StepKind, StepStatus
from agentdash.sessions.rules.costs.pricing import Pricing
from agentdash.sessions.rules.costs.reports import Reported
from agentdash.sessions.rules.json_schema import step_json


def fed(*messages: dict[str, Any], parser: AppServerParser | None = None) -> list[Step]:
    parser = parser or AppServerParser()
    return [step for message in messages for step in parser.feed(json.dumps(message).encode(), 5)]


def note(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": {"threadId": "T"} | params}


def item(phase: str, kind: str, **fields: Any) -> dict[str, Any]:
    return note(f"item/{phase}", turnId="t", item={"type": kind, "id": "i"} | fields)


def began(turn: str = "t", **params: Any) -> dict[str, Any]:
    return note("turn/started", turn={"id": turn, "rootTurnId": turn, "status": "inProgress"}, **params)


def ended(status: str = "completed", turn: str = "t", **fields: Any) -> dict[str, Any]:
    return note("turn/completed", turn={"id": turn, "status": status} | fields)


def test_every_line_is_known_and_every_step_can_be_printed() -> None:
    for name in NAMES:
        parser, steps = read(name)
        assert (parser.facts.unknown_kinds, parser.facts.unreadable, parser.facts.stray) == ({}, {}, []), name
        assert parser.facts.lines == len(lines_of(name)), name
        assert StepKind.UNKNOWN not in {step.kind for step in steps}, name
        assert [step.index for step in steps] == list(range(len(steps))), name
        for step in steps:
            msgspec.json.encode(step_json(step))


def test_a_parser_that_goes_on_from_a_checkpoint_makes_the_same_steps() -> None:
    for name in NAMES:
        lines, whole = lines_of(name), AppServerParser()
        expected = [whole.feed(line, 3) for line in lines]
        for cut in range(0, len(lines), max(1, len(lines) // 5)):
            first, second = AppServerParser(), AppServerParser()
            for line in lines[:cut]:
                first.feed(line, 3)
            saved = first.checkpoint()
            assert saved is not None, name
            second.resume(saved)
            assert [second.feed(line, 3) for line in lines[cut:]] == expected[cut:], name


ANSWER = {"content": [], "structured_content": {"rows": 2}}
IN_BOTH = [
    ("agent_message", "agentMessage", {"text": "hello"}),
    ("command_execution", "commandExecution", {
        "command": "/bin/bash -lc 'make test'", "aggregated_output": "out", "exit_code": 2, "status": "completed",
    }),
    ("mcp_tool_call", "mcpToolCall", {
        "server": "docs", "tool": "search", "arguments": {"q": 1}, "result": ANSWER, "status": "completed",
    }),
    ("mcp_tool_call", "mcpToolCall", {"server": "docs", "tool": "search", "error": {"message": "gone"}}),
    ("collab_tool_call", "collabAgentToolCall", {
        "tool": "spawn_agent", "receiver_thread_ids": ["t-2"], "prompt": "look", "agents_states": {"t-2": "done"},
    }),
    ("web_search", "webSearch", {"query": "weather", "action": {"type": "search"}}),
]  # fmt: skip


def in_camel_case(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    words = {name: name.split("_") for name in value}
    return {
        first + "".join(map(str.capitalize, rest)): in_camel_case(value[name]) for name, (first, *rest) in words.items()
    }


@pytest.mark.parametrize(("tag", "camel", "fields"), IN_BOTH)
def test_an_item_is_the_same_step_from_both_programs(tag: str, camel: str, fields: dict[str, Any]) -> None:
    line = {"type": "item.completed", "item": {"type": tag, "id": "i"} | fields}
    [of_exec] = Codex().parser().feed(json.dumps(line).encode(), 5)
    [of_server] = fed(began(), item("completed", camel, **in_camel_case(fields)))
    assert of_exec.kind is not StepKind.UNKNOWN
    assert structs.replace(of_server, ended_at=None) == structs.replace(of_exec, ended_at=None)


def test_the_transport_of_a_launch_chooses_the_parser() -> None:
    assert isinstance(Codex().parser(1, "app-server"), AppServerParser)
    assert not isinstance(Codex().parser(), AppServerParser)


def test_a_turn_begins_with_the_conversation_and_its_model() -> None:
    parser, steps = read("codex-interrupt.jsonl")
    start = next(step for step in steps if step.kind is StepKind.START)
    assert (start.agent_session, start.model) == ("01a20197-e539-7e71-b16b-d8269840e165", "gpt-5.5")
    assert (parser.facts.agent_session, parser.facts.model) == (start.agent_session, "gpt-5.5")


def test_a_command_has_its_exit_code_output_and_own_times() -> None:
    steps = read("codex-work.jsonl", until=b'"turn/completed"')[1]
    command = next(step for step in steps if step.kind is StepKind.COMMAND)
    assert (command.command, command.exit_code, command.status, command.output) == (
        "echo to-stdout; echo to-stderr >&2; exit 7", 7, StepStatus.FAILED, "to-stdout\nto-stderr\n",
    )  # fmt: skip
    assert (command.at, command.ended_at) == (1795416965323, 1795416965324)


def test_file_changes_have_their_diffs() -> None:
    changes = [step.changes for step in read("codex-work.jsonl")[1] if step.kind is StepKind.FILE_CHANGE]
    path = "/home/dev/project/src/app.py"
    assert changes == [
        (Change(path=path, kind="add", diff="@@ -0,0 +1,2 @@\n+def main():\n+    return 1", added=2, removed=0),),
        (
            Change(
                path=path, kind="update", added=1, removed=1,
                diff="@@ -1,2 +1,2 @@\n def main():\n-    return 1\n+return 2\n",
            ),
        ),
    ]  # fmt: skip


def test_a_moved_file_has_its_new_path_and_no_words_in_its_diff() -> None:
    update = {"type": "update", "move_path": "/p/new"}
    change = {"path": "/p/old", "kind": update, "diff": "@@ -1 +1 @@\n-a\n+b\n\n\nMoved to: /p/new"}
    (step,) = fed(item("completed", "fileChange", changes=[change], status="completed"))
    assert step.changes == (
        Change(path="/p/old", kind="update", diff="@@ -1 +1 @@\n-a\n+b\n", added=1, removed=1, moved_to="/p/new"),
    )


def test_the_plan_is_one_step_that_changes() -> None:
    plans = [step for step in read("codex-work.jsonl")[1] if step.kind is StepKind.PLAN]
    assert [plan.text for plan in plans] == ["3 of 3 done"]
    lines = [line for line in lines_of("codex-work.jsonl") if b"turn/plan/updated" in line]
    (first,) = AppServerParser().feed(lines[0])
    assert first.items[:2] == (
        PlanItem(text="Read the code", status="in_progress"),
        PlanItem(text="Write the test", status="pending"),
    )


def test_a_failed_turn_has_its_reason_once_and_its_retries_as_notices() -> None:
    parser, steps = read("codex-steers.jsonl", until=b'"turn/completed"')
    assert parser.facts.end == "failed"
    assert (parser.facts.error or "").startswith("stream disconnected before completion")
    assert [step.text for step in steps if step.fatal] == [parser.facts.error]
    retries = [step.text for step in steps if step.event == "error"]
    assert [text.partition(":")[0] for text in retries] == [
        "Reconnecting... 1/2", "Reconnecting... 1/2", "Reconnecting... 2/2",
    ]  # fmt: skip


def test_the_json_of_a_server_is_no_reason() -> None:
    lines = lines_of("codex-work.jsonl")
    failed = [line for line in lines if b'"turn/completed"' in line and b'"failed"' in line]
    reasons = []
    for line in failed:
        parser = AppServerParser()
        parser.feed(line)
        reasons.append(parser.facts.error)
    assert "Invalid request: scripted." in reasons
    assert not any((reason or "{").startswith("{") for reason in reasons)


def test_a_completed_turn_has_no_error_and_its_tokens() -> None:
    parser, steps = read("codex-interrupt.jsonl")
    assert (parser.facts.end, parser.facts.error) == ("completed", None)
    usages = [step for step in steps if step.kind is StepKind.USAGE]
    assert [(step.usage and step.usage.total_tokens, step.whole_thread) for step in usages] == [
        (1222, True), (2453, True),
    ]  # fmt: skip


def test_tokens_are_known_while_the_turn_runs_and_those_of_earlier_turns_are_not_counted() -> None:
    parser = read("codex-resume.jsonl", until=b'"turn/started"')[0]
    assert (parser.facts.usage.total_tokens, parser.facts.thread_usage.total_tokens) == (None, 19099)
    parser = read("codex-resume.jsonl")[0]
    assert (parser.facts.usage.total_tokens, parser.facts.thread_usage.total_tokens) == (2023, 21122)


def test_an_interrupted_turn_says_so_and_leaves_nothing_running() -> None:
    parser, steps = read("codex-interrupt.jsonl", until=b'"interrupted"')
    assert (parser.facts.end, parser.facts.error) == ("failed", "the turn was interrupted")
    command = next(step for step in steps if step.kind is StepKind.COMMAND)
    assert (command.command, command.status) == ("sleep 600", StepStatus.INTERRUPTED)
    assert parser.close(1) == []


def test_a_command_that_outlived_its_turn_is_a_notice_of_the_next() -> None:
    lines = lines_of("codex-interrupt.jsonl")
    end = next(n for n, line in enumerate(lines) if b'"interrupted"' in line)
    parser = AppServerParser(2)
    steps = [step for line in lines[end + 1 :] for step in parser.feed(line, 7)]
    assert [step.text for step in steps if step.kind is StepKind.NOTICE] == [
        "a command of an earlier turn ended: sleep 600"
    ]
    assert (parser.facts.end, parser.facts.agent_session) == ("completed", "01a20197-e539-7e71-b16b-d8269840e165")


def test_output_is_shown_while_a_command_runs_and_only_its_end_is_kept() -> None:
    parser = AppServerParser()
    fed(began(), item("started", "commandExecution", command="yes", status="inProgress"), parser=parser)
    delta = note("item/commandExecution/outputDelta", turnId="t", itemId="i", delta="x" * 5000)
    (step,) = fed(delta, parser=parser)
    assert (step.status, step.output) == (StepStatus.RUNNING, "x" * 5000)
    (step,) = fed(delta | {"params": delta["params"] | {"delta": "y" * 5000}}, parser=parser)
    assert (step.index, step.output) == (0, "x" * (TAIL - 5000) + "y" * 5000)
    end = item("completed", "commandExecution", command="yes", status="completed", exitCode=0, aggregatedOutput="whole")
    (step,) = fed(end, parser=parser)
    assert (step.index, step.output, step.status) == (0, "whole", StepStatus.OK)


def test_a_command_without_a_whole_output_keeps_the_end_that_was_seen() -> None:
    messages = (
        began(),
        item("started", "commandExecution", command="yes", status="inProgress"),
        note("item/commandExecution/outputDelta", turnId="t", itemId="i", delta="seen"),
        item("completed", "commandExecution", command="yes", status="failed", exitCode=-1, aggregatedOutput=None),
    )
    assert fed(*messages)[-1].output == "seen"


def test_only_a_prompt_into_a_running_turn_is_a_step() -> None:
    prompts = [step for step in read("codex-steers.jsonl")[1] if step.kind is StepKind.PROMPT]
    assert [(step.text, step.call_id) for step in prompts] == [("steered into failing", "b")]


def test_a_question_waits_until_it_is_resolved() -> None:
    parser = read("codex-asks.jsonl", until=b"requestApproval")[0]
    assert parser.facts.waiting == "asks to run: touch asked.txt && echo ran-it"
    assert read("codex-asks.jsonl", until=b"serverRequest/resolved")[0].facts.waiting is None
    assert read("codex-asks.jsonl")[0].facts.waiting is None
    parser = read("codex-asks.jsonl", until=b"fileChange/requestApproval")[0]
    assert parser.facts.waiting == "asks to edit /home/dev/project/src/app.py"
    parser = read("codex-request-user-input.jsonl", until=b"item/tool/requestUserInput")[0]
    assert parser.facts.waiting == "asks: Which colour?"


def test_an_unknown_request_waits_and_is_shown() -> None:
    parser = AppServerParser()
    (step,) = fed({"method": "item/tool/call", "id": 4, "params": {"threadId": "T"}}, parser=parser)
    assert (step.kind, step.event) == (StepKind.UNKNOWN, "item/tool/call")
    assert parser.facts.waiting == "asks to use item/tool/call, which agentdash does not support"
    fed(note("serverRequest/resolved", requestId=4), parser=parser)
    assert parser.facts.waiting is None


def test_a_command_that_an_answer_denied_is_declined_and_not_counted() -> None:
    parser, steps = read("codex-asks.jsonl")
    assert [step.status for step in steps if step.kind is StepKind.COMMAND] == [
        StepStatus.OK, StepStatus.DECLINED, StepStatus.OK, StepStatus.OK,
    ]  # fmt: skip
    assert (parser.facts.denied, parser.facts.denied_names) == (0, [])


def test_a_step_waits_until_the_answer_and_lasts_from_it() -> None:
    parser, forms = AppServerParser(), list[Step]()
    for second, line in enumerate(lines_of("codex-asks.jsonl")):
        forms += parser.feed(line, 1_795_417_000_000 + second * 1000)
    acts = [step for step in forms if step.kind in (StepKind.COMMAND, StepKind.FILE_CHANGE)]
    assert [step.status for step in acts if step.index == 1] == [
        StepStatus.RUNNING, StepStatus.WAITING, StepStatus.RUNNING, StepStatus.OK,
    ]  # fmt: skip
    assert sum(step.status is StepStatus.WAITING for step in acts) == 4
    for ended_step in (step for step in acts if step.asked_at is not None and step.ended_at is not None):
        assert ended_step.began_at == ended_step.decided_at == ended_step.asked_at + 1000
    waits = note("item/commandExecution/requestApproval", threadId="T", itemId="c", command="touch x") | {"id": 7}
    command = {"type": "commandExecution", "id": "c", "command": "touch x", "status": "inProgress"}
    parser = AppServerParser()
    fed(note("item/started", item=command), waits, parser=parser)
    (left,) = parser.close(9)
    assert (left.status, left.began_at) == (StepStatus.INTERRUPTED, None)  # it never began


def test_a_command_that_codex_declined_without_a_question_counts_as_denied() -> None:
    command = {"type": "commandExecution", "id": "c", "command": "touch x", "status": "inProgress"}
    parser = AppServerParser()
    fed(note("item/started", item=command), parser=parser)
    fed(note("item/completed", item=command | {"status": "declined"}), parser=parser)
    assert (parser.facts.denied, parser.facts.denied_names) == (1, ["touch"])


def test_a_refused_thread_has_its_reason() -> None:
    parser, steps = read("codex-second-writer.jsonl")
    assert "already has an active writer" in (parser.facts.error or "")
    assert [step.text for step in steps if step.fatal] == [parser.facts.error]


def test_a_sub_agent_neither_begins_nor_ends_the_turn_and_its_steps_name_its_call() -> None:
    spawned = item("completed", "collabAgentToolCall", id="c", tool="spawnAgent", receiverThreadIds=["H"], prompt="go")
    child = {"threadId": "H", "turnId": "h"}
    parser = AppServerParser()
    messages = (
        began(),
        spawned,
        {"method": "turn/started", "params": child | {"turn": {"id": "h", "rootTurnId": "t"}}},
        {"method": "item/completed", "params": child | {"item": {"type": "agentMessage", "id": "m", "text": "hi"}}},
        {"method": "turn/completed", "params": child | {"turn": {"id": "h", "status": "completed"}}},
    )
    steps = fed(*messages, parser=parser)
    assert [(step.kind, step.parent) for step in steps] == [(StepKind.SUBAGENT, None), (StepKind.MESSAGE, "c")]
    assert (parser.facts.end, parser.facts.last_message) == (None, None)
    fed(ended(), parser=parser)
    assert parser.facts.end == "completed"


def test_tools_searches_and_thoughts_are_steps() -> None:
    answer = {"content": [{"type": "text", "text": "42"}], "structuredContent": None}
    call = item("completed", "mcpToolCall", server="s", tool="t", arguments={"a": 1}, result=answer, status="completed")
    search = item("completed", "webSearch", query="q", action={"type": "search"})
    thought = item("completed", "reasoning", summary=["one", "two"], content=[])
    steps = fed(began(), call, search, thought)
    assert [(step.kind, step.text) for step in steps] == [
        (StepKind.TOOL_CALL, "s.t"), (StepKind.WEB_SEARCH, "q"), (StepKind.REASONING, "one\n\ntwo"),
    ]  # fmt: skip
    assert (steps[0].arguments, steps[0].output, steps[0].status) == ({"a": 1}, "42", StepStatus.OK)


def test_an_unknown_item_and_an_unknown_notification_are_shown() -> None:
    steps = fed(item("completed", "hologram"), note("thread/hologram"))
    assert [(step.kind, step.event) for step in steps] == [
        (StepKind.UNKNOWN, "item/completed hologram"), (StepKind.UNKNOWN, "thread/hologram"),
    ]  # fmt: skip


def test_a_changed_field_costs_that_field_and_never_the_end() -> None:
    parser = AppServerParser()
    command = item("completed", "commandExecution", command="ls", exitCode="0", durationMs=[], status="completed")
    steps = fed(began(startedAtMs="soon"), command, ended(error=7, durationMs={}), parser=parser)
    assert next(step for step in steps if step.kind is StepKind.COMMAND).exit_code == 0
    assert parser.facts.end == "completed"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
SHAPES = [line for name in NAMES for line in lines_of(name)]


@given(st.lists(st.binary(max_size=200), max_size=8))
def test_any_bytes_never_crash(lines: list[bytes]) -> None:
    parser = AppServerParser()
    for line in lines:
        parser.feed(line, 1)
    assert parser.checkpoint() is not None


@given(st.data())
def test_any_json_in_any_field_never_crashes(data: st.DataObject) -> None:
    parser = AppServerParser()
    for _ in range(4):
        message = json.loads(data.draw(st.sampled_from(SHAPES)))
        place = message
        while isinstance(place, dict) and place:
            key = data.draw(st.sampled_from(sorted(place)))
            if not isinstance(place[key], dict) or data.draw(st.booleans()):
                place[key] = data.draw(JSON)
                break
            place = place[key]
        for step in parser.feed(json.dumps(message).encode(), 1):
            msgspec.json.encode(step_json(step))
        assert parser.checkpoint() is not None


@given(st.integers(0, len(SHAPES) - 1), st.integers(0, 400))
def test_a_broken_line_hides_no_other(number: int, cut: int) -> None:
    parser = AppServerParser()
    parser.feed(SHAPES[number][:cut], 1)
    fed(began(), ended(), parser=parser)
    assert parser.facts.end == "completed" or parser.state.turn not in (None, "t")


def used(total: int, last: int, *, estimate: bool = False) -> dict[str, Any]:
    """A report of tokens; codex' estimate after a compaction has no tokens of a call."""

    def tokens(sum_of_all: int, given: int) -> dict[str, int]:
        return {"totalTokens": sum_of_all, "inputTokens": given, "outputTokens": 0}

    usage = {"total": tokens(total, total), "last": tokens(last, 0 if estimate else last)}
    return note("thread/tokenUsage/updated", turnId="t", tokenUsage=usage)


@pytest.mark.parametrize(
    ("begun", "between", "expected"),
    [
        ([used(100, 90)], [used(100, 90), used(150, 50), used(150, 30, estimate=True)], (90, 30)),
        ([used(100, 90)], [used(150, 50)], (90, None)),
        ([used(100, 90)], [], (90, None)),
        ([], [used(150, 30, estimate=True)], (None, None)),
    ],
)
def test_a_compaction_has_the_tokens_before_it_and_the_estimate_after_it(
    begun: list[Any], between: list[Any], expected: tuple[int | None, int | None]
) -> None:
    parser = AppServerParser()
    parser.facts.reported = Reported(Pricing({}))
    compaction = [item(phase, "contextCompaction") for phase in ("started", "completed")]
    fed(began(), *begun, compaction[0], *between, compaction[1], parser=parser)
    (compacted,) = parser.facts.reported.compactions()
    assert (compacted.tokens_before, compacted.tokens_after) == expected


def test_a_compaction_that_was_asked_for_has_the_tokens_with_which_its_turn_began() -> None:
    parser = AppServerParser()
    parser.facts.reported, parser.facts.context_before = Reported(Pricing({})), 70
    fed(began(), *(item(phase, "contextCompaction") for phase in ("started", "completed")), parser=parser)
    (compacted,) = parser.facts.reported.compactions()
    assert compacted.tokens_before == 70


def test_the_compaction_of_a_real_stream_has_the_tokens_before_and_after() -> None:
    parser = AppServerParser()
    parser.facts.reported = Reported(Pricing({}))
    for line in lines_of("codex-fork-revert-compact.jsonl"):
        parser.feed(line)
    (compacted,) = parser.facts.reported.compactions()
    assert (compacted.tokens_before, compacted.tokens_after) == (1230, 6861)
