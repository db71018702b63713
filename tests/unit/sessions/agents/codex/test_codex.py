"""codex: the command line it is started with, and its events as steps."""

import json
import tomllib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.agents.base import AgentSettings, LaunchRequest
from agentdash.sessions.agents.codex.adapter import Codex, CodexSettings
from agentdash.sessions.agents.codex.item_steps import unwrapped
from agentdash.sessions.agents.codex.own_config import assignments, toml_value
from agentdash.sessions.agents.parsing.parser import TurnParser
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import Change, PlanItem, Step, StepKind, StepStatus, Usage

CODEX = Codex()

T = "0190f7a2-0000-7000-8000-000000000001"


def turn_by_turn(**settings: Any) -> CodexSettings:
    return CodexSettings(live=False, **settings)


def argv(settings: AgentSettings | None = None, **request: Any) -> tuple[str, ...]:
    asked = {"prompt": "hello", "cwd": "/p", "session_id": "s"} | request
    return CODEX.command(LaunchRequest(settings=settings or turn_by_turn(), **asked)).argv


def fed(*events: Any, parser: TurnParser | None = None) -> list[Step]:
    parser = parser or CODEX.parser()
    return [step for at, event in enumerate(events) for step in parser.feed(json.dumps(event).encode(), at)]


def item(phase: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"item.{phase}", "item": {"id": "item_0", "type": kind} | fields}


