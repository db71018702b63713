"""Gemini CLI's chats as typed steps: each thing once, though a message is written again whenever it grows."""

import json

import pytest
from click.testing import CliRunner
from transcript_files import FOLDER, read, steps_of, told

from agentdash.sessions.agents.formats import reader_named
from agentdash.sessions.agents.gemini import session_events as events
from agentdash.sessions.model.errors import NotATranscriptError
from agentdash.sessions.model.session import StepKind, StepStatus
from agentdash.tui.cli.commands.reading.steps import view

CHAT = "gemini-session"
WORK = FOLDER / "gemini-work.session.jsonl"
HEADING = {"sessionId": "s1", "projectHash": "p", "startTime": "2026-11-21T00:02:34.719Z", "kind": "main"}
TIME = "2026-11-21T00:02:35.000Z"


def message(kind, content, key="m", **more):
    return {"id": key, "timestamp": TIME, "type": kind, "content": content, **more}


def user(words, key="u"):
    return message("user", [{"text": words}], key)


def call(name, args, *, output=None, key="c", status="success", **more):
    response = {"functionResponse": {"id": key, "name": name, "response": {"output": output}}}
    result = {} if output is None else {"result": [response]}
    return {"id": key, "name": name, "args": args, "status": status, "timestamp": TIME, **result, **more}


def calls(*found, key="g"):
    return message("gemini", "", key, toolCalls=list(found))


def step_of(tmp_path, found):
    (step,) = [s for s in steps_of(tmp_path, CHAT, calls(found)) if s.kind is not StepKind.NOTICE]
    return step


def test_a_whole_turn_has_each_thing_once():
    steps = read(WORK)
    assert [str(step.kind) for step in steps] == [
        "start", "notice", "prompt", "reasoning", "message", "command", "reasoning", "command", "message",
        "file_change", "file_change", "command", "message", "usage",
    ]  # fmt: skip
    start, context, prompt, thought, said = steps[:5]
    assert (start.model, start.agent_session) == ("gemini-2.5-flash", "5a0a9ea4-d3e0-4570-8dfe-0071eb92650f")
    assert (context.event, context.text.startswith("<session_context>")) == ("context", True)
    assert (prompt.text, {step.turn for step in steps}) == ("[[fake:work]] notes", {1})
    assert thought.text == "Looking around\n\nI will list the files first."
    assert (said.text, steps[-2].text) == (
        "I will look at the project first.", "Done: notes.txt was created and edited.",
    )  # fmt: skip


def test_commands_have_outputs_exit_codes_and_times():
    listed, failed, shown = [step for step in read(WORK) if step.kind is StepKind.COMMAND]
    assert (listed.command, listed.status, listed.exit_code) == (
        "ls -la && echo done-listing", StepStatus.OK, None,
    )  # fmt: skip
    assert listed.output.endswith("README.md\ndone-listing")
    assert listed.ended_at - listed.at == 191
    assert (failed.status, failed.exit_code) == (StepStatus.FAILED, 3)
    assert failed.output == "cat: does-not-exist.txt: No such file or directory"
    assert (shown.status, shown.exit_code) == (StepStatus.FAILED, 1)


def test_file_changes_have_diffs():
    created, edited = [step for step in read(WORK) if step.kind is StepKind.FILE_CHANGE]
    assert (created.tool, created.changes[0].kind, created.changes[0].lines) == ("write_file", "add", (2, 0))
    assert created.changes[0].diff == "@@ -0,0 +1,2 @@\n+first line\n+second line"
    assert (edited.tool, edited.changes[0].kind) == ("replace", "update")
    assert edited.changes[0].diff == "@@ -1,2 +1,2 @@\n first line\n-second line\n+second line, edited"


def test_the_tokens_of_a_message_are_counted_once():
    (step,) = [step for step in read(WORK) if step.kind is StepKind.USAGE]
    usage = step.usage
    assert (usage.input_tokens, usage.cached_input_tokens) == (13200, 5000)
    assert (usage.output_tokens, usage.reasoning_output_tokens, usage.total_tokens) == (165, 19, 13365)


