"""claude: the command line it is started with, and its events as steps."""

import json
import uuid
from typing import Any

import msgspec
import pytest

from agentdash.sessions.agents.base import AgentSettings, LaunchRequest
from agentdash.sessions.agents.claude.adapter import Claude, ClaudeSettings
from agentdash.sessions.agents.parsing.parser import TurnParser
from agentdash.sessions.model.session import Change, PlanItem, Step, StepKind, StepStatus, Usage

CLAUDE = Claude()
SESSION = "11111111-2222-4333-8444-555555555555"


def turn_by_turn(**settings: Any) -> ClaudeSettings:
    return ClaudeSettings(live=False, **settings)


def argv(settings: AgentSettings | None = None, **request: Any) -> tuple[str, ...]:
    asked = {"prompt": "hello", "cwd": "/p", "session_id": SESSION} | request
    return CLAUDE.command(LaunchRequest(settings=settings or turn_by_turn(), **asked)).argv


def fed(*events: Any, parser: TurnParser | None = None) -> list[Step]:
    parser = parser or CLAUDE.parser()
    return [step for at, event in enumerate(events) for step in parser.feed(json.dumps(event).encode(), at)]


def says(*blocks: Any, parent: str | None = None, **message: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": list(blocks)} | message, "parent_tool_use_id": parent}


def calls(name: str, **arguments: Any) -> dict[str, Any]:
    return says({"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments})


def answers(content: Any, *, details: Any = None, **fields: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": content} | fields
    return {"type": "user", "message": {"role": "user", "content": [block]}, "tool_use_result": details}


def result(**fields: Any) -> dict[str, Any]:
    good = {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "stop_reason": "end_turn"}
    return good | fields


class TestLaunch:
    def test_the_command_of_the_first_turn_takes_the_prompt_from_its_input(self) -> None:
        launch = CLAUDE.command(
            LaunchRequest(prompt="--help", cwd="/p", session_id=SESSION, model="opus", settings=turn_by_turn())
        )
        assert launch.argv == (
            "claude", "-p", "--output-format", "stream-json", "--verbose", "--model", "opus",
            "--permission-mode", "acceptEdits", "--session-id", SESSION,
        )  # fmt: skip
        assert (launch.stdin, launch.model, dict(launch.env)) == ("--help", "opus", {})

    def test_each_command_of_an_agent_that_asks_begins_in_the_folder(self) -> None:
        asking, denying = (
            CLAUDE.command(
                LaunchRequest(prompt="x", cwd="/p", session_id=SESSION, settings=ClaudeSettings(approvals=how))
            )
            for how in ("ask", "deny")
        )
        assert (dict(asking.env), dict(denying.env)) == ({"CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR": "1"}, {})

    def test_a_later_turn_is_the_same_command_with_resume(self) -> None:
        settings = turn_by_turn(permission_mode="plan", args=("--add-dir", "/d"))
        first, later = argv(settings), argv(settings, turn=2, agent_session="C")
        assert first[-4:] == ("--session-id", SESSION, "--add-dir", "/d")
        assert later == (*first[:-4], "--resume", "C", "--add-dir", "/d")

    def test_a_second_attempt_at_the_start_takes_another_id(self) -> None:
        """claude refuses an id that was used, and the first attempt may have come that far."""
        chosen = argv(turn=2)[-1]
        assert chosen != SESSION
        assert uuid.UUID(chosen).version == 4

    def test_full_danger_takes_the_place_of_the_permission_mode(self) -> None:
        dangerous = argv(turn_by_turn(full_danger=True))
        assert "--dangerously-skip-permissions" in dangerous
        assert "--permission-mode" not in dangerous

    def test_the_model_asked_for_wins_over_the_settings_and_without_both_the_agent_chooses(self) -> None:
        settings = turn_by_turn(model="from-settings")
        assert "from-settings" not in argv(settings, model="asked")
        assert "from-settings" in argv(settings)
        assert "--model" not in argv()

    def test_without_settings_permissions_are_asked_for(self) -> None:
        plain = argv(AgentSettings(bin="/opt/claude"))
        assert plain[0] == "/opt/claude"
        assert "acceptEdits" in plain

    def test_allowed_tools_and_instructions_are_passed_in_every_turn(self) -> None:
        settings = turn_by_turn(allowed_tools=("Write", "Bash(git log:*)"), instructions="--be brief\nplease")
        own = ("--allowedTools", "Write", "Bash(git log:*)", "--append-system-prompt", "--be brief\nplease")
        assert argv(settings)[7:-2] == own
        assert argv(settings, turn=2, agent_session="C")[7:-2] == own
        assert argv(turn_by_turn(full_danger=True, allowed_tools=("Write",)))[5:8] == (
            "--dangerously-skip-permissions", "--allowedTools", "Write",
        )  # fmt: skip
        assert "--append-system-prompt" not in argv(turn_by_turn(instructions=""))

    def test_the_agents_own_interface_gets_the_instructions_and_the_mode(self) -> None:
        settings = turn_by_turn(allowed_tools=("Bash",), instructions="be brief")
        request = LaunchRequest(prompt="", cwd="/p", session_id=SESSION, agent_session="C", settings=settings)
        own = ("--permission-mode", "acceptEdits", "--append-system-prompt", "be brief")
        assert CLAUDE.interface.resume(request) == ("claude", "--resume", "C", *own)

    def test_settings_are_checked(self) -> None:
        for wrong in (
            {"permission_mode": "yolo"},
            {"sandbox": "read-only"},
            {"allowed_tools": ["--dangerously-skip-permissions"]},
            {"allowed_tools": "Bash"},
        ):
            with pytest.raises(msgspec.ValidationError):
                msgspec.convert(wrong, ClaudeSettings)

    def test_no_secret_is_recorded_with_a_session(self) -> None:
        assert "CLAUDE_CONFIG_DIR" in CLAUDE.env_keys
        assert not [key for key in CLAUDE.env_keys if "KEY" in key or "TOKEN" in key]


class TestTools:
    def test_a_command(self) -> None:
        for content, is_error, details, status, exit_code, output in [
            ("hi", False, {"stdout": "hi", "interrupted": False}, StepStatus.OK, 0, "hi"),
            ("hi", None, "not a table", StepStatus.OK, 0, "hi"),
            ("half", False, {"interrupted": True}, StepStatus.INTERRUPTED, None, "half"),
            ("Exit code 3\ncat: x", True, "Error: Exit code 3", StepStatus.FAILED, 3, "cat: x"),
            ("Exit code 127", True, None, StepStatus.FAILED, 127, ""),
            ("Exit code " + "9" * 5000, True, None, StepStatus.FAILED, None, "Exit code " + "9" * 5000),
            ("Exit code ٣", True, None, StepStatus.FAILED, None, "Exit code ٣"),
            ("<tool_use_error>no\n</tool_use_error>", True, None, StepStatus.FAILED, None, "no\n"),
            ("<tool_use_error>no", True, None, StepStatus.FAILED, None, "<tool_use_error>no"),
            ("<tool_use_error>no</tool_use_error>", False, None, StepStatus.OK, 0,
             "<tool_use_error>no</tool_use_error>"),
            ("This command requires approval", True, None, StepStatus.DECLINED, None,
             "This command requires approval"),
            ("Permission to use Bash with command rm has been denied.", True, None, StepStatus.DECLINED, None,
             "Permission to use Bash with command rm has been denied."),
            ("The user doesn't want to proceed with this tool use.", True, None, StepStatus.INTERRUPTED, None,
             "The user doesn't want to proceed with this tool use."),
            ([{"type": "text", "text": "a"}, {"type": "image"}], False, None, StepStatus.OK, 0, "a\n(image)"),
            (None, False, None, StepStatus.OK, 0, ""),
        ]:  # fmt: skip
            began, ended = fed(calls("Bash", command="x"), answers(content, is_error=is_error, details=details))
            case = content, details
            assert (began.kind, began.command, began.status) == (StepKind.COMMAND, "x", StepStatus.RUNNING), case
            assert (ended.index, ended.status, ended.exit_code) == (began.index, status, exit_code), case
            assert (ended.output, ended.at, ended.ended_at) == (output, 0, 1), case

    def test_a_new_file_is_a_diff_of_added_lines(self) -> None:
        details = {"type": "create", "filePath": "/p/a", "content": "one\u2028still one\ntwo\n", "structuredPatch": []}
        began, ended = fed(calls("Write", file_path="/p/a", content="…"), answers("created", details=details))
        assert (began.kind, began.changes) == (StepKind.FILE_CHANGE, (Change(path="/p/a", kind="add"),))
        assert ended.changes == (
            Change(path="/p/a", kind="add", diff="@@ -0,0 +1,2 @@\n+one\u2028still one\n+two"),
        )  # fmt: skip

    def test_an_empty_new_file_has_no_diff(self) -> None:
        details = {"type": "create", "filePath": "/p/a", "content": ""}
        assert fed(calls("Write", file_path="/p/a"), answers("", details=details))[1].changes[0].diff is None

    def test_an_overwritten_file_is_an_update(self) -> None:
        hunk = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}
        details = {"type": "update", "filePath": "/p/a", "content": "b\n", "structuredPatch": [hunk, hunk]}
        (change,) = fed(calls("Write", file_path="/p/a"), answers("ok", details=details))[1].changes
        assert (change.kind, change.diff) == ("update", "@@ -1,1 +1,1 @@\n-a\n+b\n@@ -1,1 +1,1 @@\n-a\n+b")

    @pytest.mark.parametrize(
        "details", [None, "text", [1], {"filePath": 1}, {"filePath": "/p/a", "structuredPatch": 1}]
    )
    def test_an_edit_without_a_readable_patch_still_names_its_file(self, details: Any) -> None:
        ended = fed(calls("Edit", file_path="/p/a"), answers("ok", details=details))[1]
        assert (ended.status, ended.changes) == (StepStatus.OK, (Change(path="/p/a", kind="update"),))

    @pytest.mark.parametrize("name", ["Edit", "MultiEdit", "NotebookEdit"])
    def test_a_failed_edit(self, name: str) -> None:
        ended = fed(calls(name, notebook_path="/p/n"), answers("no such file", is_error=True))[1]
        assert (ended.kind, ended.text, ended.status) == (StepKind.FILE_CHANGE, "/p/n", StepStatus.FAILED)
        assert ended.output == "no such file"

    @pytest.mark.parametrize(
        ("name", "arguments", "kind", "text"),
        [
            ("WebSearch", {"query": "weather"}, StepKind.WEB_SEARCH, "weather"),
            ("WebFetch", {"url": "https://x", "prompt": "p"}, StepKind.WEB_SEARCH, "https://x"),
            ("Task", {"description": "count", "prompt": "p"}, StepKind.SUBAGENT, "count"),
            ("Read", {"file_path": "/p/a"}, StepKind.TOOL_CALL, "Read"),
            ("TodoWrite", {"todos": "all"}, StepKind.TOOL_CALL, "TodoWrite"),
            ("TaskCreate", {}, StepKind.TOOL_CALL, "TaskCreate"),
            ("TaskUpdate", {"taskId": [1]}, StepKind.TOOL_CALL, "TaskUpdate"),
            ("TaskUpdate", {"taskId": "1", "status": "completed"}, StepKind.TOOL_CALL, "TaskUpdate"),
        ],
    )
    def test_other_tools(self, name: str, arguments: dict[str, Any], kind: StepKind, text: str) -> None:
        began, ended = fed(calls(name, **arguments), answers("the answer"))
        assert (began.kind, began.text, began.tool, began.arguments) == (kind, text, name, arguments)
        assert (ended.index, ended.status, ended.output) == (began.index, StepStatus.OK, "the answer")

    def test_a_tool_of_an_mcp_server(self) -> None:
        (step,) = fed(calls("mcp__docs__find__all", q=1))
        assert (step.kind, step.server, step.tool) == (StepKind.TOOL_CALL, "docs", "find__all")

    def test_a_todo_list_given_whole(self) -> None:
        todos = [{"content": "a", "status": "completed"}, {"content": "b", "status": "?"}, 7]
        began, ended = fed(calls("TodoWrite", todos=todos), answers("ok"))
        assert began.items == (PlanItem(text="a", status="completed"), PlanItem(text="b", status="pending"))
        assert (ended.kind, ended.text, ended.status) == (StepKind.PLAN, "1 of 2 done", StepStatus.OK)

    def test_a_todo_list_built_call_by_call(self) -> None:
        created = [
            event
            for n in ("1", "2")
            for event in (
                calls("TaskCreate", subject=f"task {n}"),
                answers("created", details={"task": {"id": n, "subject": f"task {n}"}}),
            )
        ]
        parser = CLAUDE.parser()
        fed(*created, parser=parser)
        refused, _ = fed(
            calls("TaskUpdate", taskId="2", status="completed"), answers("no", is_error=True), parser=parser
        )
        assert refused.text == "1 of 2 done"
        begun, _ = fed(calls("TaskUpdate", taskId="1", status="in_progress"), answers("ok"), parser=parser)
        assert [(item.text, item.status) for item in begun.items] == [("task 1", "in_progress"), ("task 2", "pending")]
        deleted, _ = fed(calls("TaskUpdate", taskId="1", status="deleted"), answers("ok"), parser=parser)
        assert [item.text for item in deleted.items] == ["task 2"]
        renamed, _ = fed(calls("TaskUpdate", taskId="2", subject="last"), answers("ok"), parser=parser)
        assert [(item.text, item.status) for item in renamed.items] == [("last", "pending")]
        emptied, _ = fed(calls("TaskUpdate", taskId="2", status="deleted"), answers("ok"), parser=parser)
        assert (emptied.kind, emptied.items, emptied.text) == (StepKind.PLAN, (), "0 of 0 done")

    @pytest.mark.parametrize(
        "tasks",
        [7, [], [7], [{}], [{"id": 7, "subject": "a"}], [{"id": "1", "subject": None, "status": "lost"}],
         [{"id": str(n), "subject": "a"} for n in range(300)]],
    )  # fmt: skip
    def test_an_odd_list_of_tasks_is_a_plan_without_odd_items(self, tasks: Any) -> None:
        _, listed = fed(calls("TaskList"), answers("ok", details={"tasks": tasks}))
        assert (listed.kind, listed.status) == (StepKind.PLAN, StepStatus.OK)
        assert set(listed.items) <= {PlanItem(text="", status="pending")}

    def test_of_a_list_with_unknown_tasks_only_the_changed_one_is_named(self) -> None:
        parser = CLAUDE.parser(2)
        fed(calls("TaskCreate", subject="a"), answers("ok", details={"task": {"id": "4"}}), parser=parser)
        _, updated = fed(calls("TaskUpdate", taskId="4", status="completed"), answers("ok"), parser=parser)
        assert (updated.kind, updated.text, updated.items) == (StepKind.PLAN, "a", ())
        _, deleted = fed(calls("TaskUpdate", taskId="4", status="deleted"), answers("ok"), parser=parser)
        assert (deleted.text, deleted.items) == ("a", ())

    def test_an_update_that_finds_no_task_changes_nothing(self) -> None:
        parser = CLAUDE.parser()
        fed(calls("TaskCreate", subject="a"), answers("ok", details={"task": {"id": "1"}}), parser=parser)
        gone = answers("Task not found", details={"success": False, "taskId": "1"})
        fed(calls("TaskUpdate", taskId="1", status="completed"), gone, parser=parser)
        _, listed = fed(calls("TaskUpdate", taskId="1", subject="b"), answers("ok"), parser=parser)
        assert listed.items == (PlanItem(text="b", status="pending"),)

    def test_a_flood_of_tasks_is_not_listed_again_and_again(self) -> None:
        parser = CLAUDE.parser()
        for n in range(250):
            steps = fed(
                calls("TaskCreate", subject="t"), answers("ok", details={"task": {"id": str(n)}}), parser=parser
            )
        assert steps[0].kind is StepKind.TOOL_CALL

    def test_a_call_that_never_ends_is_interrupted(self) -> None:
        parser = CLAUDE.parser()
        fed(calls("Bash", command="sleep 9"), parser=parser)
        assert [(s.index, s.status) for s in parser.close(9)] == [(0, StepStatus.INTERRUPTED)]

    def test_a_call_said_twice_is_one_step(self) -> None:
        parser = CLAUDE.parser()
        steps = fed(calls("Bash", command="a"), calls("Bash", command="a"), answers("ok"), parser=parser)
        assert [s.index for s in steps] == [0, 0, 0]
        assert parser.close() == []

    def test_the_answer_to_an_unseen_call_is_shown(self) -> None:
        (step,) = fed(answers("late"))
        assert (step.kind, step.text, step.output, step.status) == (
            StepKind.TOOL_CALL, "toolu_1", "late", StepStatus.OK,
        )  # fmt: skip

    @pytest.mark.parametrize("depth", [10, 70, 500, 700])
    def test_free_form_arguments_can_always_be_printed_again(self, depth: int) -> None:
        deep = b"[" * depth + b"1" + b"0" * 30 + b"]" * depth
        block = b'{"type":"tool_use","id":"1","name":"Read","input":%b}' % deep
        (step,) = CLAUDE.parser().feed(b'{"type":"assistant","message":{"content":[%b]}}' % block)
        assert deep in msgspec.json.encode(step)

    def test_a_large_answer_is_kept_whole(self) -> None:
        text = "x" * 1_000_000
        parser = CLAUDE.parser()
        (step,) = fed(says({"type": "text", "text": text}), parser=parser)
        assert step.text == parser.facts.last_message == text


class TestTurn:
    def test_init(self) -> None:
        parser = CLAUDE.parser(2)
        (step,) = fed({"type": "system", "subtype": "init", "session_id": SESSION, "model": "opus"}, parser=parser)
        assert (step.kind, step.turn, step.agent_session, step.model) == (StepKind.START, 2, SESSION, "opus")
        assert (parser.facts.agent_session, parser.facts.model) == (SESSION, "opus")

    def test_the_proper_end(self) -> None:
        parser = CLAUDE.parser()
        usage = {
            "input_tokens": 10,
            "cache_creation_input_tokens": 5,
            "cache_read_input_tokens": 20,
            "output_tokens": 7,
        }
        (step,) = fed(result(usage=usage, total_cost_usd=0.5), parser=parser)
        assert step.usage == parser.facts.usage == Usage.of(35, 20, 7, written=5)
        assert (step.kind, step.cost_usd, parser.facts.cost_usd) == (StepKind.USAGE, 0.5, 0.5)
        assert parser.facts.end == "completed"
        assert CLAUDE.succeeded(parser.facts, 0)

    @pytest.mark.parametrize(
        ("fields", "reason"),
        [
            ({"is_error": True, "result": "API Error: 500"}, "API Error: 500"),
            ({"stop_reason": None}, "the answer was cut off: no stop reason"),
            ({"subtype": "error_max_turns", "is_error": True, "result": None, "errors": ["a", "b"]}, "a\nb"),
            ({"subtype": "error_during_execution", "result": None}, "error during execution"),
            ({"subtype": "error_during_execution", "result": None, "terminal_reason": "aborted_tools",
              "errors": ["[ede_diagnostic] result_type=user"]}, "error during execution (aborted tools)"),
        ],
    )  # fmt: skip
    def test_a_result_that_is_not_a_good_end_is_failed_with_its_reason(
        self, fields: dict[str, Any], reason: str
    ) -> None:
        parser = CLAUDE.parser()
        usage, error = fed(result(**fields), parser=parser)
        assert (usage.kind, error.kind, error.text, error.fatal) == (StepKind.USAGE, StepKind.ERROR, reason, True)
        assert (parser.facts.end, parser.facts.error) == ("failed", reason)
        assert not CLAUDE.succeeded(parser.facts, 0)

    def test_a_result_without_a_stop_reason_is_never_green(self) -> None:
        parser = CLAUDE.parser()
        fed({"type": "result", "subtype": "success"}, parser=parser)
        assert parser.facts.end == "failed"

    def test_a_made_up_message_is_an_error_and_shown_once(self) -> None:
        parser = CLAUDE.parser()
        said = says({"type": "text", "text": "API Error: 500"}, model="<synthetic>") | {"error": "server_error"}
        error, _, fatal = fed(said, result(is_error=True, result="API Error: 500"), parser=parser)
        assert (error.kind, error.fatal) == (StepKind.ERROR, False)
        assert (fatal.index, fatal.fatal) == (error.index, True)
        assert parser.facts.last_message is None

    def test_a_retry_is_a_notice_until_the_model_speaks(self) -> None:
        parser = CLAUDE.parser()
        retry = {"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10, "error_status": 529}
        (step,) = fed(retry, parser=parser)
        assert (step.kind, step.event, step.text) == (StepKind.NOTICE, "api_retry", "retry 1 of 10 (529)")
        assert (parser.facts.notice, parser.facts.end) == ("retry 1 of 10 (529)", None)
        fed(says({"type": "text", "text": "here"}), parser=parser)
        assert parser.facts.notice is None

    def test_the_blocks_of_one_model_call_are_counted_once(self) -> None:
        parser = CLAUDE.parser()
        usage = {"input_tokens": 100, "output_tokens": 1}
        text = {"type": "text", "text": "a"}
        fed(says(text, id="m1", usage=usage), says(text, id="m1", usage=usage), parser=parser)
        assert parser.facts.usage == Usage.of(100, None, 1)
        fed(says(text, id="m2", usage=usage, parent="toolu_9"), says(text, id="m1", usage=usage), parser=parser)
        assert parser.facts.usage == Usage.of(200, None, 2)
        fed(result(usage={"input_tokens": 300, "output_tokens": 50}), parser=parser)
        assert parser.facts.usage == Usage.of(300, None, 50)

    def test_a_new_turn_of_the_same_process_takes_the_end_back(self) -> None:
        parser = CLAUDE.parser()
        init = {"type": "system", "subtype": "init"}
        tokens = {"usage": {"input_tokens": 10, "output_tokens": 1}}
        fed(init, result(**tokens, total_cost_usd=1.0), init, parser=parser)
        assert parser.facts.end is None
        fed(result(**tokens, total_cost_usd=1.5), parser=parser)
        assert (parser.facts.end, parser.facts.usage, parser.facts.cost_usd) == (
            "completed",
            Usage.of(20, None, 2),
            1.5,
        )

    def test_denied_tools_are_named(self) -> None:
        parser = CLAUDE.parser()
        denials = [
            {"tool_name": "Bash", "tool_input": {"command": "rm x\nrm y"}},
            {"tool_name": "Read", "tool_input": 7},
        ]
        (step,) = fed(result(permission_denials=denials), parser=parser)
        assert (step.text, parser.facts.denied, parser.facts.end) == ("denied: Bash rm x, Read", 2, "completed")

    def test_a_declined_tool_is_counted_at_once_and_only_once(self) -> None:
        parser = CLAUDE.parser()
        call = {"type": "tool_use", "id": "t1", "name": "mcp__docs__write", "input": {}}
        refusal = {"type": "tool_result", "tool_use_id": "t1", "is_error": True}
        refusal["content"] = "Permission to use mcp__docs__write has been denied."
        fed({"type": "assistant", "message": {"content": [call]}}, parser=parser)
        fed({"type": "user", "message": {"content": [refusal]}}, parser=parser)
        assert (parser.facts.denied, parser.facts.denied_names) == (1, ["mcp__docs__write"])
        names = ("mcp__docs__write", "Read", "Read")
        fed(result(permission_denials=[{"tool_name": name, "tool_input": {}} for name in names]), parser=parser)
        assert (parser.facts.denied, parser.facts.denied_names) == (3, ["mcp__docs__write", "Read"])

    def test_the_user_is_quoted(self) -> None:
        block = [{"type": "text", "text": "go on"}]
        events = [
            {"type": "user", "message": {"content": block}, "isReplay": True},
            {"type": "user", "message": {"content": block}, "parent_tool_use_id": "toolu_9"},
            {"type": "user", "message": {"content": "[Request interrupted by user]"}},
            {"type": "user", "message": {"content": [{"type": "image"}]}},
        ]
        assert [(s.kind, s.text, s.parent) for s in fed(*events)] == [
            (StepKind.PROMPT, "go on", None),
            (StepKind.PROMPT, "go on", "toolu_9"),
            (StepKind.NOTICE, "[Request interrupted by user]", None),
            (StepKind.NOTICE, "(image)", None),
        ]

    def test_the_reports_of_a_thoughts_tokens_belong_to_the_thought(self) -> None:
        def thinks(tokens: int, **own: Any) -> dict[str, Any]:
            return {"type": "system", "subtype": "thinking_tokens", "estimated_tokens": tokens} | own

        thought = {"type": "thinking", "thinking": "hm"}
        lines = [thinks(6), thinks(12), says(thought), thinks(3), says({"type": "text", "text": "hi"}), says(thought)]
        steps = fed(*lines, thinks(4, parent_tool_use_id="toolu_9"), says(thought))
        assert [(s.index, s.kind, s.text, s.about_tokens, s.parent) for s in steps] == [
            (0, StepKind.REASONING, "(not shown)", 6, None),
            (0, StepKind.REASONING, "(not shown)", 12, None),
            (0, StepKind.REASONING, "hm", 12, None),
            (1, StepKind.REASONING, "(not shown)", 3, None),
            (2, StepKind.MESSAGE, "hi", None, None),
            (3, StepKind.REASONING, "hm", None, None),
            (4, StepKind.REASONING, "(not shown)", 4, "toolu_9"),
            (5, StepKind.REASONING, "hm", None, None),
        ]

    def test_reasoning_and_words(self) -> None:
        parser = CLAUDE.parser()
        blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "redacted_thinking", "data": "…"}]
        steps = fed(says(*blocks), says({"type": "text", "text": "inner"}, parent="toolu_9"), parser=parser)
        assert [(s.kind, s.text, s.parent) for s in steps] == [
            (StepKind.REASONING, "hm", None),
            (StepKind.REASONING, "(not shown)", None),
            (StepKind.MESSAGE, "inner", "toolu_9"),
        ]
        assert parser.facts.last_message is None
        (step,) = fed(says() | {"message": {"content": "plain"}}, parser=parser)
        assert (step.text, parser.facts.last_message) == ("plain", "plain")

    def test_what_stands_beside_the_conversation_is_a_notice(self) -> None:
        told: list[tuple[dict[str, Any], str]] = [
            ({"type": "system", "subtype": "status", "status": "requesting"}, "status: requesting"),
            ({"type": "system", "subtype": "status", "permissionMode": "plan"}, "status: plan"),
            ({"type": "system", "subtype": "task_notification", "summary": "Tests", "status": "stopped"},
             "task notification: Tests: stopped"),
            ({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 2, "error": "unknown"},
             "retry 1 of 2 (unknown)"),
            ({"type": "system", "subtype": "compact_boundary"}, "compact boundary"),
            ({"type": "system", "subtype": "session_writes_lost", "error_code": "ENOSPC", "lost": ["transcript"]},
             "session writes lost: ENOSPC"),
            ({"type": "system", "subtype": "session_title_changed", "title": "Tests"}, "session title changed: Tests"),
            ({"type": "system", "subtype": "vcs_state_changed", "kind": "commit"}, "vcs state changed: commit"),
            ({"type": "system", "subtype": "turn_preempted", "reason": "a new prompt"}, "turn preempted: a new prompt"),
            ({"type": "conversation_reset", "trigger": "clear"}, "conversation reset: clear"),
            ({"type": "rate_limit_event", "rate_limit_info": {"status": "allowed", "rateLimitType": "five_hour"}},
             "rate limit: allowed (five_hour)"),
            ({"type": "tool_use_summary", "summary": "Read three files"}, "Read three files"),
            ({"type": "auth_status", "output": ["log", "in"]}, "log\nin"),
            ({"type": "prompt_suggestion", "suggestion": "run the tests"}, "run the tests"),
            ({"type": "control_response", "response": {"subtype": "error", "error": "no"}}, "a request failed: no"),
        ]  # fmt: skip
        for event, text in told:
            (step,) = fed(event)
            assert (step.kind, step.text) == (StepKind.NOTICE, text), event
            assert step.event == event.get("subtype", event["type"]), event

    def test_a_rejected_rate_limit_is_shown_beside_the_session(self) -> None:
        parser = CLAUDE.parser()
        fed({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}}, parser=parser)
        assert parser.facts.notice == "rate limit: rejected"

    @pytest.mark.parametrize(
        "event",
        [
            {"type": "stream_event", "event": {"type": "content_block_delta"}},
            {"type": "tool_progress"},
            {"type": "keep_alive"},
            {"type": "system", "subtype": "background_tasks_changed", "tasks": []},
            {"type": "command_lifecycle", "command_uuid": "u", "state": "queued"},
            {"type": "control_response", "response": {"subtype": "success", "request_id": "interrupt-1"}},
            {"type": "control_request", "request_id": "1", "request": {"subtype": "hook_callback"}},
            {"type": "control_cancel_request", "request_id": "1"},
        ],
    )
    def test_what_says_nothing_new_is_only_counted(self, event: dict[str, Any]) -> None:
        parser = CLAUDE.parser()
        assert fed(event, parser=parser) == []
        assert (parser.facts.lines, parser.facts.unknown) == (1, 0)


HOSTILE = [
    (b"42", "JSON number"),
    (b"[]", "JSON array"),
    (b"{}", "JSON without a type"),
    (b"Invalid API key", "not JSON"),
    (b"\xff", "not JSON"),
    (b'{"type":"result"', "not JSON"),
    (b'{"type":"system","subtype":"\\udfff"}', "system \ufffd"),
    (b"[" * 100_000, "nested too deeply"),
    (b'{"type":"done"}', "done"),
    (b'{"type":"error","message":"no"}', "error"),
    (b'{"type":"system","subtype":"of_tomorrow"}', "system of_tomorrow"),
    (b'{"type":"system"}', "system"),
    (b'{"type":"assistant"}', "assistant"),
    (b'{"type":"assistant","message":{"content":[{"type":"of_tomorrow"}]}}', "assistant of_tomorrow"),
    (b'{"type":"assistant","message":{"content":[{"type":"image"}]}}', "assistant Image"),
]  # fmt: skip


def test_a_line_that_cannot_be_read_is_kept_and_counted() -> None:
    for line, kind in HOSTILE:
        parser = CLAUDE.parser()
        (step,) = parser.feed(line, 5)
        assert (step.kind, step.event, step.at) == (StepKind.UNKNOWN, kind, 5), line[:80]
        assert step.text == line.decode("utf-8", "replace"), line[:80]
        assert (parser.facts.lines, parser.facts.unknown_kinds, parser.facts.end) == (1, {kind: 1}, None), line[:80]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Warning: no stdin data received in 3s, proceeding without it.\n", None),
        ("No conversation found with session ID: 1\n", "No conversation found with session ID: 1"),
        ("Error: Session ID 1 is already in use.\nsomething after it\n", "Error: Session ID 1 is already in use."),
        ("\n", None),
    ],
)
def test_the_reason_of_a_failure_is_the_line_of_stderr_that_tells_why(text: str, reason: str | None) -> None:
    assert CLAUDE.stderr_reason(text) == reason