class TestLaunch:
    def test_the_command_of_the_first_turn_takes_the_prompt_from_its_input(self) -> None:
        launch = CODEX.command(
            LaunchRequest(prompt="--help", cwd="/p", session_id="s", model="m", settings=turn_by_turn())
        )
        assert launch.argv == (
            "codex", "exec", "--json", "--skip-git-repo-check", "-C", "/p", "-m", "m", "-s", "workspace-write", "-",
        )  # fmt: skip
        assert launch.stdin == "--help"
        assert launch.model == "m"

    def test_a_later_turn_is_the_same_command_with_resume_before_the_prompt(self) -> None:
        settings = turn_by_turn(sandbox="read-only", config={"a": 1}, args=("--ephemeral",))
        first, later = argv(settings), argv(settings, turn=2, agent_session=T)
        assert later == (*first[:-1], "resume", "--", T, "-")
        assert first[-6:] == ("-s", "read-only", "-c", "a=1", "--ephemeral", "-")

    def test_the_model_asked_for_wins_over_the_settings_and_without_both_the_agent_chooses(self) -> None:
        settings = turn_by_turn(model="from-settings")
        assert "asked" in argv(settings, model="asked")
        assert "from-settings" not in argv(settings, model="asked")
        assert "from-settings" in argv(settings)
        assert "-m" not in argv()

    def test_full_danger_takes_the_place_of_the_sandbox(self) -> None:
        dangerous = argv(turn_by_turn(full_danger=True), agent_session=T)
        assert "--dangerously-bypass-approvals-and-sandbox" in dangerous
        assert "-s" not in dangerous

    def test_without_settings_the_sandbox_is_on(self) -> None:
        assert argv(AgentSettings(bin="/opt/codex"))[0] == "/opt/codex"
        assert argv(CodexSettings(live=False))[-3:] == ("-s", "workspace-write", "-")

    def test_settings_become_toml_values_at_any_depth(self) -> None:
        config = {
            "text": 'say "hi"\n',
            "flag": True,
            "list": [True, "a", 1.5],
            "tools": {"update_plan": {"enabled": True}, "empty": {}},
        }
        given_ = argv(turn_by_turn(config=config))
        pairs = [given_[i + 1] for i, word in enumerate(given_) if word == "-c"]
        assert pairs == [
            'text="say \\"hi\\"\\n"',
            "flag=true",
            'list=[true, "a", 1.5]',
            "tools.update_plan.enabled=true",
            "tools.empty={}",
        ]

    def test_web_search_and_instructions_are_overrides_of_codex_s_config(self) -> None:
        settings = turn_by_turn(search=True, instructions='be "brief"\nplease', config={"a": 1})
        own = ("-c", 'web_search="live"', "-c", 'developer_instructions="be \\"brief\\"\\nplease"', "-c", "a=1")
        assert argv(settings)[-7:-1] == own
        assert argv(settings, turn=2, agent_session=T)[-10:-4] == own
        assert argv(turn_by_turn(search=False))[-3:-1] == ("-c", 'web_search="disabled"')
        assert "-c" not in argv(turn_by_turn(instructions=""))
        request = LaunchRequest(prompt="", cwd="/p", session_id="s", agent_session=T, settings=settings)
        assert CODEX.interface.resume(request) == (
            "codex", "resume", "--no-daemon", "-s", "workspace-write", "-a", "on-request", *own, "--", T,
        )  # fmt: skip

    @pytest.mark.parametrize(("key", "own"), [("web_search", "search"), ("developer_instructions", "instructions")])
    def test_a_setting_and_the_override_that_it_stands_for_exclude_each_other(self, key: str, own: str) -> None:
        assert f'{key}="x"' in argv(turn_by_turn(config={key: "x"}))
        with pytest.raises(UsageError, match=f"set agents.codex.{own} instead"):
            argv(turn_by_turn(config={key: "x"}, search=True, instructions="be brief"))

    def test_a_key_that_needs_quotes_stays_in_its_table(self) -> None:
        """codex splits keys at every dot and takes quotes for part of them."""
        config = {"projects": {"/home/x.y": {"trust_level": "trusted"}}}
        assert list(assignments(config)) == ['projects={"/home/x.y" = {trust_level = "trusted"}}']

    @pytest.mark.parametrize(
        ("config", "words"),
        [
            ({"model": "m"}, "set agents.codex.model instead"),
            ({"sandbox_mode": "danger-full-access"}, "set agents.codex.sandbox instead"),
            ({"full_danger": True}, "set agents.codex.full_danger instead"),
            ({"tools.update_plan": 1}, "the key 'tools.update_plan'"),
            ({"": 1}, "the key ''"),
            ({"a": None}, "cannot be passed to codex"),
            ({"a": {"b": [None]}}, "cannot be passed to codex"),
        ],
    )
    def test_a_setting_that_cannot_be_passed_is_an_error(self, config: dict[str, Any], words: str) -> None:
        with pytest.raises(UsageError, match=r"^agents\.codex\.config") as raised:
            argv(turn_by_turn(config=config))
        assert words in str(raised.value)

    def test_settings_are_checked(self) -> None:
        for wrong in ({"sandbox": "none"}, {"sandbx": "read-only"}, {"full_danger": "yes"}):
            with pytest.raises(msgspec.ValidationError):
                msgspec.convert(wrong, CodexSettings)

    def test_no_secret_is_recorded_with_a_session(self) -> None:
        assert "CODEX_HOME" in CODEX.env_keys
        assert not [key for key in CODEX.env_keys if "KEY" in key or "TOKEN" in key]


SCALAR = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
VALUES = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_toml_values_are_read_back_as_they_were(value: Any) -> None:
    text = toml_value(value)
    assert "\n" not in text
    assert tomllib.loads(f"k = {text}") == {"k": value}


@given(st.dictionaries(st.from_regex(r"[A-Za-z0-9_-]+", fullmatch=True), VALUES, max_size=3))
def test_assignments_are_read_back_as_the_settings_they_were(settings: dict[str, Any]) -> None:
    """Read as codex reads them: the key split at every dot, the value as TOML."""
    found: dict[str, Any] = {}
    for assignment in assignments(settings):
        path, _, text = assignment.partition("=")
        *parents, last = path.split(".")
        table = found
        for parent in parents:
            table = table.setdefault(parent, {})
        table[last] = tomllib.loads(f"k = {text}")["k"]
    assert found == settings