def test_tokens_are_summed_by_turn_and_grow_with_their_message(tmp_path):
    lines = [
        user("a"),
        message("gemini", "x", "1", tokens={"input": 10, "output": 1, "thoughts": 2, "tool": 5}),
        message("gemini", "x", "1", tokens={"input": 10, "output": 4, "thoughts": 2, "tool": 5}),
        user("b", "v"),
        message("gemini", "y", "2", tokens={"input": 7, "output": 1}),
        message("gemini", "z", "3", tokens=None),
    ]
    found = [s for s in steps_of(tmp_path, CHAT, HEADING, *lines) if s.kind is StepKind.USAGE]
    assert [(s.turn, s.usage.input_tokens, s.usage.output_tokens) for s in found] == [(1, 15, 6), (2, 7, 1)]


def test_a_message_that_grows_is_updated():
    parser = reader_named(CHAT).parser()
    lines = [
        message("gemini", "I", "1"),
        message("gemini", "I look", "1", toolCalls=[call("run_shell_command", {"command": "ls"}, status="executing")]),
        message("gemini", "I look", "1", toolCalls=[call("run_shell_command", {"command": "ls"}, output="Output: a")]),
        message("gemini", "I look", "1", toolCalls=[call("run_shell_command", {"command": "ls"}, output="Output: a")]),
    ]
    found = [[(s.index, s.text, s.status) for s in parser.feed(json.dumps(line).encode())] for line in lines]
    assert found == [
        [(0, "I", None)],
        [(0, "I look", None), (1, "ls", StepStatus.RUNNING)],
        [(1, "ls", StepStatus.OK)],
        [],
    ]
    assert parser.close() == []


def test_a_message_of_an_earlier_turn_that_grows_stays_in_it(tmp_path):
    lines = [user("a"), message("gemini", "x", "1"), user("b", "v"), message("gemini", "xy", "1"), user("b", "v")]
    steps = steps_of(tmp_path, CHAT, HEADING, *lines)
    assert [(s.turn, s.text) for s in steps if s.text] == [(1, "a"), (1, "xy"), (2, "b")]


def test_a_call_without_an_end_was_interrupted(tmp_path):
    step = step_of(tmp_path, call("run_shell_command", {"command": "sleep 9"}, status="executing"))
    assert step.status is StepStatus.INTERRUPTED


@pytest.mark.parametrize(
    ("status", "output", "expected"),
    [
        ("success", "done", StepStatus.OK),
        ("error", "it broke", StepStatus.FAILED),
        ("error", "Tool execution denied by policy.", StepStatus.DECLINED),
        ("cancelled", "[Operation Cancelled] Reason: User cancelled", StepStatus.INTERRUPTED),
        ("cancelled", "[Operation Cancelled] Reason: User did not allow tool call", StepStatus.DECLINED),
        ("brand-new", "done", StepStatus.OK),
    ],
)
def test_how_a_call_ended(tmp_path, status, output, expected):
    step = step_of(tmp_path, call("read_file", {"file_path": "a"}, output=output, status=status))
    assert (step.kind, step.tool, step.status, step.output) == (StepKind.TOOL_CALL, "read_file", expected, output)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("Output: a\nb\nProcess Group PGID: 7", ("a\nb", None, "ok")),
        ("Output: Exit Code: 9\nExit Code: 2\nProcess Group PGID: 7", ("Exit Code: 9", 2, "failed")),
        ("Output: x\nExit Code: 9\nExit Code: 2", ("x\nExit Code: 9", 2, "failed")),
        ("Command: ls\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 0\nSignal: (none)", ("", 0, "ok")),
        ("Output: x\nSignal: 15", ("x", None, "failed")),
        ("Blocked: command substitution", ("Blocked: command substitution", None, "ok")),
    ],
)
def test_what_the_model_got_of_a_command_is_read(tmp_path, output, expected):
    step = step_of(tmp_path, call("run_shell_command", {"command": "x"}, output=output))
    assert (step.output, step.exit_code, str(step.status)) == expected


def test_a_change_without_a_diff_has_its_path(tmp_path):
    step = step_of(tmp_path, call("replace", {"file_path": "a.py"}, status="error", output="0 occurrences found"))
    assert (step.status, step.output) == (StepStatus.FAILED, "0 occurrences found")
    assert [(change.path, change.kind, change.diff) for change in step.changes] == [("a.py", "update", None)]