def test_a_result_before_its_call_belongs_to_the_call() -> None:
    call = calls("Bash", command="make b")
    steps = {step.index: step for step in fed(answers("built", details={"stdout": "built"}), call)}
    (step,) = steps.values()
    assert (step.kind, step.text, step.status, step.output) == (StepKind.COMMAND, "make b", StepStatus.OK, "built")


def test_results_in_one_line_give_the_details_to_their_own_calls() -> None:
    edits = [{"type": "tool_use", "id": name, "name": "Edit", "input": {"file_path": f"/w/{name}.py"}} for name in "ab"]
    results = [{"type": "tool_result", "tool_use_id": name, "content": "ok"} for name in "ab"]
    hunk = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-3", "+4"]}
    details = {"filePath": "/w/b.py", "structuredPatch": [hunk]}
    both = {"type": "user", "message": {"role": "user", "content": results}, "tool_use_result": details}
    steps = {step.index: step for step in fed(says(*edits), both)}
    assert [(s.changes[0].path, s.changes[0].diff) for s in steps.values()] == [
        ("/w/a.py", None), ("/w/b.py", "@@ -1,1 +1,1 @@\n-3\n+4"),
    ]  # fmt: skip


def test_a_result_of_an_unknown_kind_is_not_explained_by_its_answer() -> None:
    parser = CLAUDE.parser()
    (*_, error) = fed(result(subtype="brand_new", result="The answer."), parser=parser)
    assert (error.kind, error.text) == (StepKind.ERROR, "the result is neither success nor an error: brand_new")
    assert parser.facts.error == error.text


def test_a_denial_without_a_tool_is_named() -> None:
    parser = CLAUDE.parser()
    (usage,) = fed(result(permission_denials=[{"tool_input": {"a": 1}}]), parser=parser)
    assert (usage.text, parser.facts.denied_names) == ("denied: a tool", ["a tool"])