class TestTurn:
    def test_the_thread_is_known_from_the_first_line(self) -> None:
        parser = CODEX.parser(3)
        (step,) = fed({"type": "thread.started", "thread_id": T}, {"type": "turn.started"}, parser=parser)
        assert (step.kind, step.turn, step.index, step.at, step.agent_session) == (StepKind.START, 3, 0, 0, T)
        assert (parser.facts.agent_session, parser.facts.lines, parser.facts.unknown) == (T, 2, 0)

    def test_reconnecting_does_not_end_the_turn(self) -> None:
        parser = CODEX.parser()
        (notice,) = fed({"type": "error", "message": "Reconnecting... 1/5 (stream closed)"}, parser=parser)
        assert (notice.kind, notice.event) == (StepKind.NOTICE, "error")
        assert (parser.facts.end, parser.facts.error) == (None, None)
        assert parser.facts.notice == "Reconnecting... 1/5 (stream closed)"
        fed(item("completed", "agent_message", text="There."), parser=parser)
        assert parser.facts.notice is None
        fed({"type": "turn.completed", "usage": {}}, parser=parser)
        assert parser.facts.end == "completed"
        assert CODEX.succeeded(parser.facts, 0)

    def test_only_turn_failed_makes_an_error_the_end(self) -> None:
        parser = CODEX.parser()
        (error,) = fed({"type": "error", "message": "no quota"}, parser=parser)
        assert (error.kind, error.fatal, parser.facts.end, parser.facts.error) == (
            StepKind.ERROR, False, None, "no quota",
        )  # fmt: skip
        (failed,) = fed({"type": "turn.failed", "error": {"message": "no quota"}}, parser=parser)
        assert (failed.index, failed.fatal, parser.facts.end) == (error.index, True, "failed")
        assert not CODEX.succeeded(parser.facts, 0)

    def test_another_message_in_turn_failed_is_a_step_of_its_own(self) -> None:
        steps = fed({"type": "error", "message": "one"}, {"type": "turn.failed", "error": {"message": "two"}})
        assert [(s.index, s.text, s.fatal) for s in steps] == [(0, "one", False), (1, "two", True)]

    def test_an_error_in_a_servers_json_is_shown_by_its_words(self) -> None:
        parser = CODEX.parser()
        raw = json.dumps({"error": {"message": "Invalid request", "code": None}})
        (step,) = fed({"type": "turn.failed", "error": {"message": raw}}, parser=parser)
        assert (step.text, parser.facts.error) == ("Invalid request", "Invalid request")

    @pytest.mark.parametrize("message", ['{"error": 1}', '{"error": {}}', '"x"', "[" * 5000, "{", ""])
    def test_what_is_not_a_servers_json_stays_as_it_is(self, message: str) -> None:
        parser = CODEX.parser()
        fed({"type": "turn.failed", "error": {"message": message}}, parser=parser)
        assert (parser.facts.end, parser.facts.error) == ("failed", message)

    def test_final_events_of_other_programs_do_not_end_the_turn(self) -> None:
        parser = CODEX.parser()
        steps = fed({"type": "done"}, {"type": "completed"}, {"type": "task.completed"}, parser=parser)
        assert [s.kind for s in steps] == [StepKind.UNKNOWN] * 3
        assert [s.event for s in steps] == ["done", "completed", "task.completed"]
        assert parser.facts.end is None

    def test_a_missing_count_is_unknown_and_never_zero(self) -> None:
        parser = CODEX.parser()
        (step,) = fed({"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": None}}, parser=parser)
        assert step.usage == parser.facts.thread_usage == Usage(input_tokens=5)
        parser = CODEX.parser()
        fed({"type": "turn.completed"}, parser=parser)
        assert (parser.facts.end, parser.facts.thread_usage.known) == ("completed", False)

    def test_a_completed_turn_clears_the_troubles_before_it(self) -> None:
        parser = CODEX.parser()
        fed({"type": "error", "message": "hm"}, {"type": "turn.completed", "usage": None}, parser=parser)
        assert (parser.facts.error, parser.facts.notice) == (None, None)


