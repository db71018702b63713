"""claude's transcripts as typed steps: turns by their prompts, diffs, sub-agents, and tokens counted once."""

import json

import pytest
from transcript_files import FOLDER, PROJECTS, read, steps_of, told

from agentdash.sessions.model.session import StepKind, StepStatus

PROJECT = "claude-project"
BASE = {
    "sessionId": "session-1", "timestamp": "2026-11-20T23:51:44.332Z", "cwd": "/home/dev/project", "isSidechain": False,
}  # fmt: skip


def user(content, **more):
    return {"type": "user", "message": {"role": "user", "content": content}, **BASE, **more}


def assistant(*blocks, key="m", model="claude-opus-4-8", usage=None, **more):
    message = {"id": key, "role": "assistant", "model": model, "content": list(blocks), "usage": usage}
    return {"type": "assistant", "message": message, **BASE, **more}


def text(words):
    return {"type": "text", "text": words}


def call(key, name, **arguments):
    return {"type": "tool_use", "id": key, "name": name, "input": arguments}


def result(key, content, **more):
    return {"type": "tool_result", "tool_use_id": key, "content": content, **more}


def other(kind, **fields):
    return {"type": kind, **BASE, **fields}


@pytest.mark.parametrize("path", PROJECTS, ids=lambda path: path.name)
def test_every_line_of_a_capture_is_known(path):
    assert [step.event for step in read(path) if step.kind is StepKind.UNKNOWN] == []


def test_a_whole_turn_has_times_diffs_exit_codes_and_tokens():
    steps = [step for step in read(FOLDER / "claude-work.project.jsonl") if step.kind is not StepKind.NOTICE]
    assert [str(step.kind) for step in steps] == [
        "start", "prompt", "reasoning", "message", "command", "reasoning", "command", "message", "file_change",
        "file_change", "command", "message", "usage",
    ]  # fmt: skip
    assert (steps[0].model, steps[0].agent_session) == ("claude-opus-4-8", "5ed170b5-e17e-4ed7-beaf-83cc09b6aaf0")
    failed, created, edited, usage = steps[6], steps[8], steps[9], steps[-1]
    assert (failed.exit_code, failed.status) == (3, StepStatus.FAILED)
    assert failed.ended_at - failed.at == 108
    assert created.changes[0].diff == "@@ -0,0 +1,2 @@\n+first line\n+second line"
    assert "-second line\n+second line, edited" in edited.changes[0].diff
    assert (usage.usage.input_tokens, usage.usage.cached_input_tokens, usage.usage.output_tokens) == (13200, 5000, 165)


def test_a_prompt_that_was_put_in_while_it_worked_belongs_to_the_turn():
    steps = read(FOLDER / "claude-inject.project.jsonl")
    assert [(step.turn, step.text) for step in steps if step.kind is StepKind.PROMPT] == [
        (1, "[[fake:slow_steps]] go"),
        (1, "INJECTED while running: count lines"),
        (2, "[[fake:context_probe]] after the result"),
    ]


def test_a_resumed_session_goes_on_with_the_next_turn():
    steps = read(FOLDER / "claude-resume.project.jsonl")
    assert [step.turn for step in steps if step.kind is StepKind.PROMPT] == [1, 2]
    assert [step.usage.input_tokens for step in steps if step.kind is StepKind.USAGE] == [2800, 1200]


@pytest.mark.parametrize("name", ["interrupted", "killed"])
def test_a_command_that_was_cut_off_is_interrupted(name):
    (command,) = [s for s in read(FOLDER / f"claude-{name}.project.jsonl") if s.kind is StepKind.COMMAND]
    assert command.status is StepStatus.INTERRUPTED


def test_an_api_error_is_an_error():
    (error,) = [s for s in read(FOLDER / "claude-err500.project.jsonl") if s.kind is StepKind.ERROR]
    assert (error.fatal, error.text.startswith("API Error: 500")) == (True, True)


def test_an_error_after_which_it_goes_on_is_not_fatal(tmp_path):
    error = assistant(text("API Error: 529"), key="e", model="<synthetic>")
    steps = steps_of(tmp_path, PROJECT, user("go"), error, assistant(text("fine")))
    assert [step.fatal for step in steps if step.kind is StepKind.ERROR] == [False]


def test_a_sub_agents_own_file_is_read_as_its_own():
    steps = read(FOLDER / "claude-subagent-own.project.jsonl")
    assert {step.parent for step in steps} == {None}
    assert [step.text for step in steps if step.kind is StepKind.PROMPT] == ["[[fake:sub]] Count the files."]


