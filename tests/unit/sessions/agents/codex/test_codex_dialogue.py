"""The dialogue with a live codex (codex-cli 0.169.0), on its real output."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.sessions.agents.live_captures import NAMES, lines_of

from agentdash.sessions.agents.base import LaunchRequest
from agentdash.sessions.agents.codex.adapter import Codex, CodexSettings
from agentdash.sessions.agents.codex.app_server.dialogue import CodexDialogue
from agentdash.sessions.agents.codex.usage import CodexMeter
from agentdash.sessions.agents.dialogue import (
    Asked,
    Changed,
    Delivery,
    Event,
    Failed,
    NotChanged,
    Ready,
    Received,
    Settled,
    TurnBegan,
    TurnEnded,
)
from agentdash.sessions.agents.parsing.usage_meter import When
from agentdash.sessions.rules.asks.answers import taken
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Verdict
from agentdash.sessions.rules.launch import Command, Launch
from agentdash.sessions.rules.limits.limits import Limits

CODEX = Codex()
SHAPES = [line for name in NAMES for line in lines_of(name)]
THREAD = "01a20197-f3df-7b33-829e-87dea54115c3"


def launch(settings: CodexSettings | None = None, **request: Any) -> Command:
    asked = {"prompt": "hello", "cwd": "/p", "session_id": "s"} | request
    return CODEX.command(LaunchRequest(settings=settings or CodexSettings(live=True), **asked))


def dialogue() -> CodexDialogue:
    return CodexDialogue(launch().opening)


def replayed(name: str, *, until: bytes = b"") -> tuple[CodexDialogue, list[Event]]:
    """A dialogue and its events; ``until`` ends it behind the first line with these bytes."""
    found, spoken = [], dialogue()
    for line in lines_of(name):
        found += spoken.feed(line)
        if until and until in line:
            break
    return spoken, found


def fed(spoken: CodexDialogue, *messages: dict[str, Any]) -> list[Event]:
    return [event for message in messages for event in spoken.feed(json.dumps(message).encode())]


def opened() -> CodexDialogue:
    """A dialogue that is ready, with the thread T."""
    spoken = dialogue()
    spoken.opening()
    fed(spoken, {"id": 1, "result": {}}, {"id": 2, "result": {"thread": {"id": "T"}, "model": "m"}})
    return spoken


def note(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": {"threadId": "T"} | params}


def turn(phase: str, turn_id: str = "t", status: str = "completed") -> dict[str, Any]:
    return note(f"turn/{phase}", turn={"id": turn_id, "status": status})


def accepted(key: str, turn_id: str = "t", attempt: int = 1) -> dict[str, Any]:
    return {"id": f"prompt:{key}:{attempt}", "result": {"turn": {"id": turn_id}}}


def probed(key: str, attempt: int = 1) -> dict[str, Any]:
    return {"id": f"probe:{key}:{attempt}", "result": {"thread": {"id": "T"}}}


def message(key: str | None) -> dict[str, Any]:
    return note("item/started", turnId="t", item={"type": "userMessage", "id": "i", "clientId": key, "content": []})


def the_ask(events: list[Event]) -> Ask:
    (asked,) = [event for event in events if isinstance(event, Asked)]
    return asked.ask


class TestLaunch:
    def test_a_live_codex_is_an_app_server_whose_thread_has_the_settings(self) -> None:
        start = launch(CodexSettings(live=True, sandbox="read-only", instructions="Be brief."), model="m")
        assert (start.argv, start.transport, start.stdin) == (("codex", "app-server"), "app-server", "hello")
        first, second, third = map(json.loads, start.opening)
        assert (first["id"], first["method"], second) == (1, "initialize", {"method": "initialized"})
        assert third == {
            "id": 2,
            "method": "thread/start",
            "params": {
                "cwd": "/p", "approvalPolicy": "on-request", "sandbox": "read-only", "model": "m",
                "developerInstructions": "Be brief.",
            },
        }  # fmt: skip

    def test_a_thread_is_resumed_with_its_policies_and_without_its_turns(self) -> None:
        third = json.loads(launch(agent_session="T").opening[2])
        assert third["method"] == "thread/resume"
        assert third["params"] == {
            "cwd": "/p", "approvalPolicy": "on-request", "sandbox": "workspace-write", "threadId": "T",
            "excludeTurns": True,
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("settings", "approval", "sandbox"),
        [
            (CodexSettings(live=True, approvals="deny"), "never", "workspace-write"),
            (CodexSettings(live=True, full_danger=True), "never", "danger-full-access"),
            (CodexSettings(live=True, sandbox="danger-full-access"), "on-request", "danger-full-access"),
        ],
    )
    def test_codex_asks_only_if_the_user_wants_to_be_asked(
        self, settings: CodexSettings, approval: str, sandbox: str
    ) -> None:
        params = json.loads(launch(settings).opening[2])["params"]
        assert (params["approvalPolicy"], params["sandbox"]) == (approval, sandbox)

    def test_if_the_handshake_fails_the_turn_runs_as_without_live(self) -> None:
        settings = CodexSettings(live=True, search=True, config={"a": 1}, args=("--enable", "x"))
        plain = CODEX.command(
            LaunchRequest(
                prompt="hello", cwd="/p", session_id="s",
                settings=CodexSettings(live=False, search=True, config={"a": 1}, args=("--enable", "x")),
            )
        )  # fmt: skip
        assert launch(settings).plain_argv == plain.argv
        assert (plain.transport, plain.opening, plain.plain_argv) == ("", (), ())

    def test_search_config_and_arguments_are_passed_on(self) -> None:
        settings = CodexSettings(
            live=True, bin="/b/codex", search=False, config={"a": 1}, args=("-cb=2", "--config=c=3")
        )
        assert launch(settings).argv == (
            "/b/codex", "app-server", "-c", 'web_search="disabled"', "-c", "a=1", "-cb=2", "--config=c=3",
        )  # fmt: skip

    @pytest.mark.parametrize(
        "args", [("--ephemeral",), ("-m", "x"), ("--add-dir", "/x"), ("-c",), ("--output-schema=x",)]
    )
    def test_with_an_argument_that_only_exec_takes_each_turn_has_its_own_process(self, args: tuple[str, ...]) -> None:
        made = launch(CodexSettings(args=args))
        assert made.argv == launch(CodexSettings(live=False, args=args)).argv
        assert (made.transport, made.opening) == ("", ())
        assert f"a live codex does not take {args[0]} of agents.codex.args" in made.warnings[0]

    def test_with_an_override_that_an_app_server_ignores_each_turn_has_its_own_process(self) -> None:
        made = launch(CodexSettings(config={"approval_policy": "never"}))
        assert made.argv[:2] == ("codex", "exec")
        assert "ignores agents.codex.config.approval_policy" in made.warnings[0]

    def test_turn_by_turn_there_is_nothing_to_warn_of(self) -> None:
        assert launch(CodexSettings(live=False, args=("--ephemeral",))).warnings == ()

    @pytest.mark.parametrize("limits", [Limits(), Limits(tokens=5), Limits(cost_usd=5.0)])
    def test_tokens_and_cost_are_known_from_the_transcript_while_a_turn_runs(self, limits: Limits) -> None:
        start = launch(model="gpt-5.5")
        assert CODEX.measures(start, {}, {}).tokens.when is When.LIVE
        limited = Launch(argv=start.argv, transport="app-server", limits=limits)
        assert isinstance(CODEX.use.meter(limited, {}, 0), CodexMeter)

    def test_only_a_live_launch_has_a_dialogue(self) -> None:
        assert isinstance(CODEX.dialogue(launch().transport), CodexDialogue)
        assert CODEX.dialogue(launch(CodexSettings(live=False)).transport) is None


class TestHandshake:
    def test_a_line_that_needs_an_answer_waits_for_it(self) -> None:
        spoken = dialogue()
        (first,) = spoken.opening()
        assert json.loads(first)["method"] == "initialize"
        assert first.endswith(b"\n")
        assert spoken.opening() == []
        assert fed(spoken, {"id": 1, "result": {"userAgent": "x"}}) == []
        assert [json.loads(line)["method"] for line in spoken.opening()] == ["initialized", "thread/start"]
        assert (spoken.opening(), spoken.ready) == ([], False)
        assert fed(spoken, {"id": 2, "result": {"thread": {"id": "T"}}}) == [Ready("T")]
        assert (spoken.opening(), spoken.ready) == ([], True)

    def test_a_new_dialogue_repeats_only_what_has_no_answer(self) -> None:
        lines = [json.dumps({"id": 1, "result": {}}).encode(), b'{"id":2,"result":{"thread":{"id":"T"}}}']
        for answers, methods in ((0, ["initialize"]), (1, ["initialized", "thread/start"]), (2, [])):
            adopted = dialogue()
            for line in lines[:answers]:
                adopted.feed(line)
            assert [json.loads(line)["method"] for line in adopted.opening()] == methods

    def test_a_second_answer_to_a_repeated_line_changes_nothing(self) -> None:
        spoken = opened()
        repeated = {"id": 1, "error": {"message": "Already initialized"}}
        assert fed(spoken, repeated, {"id": 2, "result": {"thread": {"id": "other"}}}) == []
        assert json.loads(spoken.prompt("k", 1, "x"))["params"]["threadId"] == "T"

    @pytest.mark.parametrize(
        ("name", "reason"),
        [("codex-second-writer.jsonl", "already has an active writer"), ("codex-refused.jsonl", "unknown variant")],
    )
    def test_a_refused_thread_fails_the_handshake(self, name: str, reason: str) -> None:
        spoken, events = replayed(name)
        (failed,) = events
        assert isinstance(failed, Failed)
        assert reason in failed.reason
        assert not spoken.ready

    def test_a_refused_initialize_fails_it_too(self) -> None:
        assert fed(dialogue(), {"id": 1, "error": {"message": "no"}}) == [Failed("no")]

    @pytest.mark.parametrize("name", ["codex-resume.jsonl", "codex-native-queue-restart2.jsonl"])
    def test_a_resumed_thread_is_ready(self, name: str) -> None:
        assert isinstance(replayed(name)[1][0], Ready)


class TestPrompts:
    def test_the_line_has_the_key_and_an_id_that_follows_from_it(self) -> None:
        line = opened().prompt("k-1", 2, "héllo\nthere")
        assert line.count(b"\n") == 1
        assert line.endswith(b"\n")
        assert json.loads(line) == {
            "id": "prompt:k-1:2",
            "method": "turn/start",
            "params": {
                "threadId": "T", "clientUserMessageId": "k-1",
                "input": [{"type": "text", "text": "héllo\nthere", "text_elements": []}],
            },
        }  # fmt: skip
        assert opened().prompt("k-1", 2, "héllo\nthere") == line

    def test_a_prompt_is_accepted_begins_its_turn_and_is_seen(self) -> None:
        events = replayed("codex-steers.jsonl", until=b'"turn/completed"')[1]
        assert events[1:] == [
            Received("a", Delivery.ACCEPTED), TurnBegan("a"), Received("a", Delivery.SEEN),
            Received("b", Delivery.ACCEPTED), Received("b", Delivery.SEEN), TurnEnded(),
        ]  # fmt: skip

    def test_a_prompt_that_an_interrupted_turn_did_not_read_is_withdrawn_after_its_end(self) -> None:
        events = replayed("codex-work.jsonl")[1]
        assert events[-6:] == [
            Received("z", Delivery.ACCEPTED), TurnBegan("z"), Received("z", Delivery.SEEN),
            Received("y", Delivery.ACCEPTED), TurnEnded(), Received("y", Delivery.WITHDRAWN),
        ]  # fmt: skip

    def test_a_refused_prompt_has_the_words_of_codex(self) -> None:
        refused = {"id": "prompt:k:1", "error": {"code": -32600, "message": "no"}}
        assert fed(opened(), refused) == [Received("k", Delivery.REFUSED, "no")]

    def test_a_key_may_have_colons(self) -> None:
        assert fed(opened(), accepted("a:b:c")) == [Received("a:b:c", Delivery.ACCEPTED)]

    def test_a_prompt_into_a_running_turn_begins_none(self) -> None:
        spoken = opened()
        events = fed(spoken, accepted("a"), turn("started"), message("a"), accepted("b"), message("b"), message("b"))
        assert [event for event in events if isinstance(event, TurnBegan)] == [TurnBegan("a")]
        assert events[-1] == Received("b", Delivery.SEEN)
        assert sum(event == Received("b", Delivery.SEEN) for event in events) == 1

    def test_a_turn_that_codex_begins_by_itself_has_no_key(self) -> None:
        assert fed(opened(), turn("started"), turn("completed")) == [TurnBegan(), TurnEnded()]

    def test_the_turns_of_a_sub_agent_are_not_ours(self) -> None:
        child = {"threadId": "child", "turn": {"id": "c", "status": "completed"}}
        began, ended = ({"method": f"turn/{phase}", "params": child} for phase in ("started", "completed"))
        assert fed(opened(), accepted("a"), turn("started"), began, ended)[2:] == []

    def test_a_lost_prompt_is_told_by_the_probe_behind_it(self) -> None:
        spoken = opened()
        probe = {"id": "probe:k:1", "method": "thread/read", "params": {"threadId": "T"}}
        assert json.loads(spoken.probe("k", 1)) == probe
        assert spoken.arrived("k", 1) is None
        fed(spoken, probed("k"))
        assert spoken.arrived("k", 1) is False
        fed(spoken, accepted("k", attempt=2))
        assert (spoken.arrived("k", 1), spoken.arrived("k", 2)) == (False, True)

    def test_the_answer_to_an_earlier_probe_says_nothing_about_a_later_prompt_or_attempt(self) -> None:
        spoken = opened()
        fed(spoken, probed("k"))
        assert (spoken.arrived("k", 2), spoken.arrived("other", 1)) == (None, None)

    def test_a_prompt_that_was_dropped_and_is_sent_again_is_probed_again(self) -> None:
        spoken = opened()
        fed(spoken, turn("started"), probed("k"), accepted("k"), turn("completed", status="interrupted"))
        assert spoken.arrived("k", 1) is None

    def test_codex_neither_withdraws_nor_ignores_a_prompt_that_is_sent_twice(self) -> None:
        spoken = opened()
        assert (spoken.resends, spoken.steers, spoken.withdraw("k"), spoken.closing()) == (False, True, None, None)


class TestInterrupt:
    def test_the_turn_ends_and_then_its_commands(self) -> None:
        spoken = opened()
        assert spoken.interrupt() == []
        fed(spoken, accepted("a"))
        assert spoken.interrupt() == []  # codex refuses to interrupt a turn before it began
        fed(spoken, turn("started"))
        assert [(line["method"], line["params"]) for line in map(json.loads, spoken.interrupt())] == [
            ("turn/interrupt", {"threadId": "T", "turnId": "t"}),
            ("thread/backgroundTerminals/clean", {"threadId": "T"}),
        ]
        fed(spoken, turn("completed", status="interrupted"))
        assert spoken.interrupt() == []


def answered(name: str, until: bytes, answer: Answer) -> Any:
    """What the ask of a capture is answered with."""
    spoken, events = replayed(name, until=until)
    ask = [event.ask for event in events if isinstance(event, Asked)][-1]
    line = spoken.answer(ask.key, answer)
    assert line is not None
    return json.loads(line)


class TestAsks:
    def test_a_command(self) -> None:
        ask = the_ask(replayed("codex-asks.jsonl", until=b"requestApproval")[1])
        assert ask == Ask(
            key="0", kind=AskKind.COMMAND, tool="shell", title="run: touch asked.txt && echo ran-it",
            body="touch asked.txt && echo ran-it", cwd="/home/dev/project", why="It makes a file.",
            verdicts=(Verdict.ALLOW, Verdict.ALWAYS, Verdict.DENY, Verdict.STOP),
            always="the same command, for the rest of the session",
        )  # fmt: skip

    def test_a_command_that_a_person_must_allow_each_time(self) -> None:
        spoken = opened()
        request = note("item/commandExecution/requestApproval", kind="humanCommand", command="ls", cwd="/p") | {"id": 9}
        ask = the_ask(fed(spoken, request))
        assert (ask.each_time, taken(ask)) == (True, (Verdict.ALLOW, Verdict.DENY, Verdict.STOP))

    def test_an_edit_has_the_diff_of_the_item_before_it(self) -> None:
        events = replayed("codex-asks.jsonl", until=b"fileChange/requestApproval")[1]
        ask = [event.ask for event in events if isinstance(event, Asked)][-1]
        assert (ask.kind, ask.tool, ask.title) == (AskKind.EDIT, "apply_patch", "edit /home/dev/project/src/app.py")
        assert ask.paths == ("/home/dev/project/src/app.py",)
        assert ask.cwd == "/home/dev/project", "the request has none: it is the thread's"
        assert ask.body == "add /home/dev/project/src/app.py\n@@ -0,0 +1,2 @@\n+def main():\n+    return 1"

    def test_a_question(self) -> None:
        ask = the_ask(replayed("codex-request-user-input.jsonl")[1])
        (question,) = ask.questions
        assert (ask.kind, ask.title, ask.verdicts) == (
            AskKind.QUESTION, "Which colour?", (Verdict.ANSWER, Verdict.DENY),
        )  # fmt: skip
        assert (question.key, question.header, question.free) == ("colour", "Colour", True)
        assert [(choice.label, choice.description) for choice in question.choices] == [
            ("Red", "warm"),
            ("Blue", "cold"),
        ]

    @pytest.mark.parametrize(
        ("verdict", "decision"),
        [
            (Verdict.ALLOW, "accept"), (Verdict.ALWAYS, "acceptForSession"), (Verdict.DENY, "decline"),
            (Verdict.STOP, "cancel"),
        ],
    )  # fmt: skip
    def test_the_decisions_about_commands_and_edits(self, verdict: Verdict, decision: str) -> None:
        expected = {"id": 0, "result": {"decision": decision}}
        assert answered("codex-asks.jsonl", b"requestApproval", Answer(verdict=verdict)) == expected
        expected = {"id": 2, "result": {"decision": decision}}
        assert answered("codex-asks.jsonl", b"fileChange/requestApproval", Answer(verdict=verdict)) == expected

    def test_answers_to_questions(self) -> None:
        line = answered(
            "codex-request-user-input.jsonl", b"requestUserInput",
            Answer(verdict=Verdict.ANSWER, values={"colour": ("Blue",)}),
        )  # fmt: skip
        assert line == {"id": 0, "result": {"answers": {"colour": {"answers": ["Blue"]}}}}

    def test_wider_permissions(self) -> None:
        spoken = opened()
        asked = {"network": {"enabled": True}, "fileSystem": None}
        request = note("item/permissions/requestApproval", permissions=asked, cwd="/p", reason="why") | {"id": 9}
        ask = the_ask(fed(spoken, request))
        assert (ask.kind, ask.why, json.loads(ask.body)) == (AskKind.PERMISSIONS, "why", asked)
        granted = {"network": {"enabled": True}}
        for verdict, result in (
            (Verdict.ALLOW, {"permissions": granted, "scope": "turn"}),
            (Verdict.ALWAYS, {"permissions": granted, "scope": "session"}),
            (Verdict.DENY, {"permissions": {}, "scope": "turn"}),
        ):
            assert json.loads(spoken.answer("9", Answer(verdict=verdict)) or b"") == {"id": 9, "result": result}

    def test_a_form_of_an_mcp_server(self) -> None:
        spoken = opened()
        schema = {
            "type": "object",
            "properties": {
                "name": {"type": "string", "title": "Your name", "description": "as printed"},
                "age": {"type": "integer"},
                "sure": {"type": "boolean"},
                "colours": {"type": "array", "items": {"enum": ["red", "blue"]}},
                "size": {"type": "string", "oneOf": [{"const": "s", "title": "small"}]},
            },
            "required": ["name"],
        }
        request = note("mcpServer/elicitation/request", serverName="db", message="Who?", requestedSchema=schema)
        ask = the_ask(fed(spoken, request | {"id": "form"}))
        assert (ask.key, ask.kind, ask.title, ask.tool) == ('"form"', AskKind.FORM, "fill in a form of db: Who?", "db")
        assert [(q.key, q.type, q.required, q.several, q.free) for q in ask.questions] == [
            ("name", "string", True, False, True), ("age", "integer", False, False, True),
            ("sure", "boolean", False, False, False), ("colours", "string", False, True, False),
            ("size", "string", False, False, False),
        ]  # fmt: skip
        values = {"name": ("Ada",), "age": ("36",), "sure": ("true",), "colours": ("red", "blue"), "size": ("s",)}
        line = spoken.answer(ask.key, Answer(verdict=Verdict.ANSWER, values=values))
        assert json.loads(line or b"") == {
            "id": "form",
            "result": {
                "action": "accept", "_meta": None,
                "content": {"name": "Ada", "age": 36, "sure": True, "colours": ["red", "blue"], "size": "s"},
            },
        }  # fmt: skip
        for verdict, action in ((Verdict.DENY, "decline"), (Verdict.STOP, "cancel")):
            line = spoken.answer(ask.key, Answer(verdict=verdict))
            assert json.loads(line or b"")["result"] == {"action": action, "content": None, "_meta": None}

    def test_a_request_of_another_kind_can_be_denied(self) -> None:
        spoken = opened()
        ask = the_ask(fed(spoken, {"id": 7, "method": "item/tool/call", "params": {"tool": "x"}}))
        assert ask.verdicts == (Verdict.DENY,)
        assert json.loads(spoken.answer("7", Answer(verdict=Verdict.DENY)) or b"")["error"]["code"] == -32601

    def test_several_are_open_at_once_and_each_is_settled_by_its_receipt(self) -> None:
        spoken, events = replayed("codex-answer-twice.jsonl")
        keys = [event.ask.key for event in events if isinstance(event, Asked)]
        assert keys == ["0", "1", "2"]
        settled = [event for event in events if isinstance(event, Settled)]
        assert settled == [Settled(key, answered=True) for key in ("0", "2", "1")]
        assert spoken.answer(keys[0], Answer(verdict=Verdict.ALLOW)) is None

    def test_an_answer_is_repeated_until_codex_has_it(self) -> None:
        spoken = replayed("codex-asks.jsonl", until=b"requestApproval")[0]
        first = spoken.answer("0", Answer(verdict=Verdict.ALLOW))
        assert first is not None
        assert spoken.answer("0", Answer(verdict=Verdict.ALLOW)) == first
        assert fed(spoken, note("serverRequest/resolved", requestId=0)) == [Settled("0", answered=True)]
        assert spoken.answer("0", Answer(verdict=Verdict.ALLOW)) is None

    def test_what_is_open_at_the_end_of_its_turn_is_over(self) -> None:
        spoken = opened()
        ask = note("item/commandExecution/requestApproval", turnId="t", command="ls") | {"id": 3}
        fed(spoken, turn("started"), ask)
        assert fed(spoken, turn("completed", status="interrupted")) == [Settled("3", answered=False), TurnEnded()]

    def test_what_codex_resolves_because_of_an_interrupt_was_not_answered(self) -> None:
        spoken = opened()
        ask = note("item/commandExecution/requestApproval", turnId="t", command="ls") | {"id": 3}
        fed(spoken, turn("started"), ask)
        spoken.interrupt()
        assert fed(spoken, note("serverRequest/resolved", requestId=3)) == [Settled("3", answered=False)]


class TestChanges:
    def test_the_model_and_the_sandbox_change_when_codex_says_so(self) -> None:
        assert [event for event in replayed("codex-steers.jsonl")[1] if isinstance(event, Changed)] == [
            Changed("model", "gpt-5.4"), Changed("mode", "read-only"), Changed("mode", "workspace-write"),
        ]  # fmt: skip

    def test_the_lines_that_change_them(self) -> None:
        spoken = opened()
        assert json.loads(spoken.change("model", "x") or b"")["params"] == {"threadId": "T", "model": "x"}
        line = json.loads(spoken.change("mode", "read-only") or b"")
        assert (line["method"], line["params"]["sandboxPolicy"]) == ("thread/settings/update", {"type": "readOnly"})
        assert spoken.change("mode", "no such mode") is None
        assert spoken.change("colour", "red") is None


def test_a_dialogue_that_reads_the_same_output_concludes_the_same() -> None:
    for name in NAMES:
        assert replayed(name)[1] == replayed(name)[1], name


@given(st.lists(st.binary(max_size=200), max_size=8))
def test_any_bytes_never_crash(lines: list[bytes]) -> None:
    spoken = opened()
    for line in lines:
        spoken.feed(line)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.data())
def test_any_json_in_any_field_never_crashes_and_every_ask_can_be_answered(data: st.DataObject) -> None:
    spoken = opened()
    for _ in range(4):
        changed = json.loads(data.draw(st.sampled_from(SHAPES)))
        place = changed
        while isinstance(place, dict) and place:
            key = data.draw(st.sampled_from(sorted(place)))
            if not isinstance(place[key], dict) or data.draw(st.booleans()):
                place[key] = data.draw(VALUES)
                break
            place = place[key]
        for event in spoken.feed(json.dumps(changed).encode()):
            if isinstance(event, Asked):
                for verdict in event.ask.verdicts:
                    line = spoken.answer(event.ask.key, Answer(verdict=verdict, values={"a": ("b",)}))
                    assert line is not None
                    json.loads(line)


@given(VALUES, st.dictionaries(st.text(max_size=8), st.lists(st.text(max_size=8), max_size=3).map(tuple), max_size=3))
def test_a_form_of_any_shape_can_be_asked_and_answered(schema: Any, values: dict[str, tuple[str, ...]]) -> None:
    spoken = opened()
    request = note("mcpServer/elicitation/request", requestedSchema={"properties": schema}) | {"id": 1}
    ask = the_ask(fed(spoken, request))
    assert spoken.answer(ask.key, Answer(verdict=Verdict.ANSWER, values=values)) is not None


class TestAnswersToChanges:
    def test_a_change_is_confirmed_by_its_answer_and_a_refusal_has_its_words(self) -> None:
        spoken = opened()
        line = spoken.change("mode", "read-only")
        assert line is not None
        name = json.loads(line)["id"]
        assert fed(spoken, {"id": name, "result": {}}) == [Changed("mode", "read-only")]
        told = note("thread/settings/updated", threadSettings={"sandboxPolicy": {"type": "readOnly"}})
        assert fed(spoken, told) == [], "it was confirmed already"
        refusal = fed(spoken, {"id": name, "error": {"code": -32600, "message": "no such thing"}})
        assert refusal == [NotChanged("mode", "read-only", "no such thing")]

    @pytest.mark.parametrize("name", ["change:", "change:model", "change:effort:high"])
    def test_an_answer_to_no_change_of_ours_changes_nothing(self, name: str) -> None:
        assert fed(opened(), {"id": name, "result": {}}) == []