class TestItems:
    def test_a_command_is_shown_while_it_runs_and_keeps_its_whole_output(self) -> None:
        output = "x" * 1_000_000 + "\n"
        command = "/bin/bash -lc 'echo \"a\"; exit 3'"
        started, done = fed(
            item("started", "command_execution", command=command, aggregated_output="", exit_code=None),
            item("completed", "command_execution", command=command, aggregated_output=output, exit_code=3,
                 status="failed"),
        )  # fmt: skip
        assert (started.index, started.status, started.at, started.ended_at) == (0, StepStatus.RUNNING, 0, None)
        assert (done.index, done.status, done.at, done.ended_at) == (0, StepStatus.FAILED, 0, 1)
        assert (done.command, done.exit_code, done.output) == ('echo "a"; exit 3', 3, output)

    @pytest.mark.parametrize(
        ("fields", "status"),
        [
            ({"status": "completed", "exit_code": 0}, StepStatus.OK),
            ({"status": "declined"}, StepStatus.DECLINED),
            ({"exit_code": 0}, StepStatus.OK),
            ({"exit_code": 9}, StepStatus.FAILED),
            ({"exit_code": 9, "status": "in_progress"}, StepStatus.FAILED),
            ({}, None),
            ({"status": "one of tomorrow"}, None),
        ],
    )
    def test_status_of_a_command_that_is_over(self, fields: dict[str, Any], status: StepStatus | None) -> None:
        assert fed(item("completed", "command_execution", command="ls", **fields))[0].status is status

    @pytest.mark.parametrize(
        ("given_", "shown"),
        [
            ("/bin/bash -lc 'ls -la'", "ls -la"),
            ("bash -c ls", "ls"),
            ('/usr/bin/zsh -lc "echo \'a\' \\"b\\""', "echo 'a' \"b\""),
            ("""/bin/bash -lc 'it'"'"'s'""", "it's"),
            ("/bin/bash -lc 'a\nb'", "a\nb"),
            ("ls -la", "ls -la"),
            ("/bin/bash -lc 'unclosed", "/bin/bash -lc 'unclosed"),
            ("/bin/bash -lc a b", "/bin/bash -lc a b"),
            ("/bin/bash -lc '" + "x" * 200_000 + "'", "x" * 200_000),
            ("/bin/bash -lc ", "/bin/bash -lc "),
            ("", ""),
        ],
    )
    def test_the_shell_around_a_command_is_not_shown(self, given_: str, shown: str) -> None:
        assert unwrapped(given_) == shown

    def test_file_changes(self) -> None:
        changes = [{"path": "/p/a", "kind": "add"}, {"path": "/p/b", "kind": "delete"}]
        _, step = fed(
            item("started", "file_change", changes=changes, status="in_progress"),
            item("completed", "file_change", changes=changes, status="failed"),
        )
        assert step.changes == (Change(path="/p/a", kind="add"), Change(path="/p/b", kind="delete"))
        assert (step.kind, step.index, step.status) == (StepKind.FILE_CHANGE, 0, StepStatus.FAILED)

    @pytest.mark.parametrize(
        ("fields", "status", "output"),
        [
            ({"result": {"content": [{"type": "text", "text": "a"}, {"type": "image", "data": "…"}]}},
             StepStatus.OK, "a\n(image)"),
            ({"result": {"content": [], "structured_content": {"n": 1}}}, StepStatus.OK, '{"n": 1}'),
            ({"result": {"content": [], "structured_content": None}}, StepStatus.OK, None),
            ({"result": None}, StepStatus.OK, None),
            ({"result": None, "error": {"message": "broken"}}, StepStatus.FAILED, "broken"),
        ],
    )  # fmt: skip
    def test_an_mcp_call(self, fields: dict[str, Any], status: StepStatus, output: str | None) -> None:
        call = {"server": "docs", "tool": "find", "arguments": {"q": [1]}, "status": "completed"}
        (step,) = fed(item("completed", "mcp_tool_call", **call, **fields))
        assert (step.kind, step.text, step.server, step.tool) == (StepKind.TOOL_CALL, "docs.find", "docs", "find")
        assert (step.arguments, step.status, step.output) == ({"q": [1]}, status, output)

    def test_a_sub_agent(self) -> None:
        states = {"T2": {"status": "done"}}
        call = {"tool": "spawn_agent", "prompt": "count", "receiver_thread_ids": ["T2"], "agents_states": states}
        (step,) = fed(item("completed", "collab_tool_call", **call, status="completed"))
        assert (step.kind, step.text, step.tool, step.status) == (
            StepKind.SUBAGENT, "count", "spawn_agent", StepStatus.OK,
        )  # fmt: skip
        assert json.loads(step.output or "") == states

    def test_a_web_search(self) -> None:
        (step,) = fed(item("completed", "web_search", query="weather", action={"type": "search"}))
        assert (step.kind, step.text, step.status) == (StepKind.WEB_SEARCH, "weather", StepStatus.OK)
        assert step.arguments == {"query": "weather", "action": {"type": "search"}}

    def test_a_plan_is_one_step_that_changes(self) -> None:
        todo = [{"text": "a", "completed": True}, {"text": "b", "completed": False}]
        first, second = fed(item("started", "todo_list", items=[]), item("updated", "todo_list", items=todo))
        assert (first.index, second.index, second.status) == (0, 0, StepStatus.RUNNING)
        assert second.items == (PlanItem(text="a", status="completed"), PlanItem(text="b", status="pending"))

    def test_answers_and_reasoning_are_steps_as_they_were_written(self) -> None:
        parser = CODEX.parser()
        said = item("completed", "agent_message", text="[bold]hi\x1b[31m")
        thought = item("completed", "reasoning", text="hm")
        assert [(s.kind, s.text) for s in fed(thought, said, parser=parser)] == [
            (StepKind.REASONING, "hm"),
            (StepKind.MESSAGE, "[bold]hi\x1b[31m"),
        ]
        assert parser.facts.last_message == "[bold]hi\x1b[31m"

    def test_a_warning_item_ends_nothing(self) -> None:
        parser = CODEX.parser()
        (step,) = fed(item("completed", "error", message="old config"), parser=parser)
        assert (step.kind, step.fatal, parser.facts.end, parser.facts.error) == (StepKind.ERROR, False, None, None)

    def test_an_item_of_tomorrow_is_kept_raw(self) -> None:
        parser = CODEX.parser()
        (step,) = fed(item("completed", "plan", text="x"), parser=parser)
        assert (step.kind, step.event) == (StepKind.UNKNOWN, "item.completed plan")
        assert json.loads(step.text)["item"]["text"] == "x"
        assert parser.facts.unknown_kinds == {"item.completed plan": 1}

    def test_fields_of_tomorrow_are_ignored(self) -> None:
        (step,) = fed(item("completed", "agent_message", text="hi", mood="good") | {"at": 1})
        assert step.kind is StepKind.MESSAGE