def test_a_side_chain_belongs_to_the_call_that_began_it(tmp_path):
    side = {"isSidechain": True, "agentId": "a1"}
    steps = steps_of(
        tmp_path, PROJECT,
        user("go"),
        assistant(call("t1", "Task", prompt="other"), call("t2", "Task", prompt="count")),
        user("count", **side, parentUuid=None),
        assistant(text("counting"), key="s", model="claude-haiku-4-5", **side),
        user([result("t2", "7")]),
        assistant(text("seven")),
    )  # fmt: skip
    assert [(str(s.kind), s.text) for s in steps if s.parent == "t2"] == [("prompt", "count"), ("message", "counting")]
    assert {step.turn for step in steps} == {1}
    assert not [step for step in steps if step.event == "settings"]


def test_progress_of_a_sub_agent_is_shown_below_its_call(tmp_path):
    inner = {"type": "assistant", "message": {"id": "p", "content": [text("looking")]}}
    progress = other("progress", data={"type": "agent_progress", "message": inner}, parentToolUseID="t1")
    steps = steps_of(tmp_path, PROJECT, user("go"), assistant(call("t1", "Task", prompt="x")), progress)
    assert [(step.text, step.parent) for step in steps if step.kind is StepKind.MESSAGE] == [("looking", "t1")]


def test_the_tokens_of_a_message_are_counted_once(tmp_path):
    first = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 1}
    last = first | {"output_tokens": 50}
    lines = [
        user("a"),
        assistant(text("x"), usage=first),
        assistant(text("y"), usage=first),
        assistant(call("t", "Bash", command="ls"), usage=last),
        user([result("t", "")]),
        assistant(text("z"), key="n", usage=first),
        user("b"),
        assistant(text("w"), key="o", usage=first),
    ]
    steps = steps_of(tmp_path, PROJECT, *lines)
    found = [(s.turn, s.usage.input_tokens, s.usage.output_tokens) for s in steps if s.kind is StepKind.USAGE]
    assert found == [(1, 200, 51), (2, 100, 1)]


def test_only_the_users_own_words_are_prompts(tmp_path):
    for words, more, expected in [
        ("<command-name>/review</command-name><command-args>12</command-args>", {}, ("prompt", "/review 12")),
        ("<bash-input>ls -l</bash-input>", {}, ("prompt", "! ls -l")),
        ("<local-command-stdout>ok</local-command-stdout>", {}, ("notice", "<local-command-stdout>ok")),
        (
            "<task-notification>over</task-notification>\nmore",
            {},
            ("notice", "<task-notification>over</task-notification>\nmore"),
        ),
        (
            "<system-reminder>a</system-reminder>\n<tick>1</tick>",
            {},
            ("notice", "<system-reminder>a</system-reminder>\n<tick>1</tick>"),
        ),
        ("<task-notification>over", {}, ("prompt", "<task-notification>over")),
        ("<system-reminder> is shown, why?", {}, ("prompt", "<system-reminder> is shown, why?")),
        ("<tick>1</tick> is not read", {}, ("prompt", "<tick>1</tick> is not read")),
        ("<div>a</div>", {}, ("prompt", "<div>a</div>")),
        ("<bash-input>ls</bash-input> fails", {}, ("prompt", "<bash-input>ls</bash-input> fails")),
        ("<command-name>/x</command-name> fails", {}, ("prompt", "<command-name>/x</command-name> fails")),
        ("[Request interrupted by user] is not shown", {}, ("prompt", "[Request interrupted by user] is not shown")),
        ("Caveat", {"isMeta": True}, ("notice", "Caveat")),
        ("What was", {"isCompactSummary": True}, ("notice", "summary of the conversation so far: What was")),
        ("woken", {"origin": {"kind": "task-notification"}}, ("notice", "woken")),
        ("unnamed", {"origin": {"kind": ""}}, ("notice", "unnamed")),
        ("not said", {"origin": {"kind": None}}, ("prompt", "not said")),
        ("[Request interrupted by user]", {}, ("notice", "[Request interrupted by user]")),
    ]:
        kind, shown = told(steps_of(tmp_path, PROJECT, user("go"), user(words, **more)))[2]
        assert (kind, shown.removesuffix("</local-command-stdout>")) == expected, words