def test_plans_searches_and_sub_agents(tmp_path):
    todos = [
        {"description": "Read", "status": "completed"},
        {"description": "Fix", "status": "in_progress"},
        {"description": "Ship", "status": "cancelled"},
    ]
    found = [
        call("write_todos", {"todos": todos}, output="ok", key="1"),
        call("google_web_search", {"query": "weather"}, output="sun", key="2"),
        call("invoke_agent", {"prompt": "count"}, output="7", key="3"),
    ]
    plan, search, agent = steps_of(tmp_path, CHAT, calls(*found))
    assert (plan.kind, plan.text, plan.status) == (StepKind.PLAN, "1 of 3 done", StepStatus.OK)
    assert [(item.text, item.status) for item in plan.items] == [
        ("Read", "completed"), ("Fix", "in_progress"), ("Ship (cancelled)", "pending"),
    ]  # fmt: skip
    assert told([search, agent]) == [("web_search", "weather"), ("subagent", "count")]


def test_a_result_whose_call_is_not_recorded_is_shown(tmp_path):
    response = {"functionResponse": {"id": "lost", "name": "glob", "response": {"output": "a.py"}}}
    (step,) = steps_of(tmp_path, CHAT, message("user", [response]))
    assert (step.kind, step.text, step.output) == (StepKind.TOOL_CALL, "glob", "a.py")


def test_calls_in_the_content_are_ended_by_their_results(tmp_path):
    asked = {"functionCall": {"id": "c", "name": "glob", "args": {"pattern": "*"}}}
    response = {"functionResponse": {"id": "c", "name": "glob", "response": {"output": "a.py"}}}
    said = message("gemini", [{"text": "hm", "thought": True}, {"text": "I look."}, asked])
    steps = steps_of(tmp_path, CHAT, said, message("user", [response], "r"))
    assert told(steps) == [("reasoning", "hm"), ("message", "I look."), ("tool_call", "glob")]
    assert (steps[-1].status, steps[-1].output, steps[-1].arguments) == (StepStatus.OK, "a.py", {"pattern": "*"})


def test_a_patch_shows_only_messages_that_were_not_shown(tmp_path):
    summary = user("<state_snapshot>all</state_snapshot>", "s")
    lines = [HEADING, user("go"), message("gemini", "whole", "1")]
    lines.append({"$set": {"messages": [summary, user("go"), message("gemini", "wh…", "1")], "lastUpdated": TIME}})
    assert told(steps_of(tmp_path, CHAT, *lines))[1:] == [
        ("prompt", "go"), ("message", "whole"), ("notice", "<state_snapshot>all</state_snapshot>"),
    ]  # fmt: skip


def test_what_stands_beside_the_messages(tmp_path):
    lines = [
        HEADING | {"kind": "subagent", "directories": ["/a", "/b"]},
        {"$set": {"lastUpdated": TIME}},
        {"$set": {"summary": "Notes", "sessionId": "s1"}},
        {"$set": {"brandNew": {"a": 1}}},
        message("info", "Request cancelled.", "i"),
        message("warning", [{"text": "Careful"}], "w"),
        message("error", "API Error: 500", "e"),
        {"$rewindTo": "i"},
    ]
    assert told(steps_of(tmp_path, CHAT, *lines)) == [
        ("start", ""),
        ("notice", "session of a sub-agent"),
        ("notice", "directories: /a, /b"),
        ("notice", "summary: Notes"),
        ("notice", 'brandNew: {"a": 1}'),
        ("notice", "Request cancelled."),
        ("notice", "Careful"),
        ("error", "API Error: 500"),
        ("notice", "goes back to an earlier point of the conversation"),
    ]


def test_the_prompt_is_what_the_user_wrote(tmp_path):
    asked = message("user", "see @a\n--- a ---\ntext", displayContent="see @a")
    assert told(steps_of(tmp_path, CHAT, asked)) == [("prompt", "see @a"), ("notice", "see @a\n--- a ---\ntext")]


def test_what_is_not_known_is_shown_raw_and_named(tmp_path):
    lines = [HEADING, message("hologram", "x"), {"$set": 5}, {"$set": {"messages": 5, "summary": "Notes"}}]
    steps = steps_of(tmp_path, CHAT, *lines)
    assert [s.event for s in steps if s.kind is StepKind.UNKNOWN] == [
        "hologram", "JSON without a type", "$set messages",
    ]  # fmt: skip
    assert "summary: Notes" in [step.text for step in steps]