HOSTILE = [
    (b"42", "JSON number"),
    (b"[]", "JSON array"),
    (b"null", "JSON null"),
    (b"{}", "JSON without a type"),
    (b'{"type":1}', "JSON without a type"),
    (b'{"type":"turn.completed"', "not JSON"),
    (b"Error: not logged in", "not JSON"),
    (b"\xff\xfe", "not JSON"),
    (b'{"type":"\\ud800"}', "\ufffd"),
    (b"[" * 100_000, "nested too deeply"),
    (b'{"a":' * 100_000, "nested too deeply"),
    (b'{"type":"item.started"}', "item.started"),
    (b'{"type":"' + b"k" * 500 + b'"}', "k" * 80),
]


def test_a_line_that_cannot_be_read_is_kept_and_counted() -> None:
    for line, kind in HOSTILE:
        parser = CODEX.parser()
        (step,) = parser.feed(line, 5)
        assert (step.kind, step.event, step.at) == (StepKind.UNKNOWN, kind, 5), line[:80]
        assert step.text == line.decode("utf-8", "replace"), line[:80]
        assert (parser.facts.lines, parser.facts.unknown_kinds, parser.facts.end) == (1, {kind: 1}, None), line[:80]


def test_free_form_arguments_can_always_be_printed_again() -> None:
    """Neither nesting nor numbers can break the ones who encode a step."""
    for depth in [10, 63, 70, 500, 700]:
        for number in [b"1", b"1" + b"0" * 30]:
            deep = b"[" * depth + number + b"]" * depth
            line = (
                b'{"type":"item.completed","item":{"id":"1","type":"mcp_tool_call","tool":"t","arguments":%b}}' % deep
            )
            (step,) = CODEX.parser().feed(line)
            assert step.kind is StepKind.TOOL_CALL, (depth, number)
            assert deep in msgspec.json.encode(step), (depth, number)