def test_reasoning_that_is_left_out_is_there(tmp_path):
    lines = [user("go"), assistant({"type": "thinking", "thinking": "", "signature": "x"})]
    lines.append(assistant({"type": "redacted_thinking", "data": "x"}))
    assert told(steps_of(tmp_path, PROJECT, *lines))[2:] == [("reasoning", "(not shown)")] * 2


def test_tools_of_the_api_and_of_servers(tmp_path):
    lines = [
        user("go"),
        assistant({"type": "server_tool_use", "id": "w", "name": "web_search", "input": {"query": "weather"}}),
        assistant({"type": "web_search_tool_result", "tool_use_id": "w", "content": [{"title": "Sun"}]}),
        assistant(call("m", "mcp__github__search", q="x")),
        user([result("m", [{"type": "text", "text": "found"}])]),
        assistant(call("t", "TodoWrite", todos=[{"content": "a", "status": "completed"}])),
        user([result("t", "ok")]),
    ]
    steps = steps_of(tmp_path, PROJECT, *lines)[2:]
    assert [(str(s.kind), s.text, s.server, s.status) for s in steps] == [
        ("web_search", "weather", None, "ok"),
        ("tool_call", "mcp__github__search", "github", "ok"),
        ("plan", "1 of 1 done", None, "ok"),
    ]


def test_a_prompt_that_was_queued_and_never_given_is_not_lost(tmp_path):
    lines = [
        user("go"),
        other("queue-operation", operation="enqueue", content="first"),
        other("queue-operation", operation="enqueue", content="second"),
        other("queue-operation", operation="dequeue"),
        user("first"),
    ]
    steps = steps_of(tmp_path, PROJECT, *lines)
    assert [step.text for step in steps if step.event == "queue"] == ["queued and not delivered: second"]


def test_a_branch_and_a_fork_say_so(tmp_path):
    lines = [
        user("a", uuid="1", forkedFrom={"sessionId": "session-0", "messageUuid": "x"}),
        assistant(text("x"), uuid="2", parentUuid="1"),
        user("b", uuid="3", parentUuid="2"),
        assistant(text("y"), uuid="4", parentUuid="3"),
        user("c", uuid="5", parentUuid="2"),
    ]
    steps = steps_of(tmp_path, PROJECT, *lines)
    assert [(step.turn, step.text) for step in steps if step.event in ("fork", "branch")] == [
        (1, "forked from session session-0"),
        (3, "continues from an earlier point of the conversation"),
    ]


def test_titles_modes_compactions_and_changes_of_model(tmp_path):
    lines = [
        {"type": "summary", "summary": "Old talk", "leafUuid": "x"},
        user("a", permissionMode="default"),
        assistant(text("x")),
        other("system", subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 155000}),
        user("b", permissionMode="plan"),
        assistant(text("y"), key="n", model="claude-sonnet-5"),
        other("custom-title", customTitle="Mine"),
        other("last-prompt", lastPrompt="b"),
    ]
    notices = [step.text for step in steps_of(tmp_path, PROJECT, *lines) if step.kind is StepKind.NOTICE]
    assert notices == [
        "summary: Old talk",
        "context compacted (auto, 155,000 tokens before)",
        "permission mode changed from default to plan",
        "model changed from claude-opus-4-8 to claude-sonnet-5",
        "custom title: Mine",
    ]


def test_several_sessions_in_one_file_are_told_apart(tmp_path):
    steps = steps_of(tmp_path, PROJECT, user("a"), user("b", sessionId="session-2"))
    starts = [(step.turn, step.agent_session) for step in steps if step.kind is StepKind.START]
    assert starts == [(1, "session-1"), (2, "session-2")]


def test_what_is_not_known_is_shown_raw_and_named(tmp_path):
    lines = [
        user("go"), other("brand-new"), other("system", subtype="odd"), assistant({"type": "hologram"}), {"type": 5},
    ]  # fmt: skip
    unknown = [step for step in steps_of(tmp_path, PROJECT, *lines) if step.kind is StepKind.UNKNOWN]
    assert [s.event for s in unknown] == ["brand-new", "system odd", "assistant hologram", "JSON without a type"]
    assert json.loads(unknown[0].text) == lines[1]


def test_a_session_of_2_1_330_has_its_cost_by_turn():
    steps = read(FOLDER / "claude-2.1.330-work.project.jsonl")
    told_costs = [(s.turn, s.usage.input_tokens, round(s.cost_usd, 5)) for s in steps if s.kind is StepKind.USAGE]
    assert told_costs == [(1, 13200, 0.0371), (2, 1200, 0.00548)]