def test_a_change_of_the_model_is_shown(tmp_path):
    lines = [HEADING, message("gemini", "x", "1", model="flash"), message("gemini", "y", "2", model="pro")]
    assert ("notice", "model changed from flash to pro") in told(steps_of(tmp_path, CHAT, *lines))


def test_what_is_remembered_of_a_long_session_is_bounded():
    parser = reader_named(CHAT).parser()
    for n in range(3_000):
        parser.feed(json.dumps(message("gemini", "x" * 200, str(n), tokens={"input": 1, "output": 1})).encode())
    assert len(parser.checkpoint()) < 250_000


def test_view_shows_a_chat():
    plain = CliRunner().invoke(view, [str(WORK), "--full"])
    assert plain.exit_code == 0, plain.output
    assert "$ cat does-not-exist.txt; exit 3  ✗ exit 3" in plain.output
    assert "+second line, edited" in plain.output
    shown = CliRunner().invoke(view, [str(WORK), "--json"])
    assert shown.exit_code == 0
    assert '"kind":"file_change"' in shown.output.replace(" ", "")


class Counted(dict):
    """A part of a message that counts how often it is compared."""

    compared = 0

    def __eq__(self, other):
        Counted.compared += 1
        return super().__eq__(other)

    __hash__ = None


@pytest.mark.parametrize("count", [10, 200])
def test_the_parts_of_a_long_message_are_looked_at_once_and_not_compared_with_each_other(monkeypatch, tmp_path, count):
    parts_of = events.parts_of
    monkeypatch.setattr(events, "parts_of", lambda content: [Counted(part) for part in parts_of(content)])
    monkeypatch.setattr(Counted, "compared", 0)
    parts = []
    for n in range(count):
        parts += [{"thought": True, "text": f"thought {n}"}, {"text": f"word {n}"}]
        parts += [{"functionCall": {"id": f"call {n}", "name": "glob", "args": {}}}]
    steps = steps_of(tmp_path, CHAT, message("gemini", parts))
    kinds = [step.kind for step in steps]
    assert (kinds.count(StepKind.REASONING), kinds.count(StepKind.MESSAGE)) == (1, 1)
    assert len({step.call_id for step in steps if step.call_id}) == count
    said = next(step for step in steps if step.kind is StepKind.MESSAGE)
    assert said.text.split("\n") == [f"word {n}" for n in range(count)]
    assert Counted.compared == 0


@pytest.mark.parametrize("indent", [1, 2, 4, "\t", None])
@pytest.mark.parametrize("more", [{}, {"summary": "a chat", "tags": ["messages"]}])
def test_an_older_chat_in_one_document_is_the_same_chat(tmp_path, indent, more):
    told_call = call("read_file", {"path": 'a"]}\\.toml'}, output="[{port=8080\n")
    lines = [user("Which port?\n{["), message("gemini", "Port 8080.", "g", toolCalls=[told_call], model="gemini-3")]
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(HEADING | {"messages": lines} | more, indent=indent))
    steps = read(path)
    assert told([step for step in steps if step.kind is not StepKind.NOTICE]) == told(
        [step for step in steps_of(tmp_path, CHAT, HEADING, *lines) if step.kind is not StepKind.NOTICE]
    )
    assert [step.text for step in steps if step.kind is StepKind.NOTICE] == [
        f"{name}: {events.as_text(json.dumps(value).encode())}" for name, value in more.items()
    ]


def test_a_torn_document_shows_its_whole_messages(tmp_path):
    path = tmp_path / "chat.json"
    text = json.dumps(HEADING | {"messages": [user("one"), message("gemini", "two", "g")]}, indent=2)
    path.write_text(text[: text.index('"two"')])
    assert [step.text for step in read(path) if step.kind is StepKind.PROMPT] == ["one"]


@pytest.mark.parametrize("bad", ['{\n"a": 1\n}', "{\n", '{\n"sessionId": 1\n}', "[\n{}\n]"])
def test_another_document_is_no_chat(tmp_path, bad):
    path = tmp_path / "other.json"
    path.write_text(bad)
    with pytest.raises(NotATranscriptError):
        read(path)
