"""A line with an odd character, number or field is a step like any other, and the turn ends as its final event says."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentdash.sessions.agents.codex.rollout.own_files import Rollout
from agentdash.sessions.agents.formats import guess_agent
from agentdash.sessions.agents.parsing.parser import TurnParser
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Step, StepKind, StepStatus
from agentdash.sessions.rules.json_schema import step_json
from agentdash.sessions.transcript.search import holds
from agentdash.sessions.transcript.turn_file import StepFile

pytestmark = pytest.mark.usefixtures("scripted_agent")

ODD = {
    "a surrogate alone": (rb"a\ud83db", "a\ufffdb"),
    "the second half alone": (rb"a\ude00b", "a\ufffdb"),
    "an escaped backslash before what looks like one": (rb"a\\ud83db", "a\\ud83db"),
    "a whole pair": (rb"a\ud83d\ude00b", "a\U0001f600b"),
    "a byte that is no UTF-8": (b"a\xffb", "a\ufffdb"),
    "half of a character": (b"a\xf0\x9f\x98b", "a\ufffdb"),
    "a NUL as it is": (b"a\0b", "a\0b"),
    "an escaped NUL": (rb"a\u0000b", "a\0b"),
    "a line separator": ("a\u2028b".encode(), "a\u2028b"),
    "a control sequence": (b"a\x1b[31mb", "a\x1b[31mb"),
}
BESIDE = [b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e400", b"1" + b"0" * 400, b"18446744073709551616",
          b"[" * 3_000 + b"]" * 3_000, rb'"\ud83d"', b'"\xff"', b'"\0"', b"[]", b"{}"]  # fmt: skip
"""Values of a field that no rule names."""


def templates(agent: str) -> list[bytes]:
    """A short good turn; ``%%`` stands where a text does."""
    if agent == "codex":
        return [
            b'{"type":"thread.started","thread_id":"t"}',
            b'{"type":"item.completed","item":{"id":"0","type":"agent_message","text":"%%"}}',
            b'{"type":"item.started","item":{"id":"1","type":"command_execution","command":"%%"}}',
            (
                b'{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"%%",'
                b'"aggregated_output":"%%","exit_code":0,"status":"completed"}}'
            ),
            (
                b'{"type":"item.completed","item":{"id":"2","type":"mcp_tool_call","server":"s","tool":"t",'
                b'"arguments":{"a":"%%"},"result":{"content":[{"type":"text","text":"%%"}]},"status":"completed"}}'
            ),
            b'{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":2},"note":"%%"}',
        ]
    if agent == "claude":
        return [
            b'{"type":"system","subtype":"init","session_id":"s","model":"m"}',
            b'{"type":"assistant","message":{"content":[{"type":"text","text":"%%"}]}}',
            (
                b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Bash",'
                b'"input":{"command":"%%"}}]}}'
            ),
            (
                b'{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"%%"}]},'
                b'"tool_use_result":{"stdout":"%%"}}'
            ),
            (
                b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":"2","name":"Write",'
                b'"input":{"file_path":"/p/%%"}}]}}'
            ),
            (
                b'{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"2","content":"ok"}]},'
                b'"tool_use_result":{"type":"create","filePath":"/p/a","content":"%%\\n"}}'
            ),
            b'{"type":"result","subtype":"success","is_error":false,"result":"%%","stop_reason":"end_turn"}',
        ]
    return [
        b'{"type":"started","conversation":"c","model":"m"}',
        b'{"type":"message","text":"%%"}',
        b'{"type":"command.started","id":"1","command":"%%"}',
        b'{"type":"command.ended","id":"1","exit_code":0,"output":"%%"}',
        (
            b'{"type":"ended","ok":true,"input_tokens":1,"cached_input_tokens":0,"output_tokens":1,'
            b'"reasoning_output_tokens":0,"note":"%%"}'
        ),
    ]


def read(agent: str, lines: list[bytes]) -> tuple[TurnParser, list[Step]]:
    """The parser and its steps as they are shown; all of it can be encoded."""
    parser = agent_named(agent).parser()
    steps: dict[int, Step] = {}
    for line in lines:
        steps |= {step.index: step for step in parser.feed(line)}
        assert parser.checkpoint() is not None
    steps |= {step.index: step for step in parser.close()}
    for step in steps.values():
        json.dumps(step_json(step), ensure_ascii=False).encode()
        msgspec.json.encode(step)
    return parser, list(steps.values())


def test_an_odd_character_costs_no_line() -> None:
    for agent in ["codex", "claude", "scripted"]:
        kinds = [step.kind for step in read(agent, templates(agent))[1]]
        for odd, (printed, shown) in ODD.items():
            parser, steps = read(agent, [line.replace(b"%%", printed) for line in templates(agent)])
            facts = parser.facts
            assert (facts.unknown, facts.unreadable, facts.end) == (0, {}, "completed"), (agent, odd)
            assert [step.kind for step in steps] == kinds, (agent, odd)
            assert next(step.text for step in steps if step.kind is StepKind.MESSAGE) == shown, (agent, odd)
            command = next(step for step in steps if step.kind is StepKind.COMMAND)
            assert (command.command, command.output, command.status) == (shown, shown, StepStatus.OK), (agent, odd)
            for change in (change for step in steps for change in step.changes):
                assert change.diff == f"@@ -0,0 +1,1 @@\n+{shown}", (agent, odd)
            for step in steps:
                if step.kind is StepKind.TOOL_CALL:
                    assert (step.arguments, step.output) == ({"a": shown}, shown), (agent, odd)


def test_an_odd_value_beside_the_others_costs_nothing() -> None:
    for agent in ["codex", "claude", "scripted"]:
        plain = read(agent, templates(agent))[1]
        for value in BESIDE:
            lines = [line[:-1] + b',"of_tomorrow":' + value + b"}" for line in templates(agent)]
            parser, steps = read(agent, lines)
            assert steps == plain, (agent, value)
            assert (parser.facts.unreadable, parser.facts.end) == ({}, "completed"), (agent, value)


@pytest.mark.parametrize("agent", ["codex", "claude", "scripted"])
@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"\0\0", b"\xef\xbb\xbf\xef\xbb\xbf "])
def test_a_mark_before_a_line_is_no_part_of_it(agent: str, before: bytes) -> None:
    lines = [before + line for line in templates(agent)]
    assert read(agent, lines)[1] == read(agent, templates(agent))[1]
    if agent in ("codex", "claude"):
        assert guess_agent([before + templates("codex")[0]]) == "codex"


@pytest.mark.parametrize("value", [b"1" + b"0" * 400, b"1e400", b"18446744073709551616"])
def test_a_huge_number_among_the_arguments_costs_only_itself(value: bytes) -> None:
    block = b'{"type":"tool_use","id":"1","name":"Bash","input":{"command":"ls","n":' + value + b"}}"
    _, (step,) = read("claude", [b'{"type":"assistant","message":{"content":[' + block + b"]}}"])
    assert (step.kind, step.command) == (StepKind.COMMAND, "ls")


def test_a_file_with_odd_lines_reads_the_same_in_blocks_and_is_searched(tmp_path: Path) -> None:
    path = tmp_path / "turn_1.jsonl"
    lines = [line.replace(b"%%", printed) for printed, _ in ODD.values() for line in templates("claude")[1:-1]]
    path.write_bytes(b"\n".join([b"\xef\xbb\xbf" + templates("claude")[0], *lines, *templates("claude")[-1:]]))
    steps = list(StepFile(path).steps())
    assert StepKind.UNKNOWN not in {step.kind for step in steps}
    assert sum(holds(step, "a\ufffdb") for step in steps) >= 4


def test_a_transcript_of_codex_keeps_the_diff_of_an_odd_line(tmp_path: Path) -> None:
    change = {"type": "add", "content": "one\ntwo \ud83d\n"}
    item = {"type": "FileChange", "changes": {"/p/a": change}}
    payload = {"type": "item_completed", "item": item, "completed_at_ms": 5.0}
    path = tmp_path / "rollout.jsonl"
    path.write_text(json.dumps({"type": "event_msg", "payload": payload}) + "\n")
    (edit,) = Rollout(path).read_on()
    assert edit.at == 5
    assert [(found.path, found.diff) for found in edit.changes] == [("/p/a", "@@ -0,0 +1,2 @@\n+one\n+two \ufffd")]


CHANGED: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("codex", {"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": {"rich": "hi"}}},
     {"kind": StepKind.MESSAGE, "text": '{"rich":"hi"}'}, ""),
    ("codex", {"type": "item.completed", "item": {"id": 7, "type": "agent_message", "text": "hi"}},
     {"kind": StepKind.MESSAGE, "text": "hi", "call_id": "7"}, ""),
    ("codex", {"type": "item.completed", "item": {"type": "agent_message", "text": "hi"}},
     {"kind": StepKind.MESSAGE, "text": "hi", "call_id": None}, ""),
    ("codex", {"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": None}},
     {"kind": StepKind.MESSAGE, "text": ""}, ""),
    ("codex", {"type": "item.completed", "item": {"id": "1", "type": "command_execution", "command": "ls",
                                                  "aggregated_output": 5, "exit_code": "0", "status": 3}},
     {"kind": StepKind.COMMAND, "output": "5", "exit_code": 0, "status": StepStatus.OK},
     "item.completed command_execution: item.status"),
    ("codex", {"type": "item.completed", "item": {"id": "1", "type": "file_change", "changes": [1, {"path": "a"}]}},
     {"kind": StepKind.FILE_CHANGE, "text": "a"}, "item.completed file_change: item.changes[]"),
    ("codex", {"type": "thread.started", "thread_id": 7}, {"kind": StepKind.START, "agent_session": None},
     "thread.started: thread_id"),
    ("claude", {"type": "system", "subtype": "status", "status": 7, "permissionMode": "plan"},
     {"kind": StepKind.NOTICE, "text": "status: plan"}, "system status: status"),
    ("claude", {"type": "assistant", "message": {"content": {"type": "text", "text": "hi"}}},
     {"kind": StepKind.MESSAGE, "text": "hi"}, ""),
    ("claude", {"type": "assistant", "message": {"content": [{"type": "text", "text": "hi"}], "usage": "none"}},
     {"kind": StepKind.MESSAGE, "text": "hi"}, "assistant: message.usage"),
    ("claude", {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash", "input": "x"}]}},
     {"kind": StepKind.COMMAND, "call_id": None, "status": StepStatus.INTERRUPTED}, ""),
    ("claude", {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": 1, "content": [[]]}]}},
     {"kind": StepKind.TOOL_CALL, "text": "1", "output": "[[]]"}, ""),
    ("scripted", {"type": "file", "path": "a", "kind": "add", "diff": "x", "size": 1},
     {"kind": StepKind.FILE_CHANGE}, ""),
]  # fmt: skip


def test_a_changed_field_costs_that_field() -> None:
    for agent, event, expected, unreadable in CHANGED:
        parser, steps = read(agent, [json.dumps(event).encode()])
        assert {name: getattr(steps[0], name) for name in expected} == expected, event
        assert parser.facts.unreadable == ({unreadable: 1} if unreadable else {}), event
        assert parser.facts.unknown == 0, event
        notices = [step.text for step in steps[1:] if step.event == "unreadable"]
        assert len(notices) == bool(unreadable), event
        assert all(unreadable.rpartition(" ")[2] in text for text in notices), event


def test_a_field_that_is_odd_in_every_line_is_counted_and_named_once() -> None:
    line = b'{"type":"assistant","message":{"content":[{"type":"text","text":"hi"}],"usage":"none"}}'
    parser, steps = read("claude", [line] * 50)
    assert parser.facts.unreadable == {"assistant: message.usage": 50}
    assert [step.text for step in steps if step.kind is StepKind.NOTICE] == [
        'could not be read in assistant: message.usage = "none"'
    ]


@pytest.mark.parametrize(
    "value",
    [b"NaN", b"-Infinity", b"1e400", b"1" + b"0" * 40, b"18446744073709551616", b"[NaN,1e999]", b'{"a":NaN}', b'"NaN"'],
)
def test_a_field_that_could_not_be_read_is_shown_as_it_was_printed(value: bytes) -> None:
    line = b'{"type":"turn.completed","usage":{"input_tokens":%s,"output_tokens":2}}' % value
    _, steps = read("codex", [line])
    (text,) = [step.text for step in steps if step.event == "unreadable"]
    assert text == f"could not be read in turn.completed: usage.input_tokens = {value.decode()}"


def test_a_piece_of_an_unknown_type_is_shown_beside_those_that_are_known() -> None:
    content = [{"type": "text", "text": "hi"}, {"type": "of_tomorrow", "x": 1}]
    parser, steps = read("claude", [json.dumps({"type": "assistant", "message": {"content": content}}).encode()])
    assert [(step.kind, step.event) for step in steps] == [
        (StepKind.MESSAGE, None),
        (StepKind.UNKNOWN, "assistant of_tomorrow"),
    ]
    assert parser.facts.unknown_kinds == {"assistant of_tomorrow": 1}


def test_a_line_of_which_nothing_is_left_is_shown_as_it_is() -> None:
    parser, steps = read("claude", [b'{"type":"assistant","message":{"content":[],"usage":1}}'] * 2)
    assert [step.kind for step in steps] == [StepKind.UNKNOWN, StepKind.NOTICE, StepKind.UNKNOWN]
    assert parser.facts.unknown == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('{"type":"item.started","item":{"type":"command_execution","command":"a"}}',
         '{"type":"item.completed","item":{"type":"command_execution","command":"a","exit_code":1}}'),
        ('{"type":"item.started","item":{"type":"todo_list","items":[{"text":"x"}]}}',
         '{"type":"item.completed","item":{"type":"todo_list","items":[{"text":"x","completed":true}]}}'),
    ],
)  # fmt: skip
def test_the_end_of_an_item_without_an_id_finds_its_beginning(first: str, second: str) -> None:
    _, steps = read("codex", [first.encode(), second.encode()])
    assert len(steps) == 1
    assert steps[0].status in (StepStatus.FAILED, StepStatus.OK)


@pytest.mark.parametrize(("call", "answer"), [('"id":"1",', ""), ("", '"tool_use_id":"1",'), ("", "")])
def test_the_answer_to_a_call_finds_it_if_one_of_them_has_no_id(call: str, answer: str) -> None:
    called = f'{{"type":"assistant","message":{{"content":[{{"type":"tool_use",{call}"name":"Bash","input":{{}}}}]}}}}'
    block = f'{{"type":"tool_result",{answer}"content":"out"}}'
    _, steps = read("claude", [called.encode(), f'{{"type":"user","message":{{"content":[{block}]}}}}'.encode()])
    assert [(step.kind, step.output, step.status) for step in steps] == [(StepKind.COMMAND, "out", StepStatus.OK)]


def test_what_is_no_event_may_tell_why_a_start_failed() -> None:
    for agent in ["codex", "claude"]:
        for lines, reason in [
            ([b"Not logged in. Run codex login"], "Not logged in. Run codex login"),
            ([b"\x1b[31mNot logged in\x1b[0m\r"], "Not logged in"),
            ([b"Error: no key", b"usage: x", b"  -h"], "Error: no key"),
            ([b'{"error":{"message":"Invalid API key"}}'], "Invalid API key"),
            ([b'{"type":"of_tomorrow","error":"Invalid API key"}'], "Invalid API key"),
            ([b"starting", b"}", b"---", b"\xff"], "starting"),
            ([b'{"type":"turn.comp'], None),
            ([b'{"type":"of_tomorrow","text":"hi"}', b"42", b"[]"], None),
            ([b"x" * 5_000_000], "x" * 400),
            ([b"first", *[b"line %d" % n for n in range(5_000)], b"last"], "last"),
            ([], None),
        ]:
            parser, _ = read(agent, lines)
            assert len(parser.facts.stray) <= 20, (agent, str(lines)[:80])
            assert agent_named(agent).stderr_reason("\n".join(parser.facts.stray)) == reason, (agent, str(lines)[:80])


@pytest.mark.parametrize(
    ("line", "kind", "event"),
    [
        (rb'{"type":"log","text":"a\ud83d"}', StepKind.UNKNOWN, "log"),
        (b'{"type":"log","n":NaN}', StepKind.UNKNOWN, "log"),
        (b"{ no event", StepKind.MESSAGE, None),
    ],
)
def test_an_event_of_a_plain_command_may_be_odd_too(line: bytes, kind: StepKind, event: str | None) -> None:
    _, (step,) = read("command", [line])
    assert (step.kind, step.event) == (kind, event)


def test_words_of_an_agent_are_no_stray_lines() -> None:
    for agent in ("codex", "claude", "scripted"):
        parser, _ = read(agent, templates(agent))
        assert parser.facts.stray == []


def test_a_codex_command_that_is_completed_with_an_exit_code_failed() -> None:
    item = {"id": "1", "type": "command_execution", "command": "make", "exit_code": 1, "status": "completed"}
    _, (step,) = read("codex", [json.dumps({"type": "item.completed", "item": item}).encode()])
    assert (step.status, step.exit_code) == (StepStatus.FAILED, 1)