def attachment(kind, **fields):
    return other("attachment", attachment={"type": kind, **fields})


@pytest.mark.parametrize("path", PROJECTS, ids=lambda path: path.name)
def test_no_notice_of_a_capture_is_json(path):
    assert [step.text for step in read(path) if step.kind is StepKind.NOTICE and '{"' in step.text] == []


def test_what_a_session_of_2_1_330_begins_with_is_told_in_plain_words():
    steps = read(FOLDER / "claude-2.1.330-work.project.jsonl")
    told_first = [step for step in steps if (step.event or "").startswith("attachment") and step.turn == 1]
    lines = {step.event.partition(" ")[2]: step.text for step in told_first}
    lines.pop("skill_listing")
    assert lines == {
        "environment": "environment: linux; bash; /home/dev/project",
        "deferred_tools_delta": "tools on demand: CronCreate, CronDelete, CronList, EnterWorktree, ExitWorktree,"
        " Monitor",
        "agent_listing_delta": "agents: claude, Explore, general-purpose, Plan, statusline-setup",
        "session_context": "session context: git: Current branch: HEAD Main branch (you will usually use this for PRs):"
        " main Status: (unavailable) Recent commits:",
    }


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        ("plan_mode", {"reminderType": "full", "planFilePath": "/p/plan.md"}, "plan mode: /p/plan.md"),
        ("instructions", {"files": [{"path": "/p/CLAUDE.md", "content": "be kind"}]}, "instructions: /p/CLAUDE.md"),
        (
            "deferred_tools_delta",
            {"addedNames": [], "removedNames": ["A"], "failedMcpServers": [{"name": "github"}]},
            "tools on demand: no longer A; failed servers github",
        ),
        ("token_usage", {"used": 5, "total": 9, "isLow": True}, "token usage: used 5; total 9; is low yes"),
        ("silent_turn_reminder", {"text": "Say something."}, "silent turn reminder: Say something."),
        ("diagnostics", {"files": [{"uri": 1}], "isNew": False}, "diagnostics"),
        ("dynamic_skill", {"skillNames": ["s"] * 14}, f"dynamic skill: skill names {'s, ' * 11}s and 2 more"),
        ("workflow_keyword_request", {}, "workflow keyword request"),
    ],
)
def test_an_attachment_is_one_short_line(tmp_path, kind, fields, expected):
    (_, step) = steps_of(tmp_path, PROJECT, attachment(kind, **fields))
    assert (step.kind, step.text) == (StepKind.NOTICE, expected)


@pytest.mark.parametrize("kind", ["prompt_snapshot", "auto_mode", "date", "remote_session_change"])
def test_an_attachment_for_claude_alone_is_not_shown(tmp_path, kind):
    assert [step.kind for step in steps_of(tmp_path, PROJECT, attachment(kind, text="x"))] == [StepKind.START]


def test_an_attachment_of_an_unknown_kind_is_raw_and_counted(tmp_path):
    (_, step) = steps_of(tmp_path, PROJECT, attachment("brand_new", text="x"))
    assert (step.kind, step.event) == (StepKind.UNKNOWN, "attachment brand_new")
    assert json.loads(step.text)["attachment"] == {"type": "brand_new", "text": "x"}


@pytest.mark.parametrize("kind", ["file-history-delta", "data-flow-records", "api-request-resumed", "dev-mods"])
def test_more_of_claudes_own_bookkeeping_is_known(tmp_path, kind):
    assert [step.kind for step in steps_of(tmp_path, PROJECT, other(kind))] == [StepKind.START]


def test_a_session_that_goes_on_elsewhere_says_so(tmp_path):
    lines = [user("go"), other("continued-in", continuedInSessionId="session-2")]
    assert told(steps_of(tmp_path, PROJECT, *lines))[-1] == ("notice", "continued in: session-2")


def with_ids(*lines):
    """Lines with ids, each of which names the one before."""
    ids = [None, *(f"00000000-0000-4000-8000-{n:012}" for n in range(len(lines)))]
    return [line | {"uuid": ids[n + 1], "parentUuid": ids[n]} for n, line in enumerate(lines)]