def test_a_blank_line_is_nothing() -> None:
    parser = CODEX.parser()
    assert [parser.feed(line) for line in (b"", b"  ", b"\r")] == [[], [], []]
    assert parser.facts.lines == 0


BACKTRACE = "\n\nStack backtrace:\n   0: <unknown>\n   1: <unknown>\n"
RESUME = "Error: thread/resume: thread/resume failed: no rollout found for thread id 1 (code -32600)"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Reading additional input from stdin...\n", None),
        ("Reading prompt from stdin...\nNo prompt provided via stdin.\n", "No prompt provided via stdin."),
        ("WARNING: proceeding, even though we could not create PATH aliases\n", None),
        (RESUME + BACKTRACE, RESUME),
        (f"2026-11-21T00:05:44Z ERROR codex_core: thread-store conflict\n{RESUME}{BACKTRACE}", RESUME),
        ("error: unexpected argument '--full-auto' found\n\nUsage: codex exec [OPTIONS]\n",
         "error: unexpected argument '--full-auto' found"),
        ("Reading additional input from stdin...\nNot inside a git folder.\n", "Not inside a git folder."),
        ("", None),
    ],
)  # fmt: skip
def test_the_reason_of_a_failure_is_the_line_of_stderr_that_tells_why(text: str, reason: str | None) -> None:
    assert CODEX.stderr_reason(text) == reason


def test_calls_as_the_model_wrote_them_are_steps_with_their_results() -> None:
    def done(kind: str, **fields: Any) -> dict[str, Any]:
        return item("completed", kind, **fields)

    steps = fed(
        done("function_call", call_id="1", name="shell", arguments='{"command":["bash","-lc","ls"]}'),
        done("function_call", call_id="2", name="read_file", arguments='{"path":"a"}'),
        done("function_call_output", call_id="1", output='{"output":"x","metadata":{"exit_code":2}}'),
        done("function_call_output", output="words"),
        done("custom_tool_call", call_id="3", name="apply_patch", input="*** Begin Patch\n*** Add File: n\n+a\n"),
        done("custom_tool_call_output", call_id="3", output="Success."),
        done("local_shell_call", call_id="4", action={"type": "exec", "command": ["ls", "-l"]}),
        done("function_call_output", call_id="9", output="nobody asked"),
    )
    assert [(s.index, str(s.kind), s.text, s.status, s.output) for s in steps] == [
        (0, "command", "ls", "running", None),
        (1, "tool_call", "read_file", "running", None),
        (0, "command", "ls", "failed", "x"),
        (1, "tool_call", "read_file", "ok", "words"),
        (2, "file_change", "n", "running", None),
        (2, "file_change", "n", "ok", "Success."),
        (3, "command", "ls -l", "running", None),
        (4, "tool_call", "9", "ok", "nobody asked"),
    ]