@pytest.mark.parametrize(
    "again",
    [
        lambda line: line | {"gitBranch": "work", "version": "2.1.332", "slug": "calm-otter"},
        lambda line: line | {"uuid": line["uuid"].upper()},
        lambda line: line | {"sessionId": "session-2", "parentUuid": None},
        lambda line: {"isSidechain": False, **line, "message": line["message"] | {"content": [text("changed")]}},
    ],
)
def test_lines_that_are_written_again_count_once(tmp_path, again):
    used = {"input_tokens": 100, "output_tokens": 20}
    first = with_ids(
        user("Count the tests"),
        assistant(call("t", "Bash", command="ls tests"), usage=used),
        user([result("t", "a.py")]),
        assistant(text("One test."), key="n", usage=used),
    )
    steps = steps_of(tmp_path, PROJECT, *first, *map(again, first), user("And the docs?"), assistant(text("None.")))
    assert [(s.turn, s.text) for s in steps if s.kind is StepKind.PROMPT] == [
        (1, "Count the tests"), (2, "And the docs?"),
    ]  # fmt: skip
    assert [step.text for step in steps if step.kind is StepKind.MESSAGE] == ["One test.", "None."]
    assert [(s.usage.input_tokens, s.usage.output_tokens) for s in steps if s.kind is StepKind.USAGE] == [(200, 40)]


def edit(key, path):
    return call(key, "Edit", file_path=path, old_string="1", new_string="2")


def edited(path, line):
    patch = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-1", line]}
    return {"filePath": path, "oldString": "1", "newString": "2", "structuredPatch": [patch]}


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        (edited("/w/b.py", "+2"), [("/w/a.py", False), ("/w/b.py", True)]),
        (edited("/w/a.py", "+2"), [("/w/a.py", True), ("/w/b.py", False)]),
        (edited("/w/c.py", "+2"), [("/w/a.py", False), ("/w/b.py", False)]),
        ([edited("/w/a.py", "+2"), edited("/w/b.py", "+3")], [("/w/a.py", True), ("/w/b.py", True)]),
        ({"stdout": "", "interrupted": True}, [("/w/a.py", False), ("/w/b.py", False)]),
    ],
)
def test_results_in_one_line_give_the_details_to_their_own_calls(tmp_path, details, expected):
    both = user([result("a", "ok"), result("b", "ok")], toolUseResult=details)
    steps = steps_of(tmp_path, PROJECT, user("go"), assistant(edit("a", "/w/a.py"), edit("b", "/w/b.py")), both)
    changes = [step.changes[0] for step in steps if step.kind is StepKind.FILE_CHANGE]
    assert [(change.path, change.diff is not None) for change in changes] == expected


def test_two_edits_of_one_file_in_one_line_have_no_uncertain_diff(tmp_path):
    both = user([result("a", "ok"), result("b", "ok")], toolUseResult=edited("/w/a.py", "+2"))
    steps = steps_of(tmp_path, PROJECT, user("go"), assistant(edit("a", "/w/a.py"), edit("b", "/w/a.py")), both)
    assert [step.changes[0].diff for step in steps if step.kind is StepKind.FILE_CHANGE] == [None, None]


@pytest.mark.parametrize("marked", [{"isApiErrorMessage": False}, {}])
def test_words_that_fill_the_place_of_an_answer_are_no_error(tmp_path, marked):
    filler = assistant(text("No response requested."), key="f", model="<synthetic>", **marked)
    steps = steps_of(tmp_path, PROJECT, user("go"), assistant(text("Done.")), filler)
    assert told(steps)[-1] == ("notice", "No response requested.")
    assert not [step for step in steps if step.kind is StepKind.ERROR]


def test_sub_agents_side_by_side_without_ids_belong_to_their_own_calls(tmp_path):
    used, side = {"input_tokens": 1000, "output_tokens": 10}, {"isSidechain": True}

    def says(name, before, *blocks, key):
        return assistant(*blocks, key=key, usage=used, uuid=name, parentUuid=before, **side)

    lines = [
        user("go"),
        assistant(call("A", "Task", prompt="look at a"), call("B", "Task", prompt="look at b")),
        user("look at a", uuid="a1", parentUuid=None, **side),
        user("look at b", uuid="b1", parentUuid=None, **side),
        says("a2", "a1", text("reading a"), key="ma"),
        says("b2", "b1", text("reading b"), key="mb"),
        says("a3", "a2", call("ca", "Bash", command="ls a"), key="ma"),
        says("b3", "b2", call("cb", "Bash", command="ls b"), key="mb"),
        user([result("cb", "b.py")], uuid="b4", parentUuid="b3", **side),
        user([result("ca", "a.py")], uuid="a4", parentUuid="a3", **side),
        user([result("B", "b is fine"), result("A", "a is fine")]),
        assistant(text("All fine."), key="end"),
    ]
    steps = steps_of(tmp_path, PROJECT, *lines)
    for name in "ab":
        own = [s.text for s in steps if s.parent == name.upper()]
        assert own == [f"look at {name}", f"reading {name}", f"ls {name}"]
    assert [(s.usage.input_tokens, s.usage.output_tokens) for s in steps if s.kind is StepKind.USAGE] == [(2000, 20)]


def test_sub_agents_with_the_same_task_belong_to_different_calls(tmp_path):
    lines = [
        user("go"),
        assistant(call("A", "Task", prompt="look"), call("B", "Task", prompt="look")),
        user("look", uuid="a1", parentUuid=None, isSidechain=True),
        user("look", uuid="b1", parentUuid=None, isSidechain=True),
    ]
    steps = steps_of(tmp_path, PROJECT, *lines)
    assert [step.parent for step in steps if step.kind is StepKind.PROMPT] == [None, "A", "B"]


@pytest.mark.parametrize(
    ("made", "content", "details", "expected"),
    [
        (call("t", "Bash", command="make b"), "built", {"stdout": "built"}, ("command", "make b", StepStatus.OK, 0)),
        (call("t", "Bash", command="make b"), "Exit code 2\nno", "Error", ("command", "make b", StepStatus.FAILED, 2)),
        (edit("t", "/w/a.py"), "ok", edited("/w/a.py", "+2"), ("file_change", "/w/a.py", StepStatus.OK, None)),
        (call("t", "mcp__docs__search", q=1), "x", None, ("tool_call", "mcp__docs__search", StepStatus.OK, None)),
    ],
)
def test_a_result_before_its_call_belongs_to_the_call(tmp_path, made, content, details, expected):
    early = user([result("t", content, is_error=details == "Error")], toolUseResult=details)
    steps = steps_of(tmp_path, PROJECT, user("go"), early, assistant(made), assistant(text("Built."), key="n"))
    (step,) = [step for step in steps if step.call_id == "t"]
    assert (str(step.kind), step.text, step.status, step.exit_code) == expected
    assert not [s for s in steps if s.status is StepStatus.INTERRUPTED or s.text == "t"]
    if step.changes:
        assert step.changes[0].diff.endswith("-1\n+2")


def test_two_sessions_that_write_in_turn_make_no_turns(tmp_path):
    other_session = {"sessionId": "session-2"}
    lines = [
        user("Start the port"),
        assistant(text("Working on it")),
        assistant(call("t", "Bash", command="make"), key="n", **other_session),
        other("custom-title", customTitle="Port"),
        user([result("t", "ok")], **other_session),
        other("last-prompt", lastPrompt="x"),
        assistant(text("Done"), key="o"),
        user("Next", parentUuid="z", **other_session),
    ]
    steps = steps_of(tmp_path, PROJECT, *lines)
    assert [(s.turn, s.text) for s in steps if s.kind is StepKind.PROMPT] == [(1, "Start the port"), (2, "Next")]
    assert [s.agent_session for s in steps if s.kind is StepKind.START] == ["session-1", "session-2"]
    (command,) = [step for step in steps if step.kind is StepKind.COMMAND]
    assert (command.status, command.output) == (StepStatus.OK, "ok")


def test_the_first_prompt_of_a_second_conversation_begins_a_turn_with_its_start(tmp_path):
    new = {"sessionId": "session-2", "parentUuid": None}
    steps = steps_of(tmp_path, PROJECT, user("one"), assistant(text("a")), user("two", **new), assistant(text("b")))
    assert [(s.turn, str(s.kind)) for s in steps if s.kind in (StepKind.START, StepKind.PROMPT)] == [
        (1, "start"), (1, "prompt"), (2, "start"), (2, "prompt"),
    ]  # fmt: skip


def test_the_messages_that_a_fork_copied_are_not_counted_again(tmp_path):
    used, copied = {"input_tokens": 100, "output_tokens": 5}, {"forkedFrom": {"sessionId": "session-0"}}
    lines = [
        user("one", **copied), assistant(text("a"), key="m", usage=used, **copied),
        user("two"), assistant(text("b"), key="n", usage=used),
    ]  # fmt: skip
    steps = steps_of(tmp_path, PROJECT, *lines)
    assert [(s.turn, s.usage.input_tokens) for s in steps if s.kind is StepKind.USAGE] == [(2, 100)]
