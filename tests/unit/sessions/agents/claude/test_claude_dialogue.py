"""The dialogue with a live claude, on what the real CLI printed and was written (2.1.197 and 2.1.330)."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import CAPTURES

from agentdash.sessions.agents.claude.live.dialogue import ClaudeDialogue
from agentdash.sessions.agents.dialogue import (
    Asked,
    Changed,
    Delivery,
    Event,
    NotChanged,
    Received,
    Settled,
    TurnBegan,
    TurnEnded,
)
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Choice, Question, Verdict
from agentdash.sessions.rules.asks.rules import decide
from agentdash.sessions.rules.asks.settings import AskRule

LIVE = CAPTURES / "live"
NAMES = sorted(path.name for path in LIVE.glob("claude-*.jsonl") if not path.name.endswith(".in.jsonl"))
RUN = "run: touch outside-$$.txt && echo ran-it"


def output(name: str) -> list[bytes]:
    return (LIVE / name).read_bytes().split(b"\n")


def written(name: str, kind: str) -> list[dict[str, Any]]:
    """The lines of one type that were written in a capture."""
    lines = map(json.loads, (LIVE / name.replace(".jsonl", ".in.jsonl")).read_text().splitlines())
    return [line for line in lines if line["type"] == kind]


def fed(*lines: dict[str, Any] | bytes, dialogue: ClaudeDialogue | None = None) -> list[Event]:
    dialogue = dialogue or ClaudeDialogue()
    as_bytes = (line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    return [event for line in as_bytes for event in dialogue.feed(line)]


def told(name: str) -> list[str]:
    """The events of a capture, each in a few words; prompts have the numbers in which they were written."""
    keys = list(dict.fromkeys(line["uuid"] for line in written(name, "user")))
    return [words(event, keys) for event in fed(*output(name))]


def words(event: Event, keys: list[str]) -> str:
    match event:
        case TurnBegan(key):
            return "began" if key is None else f"began {keys.index(key) + 1}"
        case TurnEnded():
            return "ended"
        case Received(key, delivery):
            return f"{delivery} {keys.index(key) + 1}"
        case Asked(ask):
            return ask.title
        case Settled(_, answered):
            return "settled" if answered else "void"
        case Changed(what, value):
            return f"{what} {value}"
        case _:
            raise AssertionError(event)


def turn(number: int, *within: str) -> list[str]:
    """A turn of 2.1.330 that a prompt began while nothing ran."""
    return [f"accepted {number}", f"began {number}", f"seen {number}", *within, "ended"]


def older(number: int, *within: str) -> list[str]:
    """The same of 2.1.197."""
    return ["began", f"seen {number}", *within, "ended"]


ASKS = ([RUN, "settled"], [RUN, "settled"], [RUN, "settled"])
TOLD = {
    "claude-330-can-use-tool": [
        *turn(1, *ASKS[0]), *turn(2, *ASKS[1]), *turn(3, *ASKS[2]),
        *turn(4, "write made.txt", "settled", "mode acceptEdits"), *turn(5),
    ],
    "claude-197-can-use-tool": [
        *older(1, *ASKS[0]), *older(2, *ASKS[1]), *older(3, *ASKS[2]),
        *older(4, "write made.txt", "mode acceptEdits", "settled"), *older(5),
    ],
    "claude-330-live-inject": [*turn(1, "accepted 2", "accepted 3", "seen 2", "seen 3"), *turn(4)],
    "claude-197-live-inject": [*older(1, "seen 2", "seen 3"), *older(4)],
    "claude-330-prompt-at-end": [
        "accepted 1", "began 1", "accepted 2", "seen 1", "ended", "began 2", "seen 2", "ended",
    ],
    "claude-197-prompt-at-end": [*older(1), *older(2)],
    "claude-330-background-wakes": [*turn(1), "began", "ended"],
    "claude-197-background-wakes": [*older(1), "began", "ended"],
    "claude-330-interrupt-with-queued": [*turn(1), *turn(2), *turn(3), *turn(4)],
    "claude-197-interrupt-with-queued": [*older(1), *older(2), *older(3), *older(4)],
    "claude-330-dup-uuid": turn(1, "accepted 2", "seen 2"),
    "claude-197-dup-uuid": older(1, "accepted 2", "seen 2"),
    "claude-330-dup-uuid-resume": [
        "accepted 1", "seen 1", "accepted 2", "accepted 3", "began 2", "seen 2", "ended", "began 3", "seen 3", "ended",
    ],
    "claude-330-merged": [
        "accepted 1", "accepted 2", "accepted 3", "began 1", "seen 1", "ended",
        "seen 2", "began 2", "seen 3", "ended",
    ],
    "claude-197-merged": [*older(1), "seen 2", "began 2", "seen 3", "ended"],
    "claude-330-early-interrupt": [*turn(1), *turn(2)],
    "claude-197-early-interrupt": [*older(1), *older(2)],
    "claude-330-control": ["mode plan", "mode bypassPermissions", *turn(1, "accepted 2", "withdrawn 2")],
    "claude-330-compact": [*turn(1), *turn(2), *turn(3), *turn(4), *turn(5)],
    "claude-197-can-use-tool-pending": [*older(1, RUN, "void"), *older(2), *older(3, RUN)],
    "claude-330-ask-user-question": turn(1, "Which colour?", "settled"),
    "claude-197-ask-user-question": older(1, "Which colour?", "settled"),
    "claude-197-elicitation": older(1, "fill in a form of s6: Your name?", "settled"),
    "claude-197-answer-twice": [
        *older(1, RUN, "settled"),
        *older(2, "run: touch p-1.txt && echo one", "settled", "run: touch p-2.txt && echo two", "settled"),
    ],
}  # fmt: skip


def test_every_event_of_a_capture_comes_in_its_order() -> None:
    for name in NAMES:
        assert told(name) == TOLD[name.removesuffix(".jsonl")], name


def test_prompts_are_written_as_they_were() -> None:
    for name in NAMES:
        dialogue = ClaudeDialogue()
        assert dialogue.ready, name
        for attempt, line in enumerate(written(name, "user"), 1):
            sent = dialogue.prompt(line["uuid"], attempt, line["message"]["content"][0]["text"])
            assert (json.loads(sent), sent.count(b"\n"), sent[-1:]) == (line, 1, b"\n"), name


def deny(message: str, verdict: Verdict = Verdict.DENY) -> Answer:
    return Answer(verdict=verdict, message=message)


ALLOW, ALWAYS = Answer(verdict=Verdict.ALLOW), Answer(verdict=Verdict.ALWAYS)
BLUE = Answer(verdict=Verdict.ANSWER, values={"Which colour?": ("Blue",)})
ADA = Answer(verdict=Verdict.ANSWER, values={"name": ("Ada",)})
GIVEN = {
    "can-use-tool": [ALLOW, deny("No: not in this folder."), deny("Stop it.", Verdict.STOP), ALWAYS],
    "ask-user-question": [BLUE],
    "elicitation": [ADA],
    "answer-twice": [ALLOW, ALLOW, deny("not this")],
}


@pytest.mark.parametrize("name", [name for name in NAMES if name[11:-6] in GIVEN])
def test_answers_are_written_as_they_were(name: str) -> None:
    lines = {line["response"]["request_id"]: line for line in written(name, "control_response")}
    answers, dialogue = iter(GIVEN[name[11:-6]]), ClaudeDialogue()
    for line in output(name):
        for event in dialogue.feed(line):
            if isinstance(event, Asked):
                answer = next(answers)
                sent = dialogue.answer(event.ask.key, answer)
                assert sent is not None
                assert json.loads(sent) == lines[event.ask.key]
                assert dialogue.answer(event.ask.key, answer) == sent, "it is open until its receipt"
            elif isinstance(event, Settled):
                assert dialogue.answer(event.key, ALLOW) is None
    assert list(answers) == []


@pytest.mark.parametrize("version", ["197", "330"])
def test_an_interrupt_is_written_while_a_turn_runs(version: str) -> None:
    name = f"claude-{version}-interrupt-with-queued.jsonl"
    [request, *_] = written(name, "control_request")
    dialogue, running = ClaudeDialogue(), False
    for line in output(name):
        events = dialogue.feed(line)
        running = (running or any(isinstance(event, TurnBegan | Received) for event in events)) and (
            TurnEnded() not in events
        )
        lines = [json.loads(sent) for sent in dialogue.interrupt()]
        assert all(sent | {"request_id": "r1"} == request for sent in lines)
        assert len(lines) == running
    assert dialogue.interrupt() == []


def test_a_prompt_whose_turn_is_not_reported_can_be_interrupted() -> None:
    dialogue = ClaudeDialogue()
    dialogue.prompt("k", 1, "text")
    assert len(dialogue.interrupt()) == 1
    cancelled = {"type": "command_lifecycle", "command_uuid": "k", "state": "cancelled"}
    fed(cancelled, dialogue=dialogue)
    assert dialogue.interrupt() == []


def began(dialogue: ClaudeDialogue) -> ClaudeDialogue:
    fed({"type": "system", "subtype": "init", "cwd": "/p", "permissionMode": "default"}, dialogue=dialogue)
    return dialogue


def responded(sent: bytes, **response: Any) -> dict[str, Any]:
    """claude's response to a request."""
    request_id = json.loads(sent)["request_id"]
    return {"type": "control_response", "response": {"subtype": "success", "request_id": request_id} | response}


def test_ids_of_requests_follow_from_the_output_and_are_used_again_only_without_a_response() -> None:
    dialogue = began(ClaudeDialogue())
    [first], [again] = dialogue.interrupt(), dialogue.interrupt()
    assert first == again
    line = responded(first)
    fed(line, dialogue=dialogue)
    [second] = dialogue.interrupt()
    assert json.loads(second)["request_id"] != json.loads(first)["request_id"]
    adopter = began(ClaudeDialogue())
    fed(line, dialogue=adopter)
    assert adopter.interrupt() == [second]


def test_a_setting_has_changed_when_claude_says_so() -> None:
    dialogue = began(ClaudeDialogue())
    model, mode = dialogue.change("model", "claude-x-1"), dialogue.change("mode", "plan")
    assert model is not None
    assert mode is not None
    assert json.loads(model)["request"] == {"subtype": "set_model", "model": "claude-x-1"}
    assert json.loads(mode)["request"] == {"subtype": "set_permission_mode", "mode": "plan"}
    assert dialogue.change("effort", "high") is None
    refused = fed(responded(model, subtype="error", error="no"), dialogue=dialogue)
    assert refused == [NotChanged("model", "claude-x-1", "no")]
    assert fed(responded(model), dialogue=dialogue) == [Changed("model", "claude-x-1")]
    status = {"type": "system", "subtype": "status", "permissionMode": "plan"}
    assert fed(responded(mode), status, dialogue=dialogue) == [Changed("mode", "plan")]


def test_a_prompt_is_withdrawn_if_claude_had_not_read_it() -> None:
    dialogue = ClaudeDialogue()
    sent = dialogue.withdraw("k1")
    assert json.loads(sent)["request"] == {"subtype": "cancel_async_message", "message_uuid": "k1"}
    assert fed(responded(sent, response={"cancelled": False}), dialogue=dialogue) == []
    withdrawn = [Received("k1", Delivery.WITHDRAWN)]
    assert fed(responded(sent, response={"cancelled": True}), dialogue=dialogue) == withdrawn
    cancelled = {"type": "command_lifecycle", "command_uuid": "k1", "state": "cancelled"}
    assert fed(cancelled, dialogue=dialogue) == []


def test_the_end_of_the_process_is_asked_for() -> None:
    assert json.loads(ClaudeDialogue().closing())["request"] == {"subtype": "end_session"}


def test_a_start_that_fails_is_a_whole_turn() -> None:
    assert fed({"type": "result", "is_error": True}) == [TurnBegan(), TurnEnded()]


def test_a_prompt_that_is_cancelled_before_its_turn_begins_none() -> None:
    dialogue = ClaudeDialogue()
    for state in ("queued", "started", "cancelled"):
        fed({"type": "command_lifecycle", "command_uuid": "k", "state": state}, dialogue=dialogue)
    assert dialogue.interrupt() == []
    assert fed({"type": "system", "subtype": "init"}, dialogue=dialogue) == [TurnBegan()]


def test_a_claude_that_enters_a_worktree_or_a_sub_agent_may_act_in_another_folder() -> None:
    """Seen in 2.1.332: only the beginning of a turn names the folder, and a sub-agent can have a worktree."""
    dialogue, ask = asked("Bash", {"command": "git status"}, agent_id="a86")
    assert ask.unplaced
    used = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "EnterWorktree", "input": {}}]}
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}}
    found = []
    for key, line in enumerate(
        (
            {"type": "assistant", "message": {"content": [{"type": "text", "text": "I use EnterWorktree"}]}},
            {"type": "assistant", "message": used},
            {"type": "system", "subtype": "init"},
            {"type": "system", "subtype": "init", "cwd": "/p/.claude/worktrees/w"},
        )
    ):
        fed(line, dialogue=dialogue)
        [event] = fed({"type": "control_request", "request_id": f"k{key}", "request": request}, dialogue=dialogue)
        assert isinstance(event, Asked)
        found.append((event.ask.unplaced, event.ask.cwd))
    assert found == [(False, "/p"), (True, "/p"), (True, "/p"), (False, "/p/.claude/worktrees/w")]


def test_a_command_whose_output_claude_watches_is_asked_as_a_command() -> None:
    _, ask = asked("Monitor", {"command": "git push", "description": "a harmless look", "timeout_ms": 1})
    assert (ask.kind, ask.title, ask.body) == (AskKind.COMMAND, "run: git push", "git push")
    _, ask = asked("Monitor", {"ws": {"url": "wss://example.org"}, "description": "events"})
    assert (ask.kind, ask.title) == (AskKind.TOOL, "use Monitor: events")


def asked(tool: str, arguments: Any, key: str = "1", **fields: Any) -> tuple[ClaudeDialogue, Ask]:
    """A dialogue in /p with one open ask, and the ask."""
    dialogue = began(ClaudeDialogue())
    request = {"subtype": "can_use_tool", "tool_name": tool, "input": arguments} | fields
    [event] = fed({"type": "control_request", "request_id": key, "request": request}, dialogue=dialogue)
    assert isinstance(event, Asked)
    return dialogue, event.ask


def test_what_claude_asks_for() -> None:
    for tool, arguments, kind, title, body in [
        ("Bash", {"command": "rm -rf build"}, AskKind.COMMAND, "run: rm -rf build", "rm -rf build"),
        ("Bash", {"command": "a\nb", "run_in_background": True}, AskKind.COMMAND, "run in the background: a …", "a\nb"),
        (
            "Bash", {"command": "a", "dangerouslyDisableSandbox": True},
            AskKind.PERMISSIONS, "run without a sandbox: a", "a",
        ),
        ("Write", {"file_path": "/p/a/b", "content": "x\ny"}, AskKind.EDIT, "write a/b", "@@ -0,0 +1,2 @@\n+x\n+y"),
        (
            "Edit",
            {"file_path": "/etc/x", "old_string": "a\nb\nc\n", "new_string": "a\nB\nc\n"},
            AskKind.EDIT, "edit /etc/x", "@@\n a\n-b\n+B\n c",
        ),
        (
            "MultiEdit",
            {"file_path": "/p/x", "edits": [
                {"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "", "replace_all": True}]},
            AskKind.EDIT, "edit x", "@@\n-a\n+b\n@@ every occurrence @@\n-c",
        ),
        (
            "NotebookEdit", {"notebook_path": "/p/n.ipynb", "cell_id": "3", "new_source": "1\n2"},
            AskKind.EDIT, "edit n.ipynb", "@@ replace cell 3 @@\n+1\n+2",
        ),
        ("ExitPlanMode", {"plan": "1. Read\n2. Write"}, AskKind.PLAN, "carry out its plan", "1. Read\n2. Write"),
        ("WebFetch", {"url": "http://a"}, AskKind.TOOL, "use WebFetch: http://a", '{\n  "url": "http://a"\n}'),
        ("mcp__db__drop", {}, AskKind.TOOL, "use drop of db", "{}"),
        ("Bash", ["odd"], AskKind.COMMAND, "run: ", ""),
    ]:  # fmt: skip
        _, ask = asked(tool, arguments)
        assert (ask.kind, ask.title, ask.body, ask.tool, ask.cwd) == (kind, title, body, tool, "/p"), (tool, arguments)
        assert (ask.verdicts, ask.always) == ((Verdict.ALLOW, Verdict.DENY, Verdict.STOP), ""), (tool, arguments)


@pytest.mark.parametrize(
    ("tool", "arguments", "paths"),
    [
        ("Read", {"file_path": "/p/a"}, ("/p/a",)),
        ("Read", {}, (".",)),
        ("Grep", {"pattern": "/etc", "path": "/p/src", "glob": "x*.py"}, ("/p/src", "/p/src/x")),
        ("Glob", {"pattern": "src/**/*.py"}, (".", "./src/")),
        ("Glob", {"pattern": "/etc/*"}, (".", "/etc/")),
        ("Glob", {"pattern": "{a,../..}/*", "path": "src"}, ("src", "src/..")),
        ("WebFetch", {"url": "http://a", "path": "/x"}, ()),
    ],
)
def test_the_paths_that_a_tool_would_read_are_known(tool: str, arguments: Any, paths: tuple[str, ...]) -> None:
    assert asked(tool, arguments)[1].paths == paths


@pytest.mark.parametrize("flag", [True, "true", 1])
def test_a_command_without_a_sandbox_is_not_allowed_by_a_rule_that_allows_the_command(flag: Any) -> None:
    rule = AskRule(decide="allow", command="git log")
    confined, unconfined = (
        asked("Bash", {"command": "git log", "dangerouslyDisableSandbox": off})[1] for off in (False, flag)
    )
    assert decide((rule,), confined, agent="claude", cwd="/p").decide == "allow"
    for remembered in ((), (confined, unconfined)):
        assert decide((rule,), unconfined, agent="claude", cwd="/p", remembered=remembered).decide == "ask"


RULE = {"toolName": "Bash", "ruleContent": "git push"}


@pytest.mark.parametrize(
    ("suggestion", "text"),
    [
        (
            {"type": "addRules", "rules": [RULE], "behavior": "allow", "destination": "localSettings"},
            "allow Bash(git push) for this session",
        ),
        ({"type": "setMode", "mode": "acceptEdits", "destination": "session"},
         "permission mode acceptEdits for this session"),
        ({"type": "addDirectories", "directories": ["/a", "/b"], "destination": "session"},
         "work in /a and /b for this session"),
        ({"type": "removeRules", "rules": [{"toolName": "Read"}], "behavior": "deny", "destination": "userSettings"},
         "remove the rule deny Read for this session"),
    ],
)  # fmt: skip
def test_always_covers_what_claude_suggests(suggestion: dict[str, Any], text: str) -> None:
    dialogue, ask = asked("Bash", {"command": "git push", "n": 1e400}, permission_suggestions=[suggestion])
    assert (ask.always, Verdict.ALWAYS in ask.verdicts) == (text, True)
    sent = dialogue.answer("1", ALWAYS)
    assert sent is not None
    assert json.loads(sent)["response"]["response"]["updatedPermissions"] == [{**suggestion, "destination": "session"}]


def test_without_a_suggestion_always_allows_it_once() -> None:
    dialogue, _ = asked("Bash", {"command": "a"}, permission_suggestions=[])
    assert dialogue.answer("1", ALWAYS) == dialogue.answer("1", ALLOW)


def test_a_denial_without_words_has_some_for_the_model() -> None:
    dialogue, _ = asked("Bash", {"command": "a"})
    sent = dialogue.answer("1", deny(""))
    assert sent is not None
    assert json.loads(sent)["response"]["response"] == {"behavior": "deny", "message": "The user does not allow this."}
    assert dialogue.answer("1", Answer(verdict=Verdict.ANSWER)) is None


def test_several_questions_and_several_choices() -> None:
    questions = [
        {"question": "Which?", "header": "H", "multiSelect": True,
         "options": [{"label": "A", "description": "first"}, {"label": "B"}, 3]},
        {"question": "Why?"},
    ]  # fmt: skip
    dialogue, ask = asked("AskUserQuestion", {"questions": questions, "metadata": {"n": 1}})
    assert (ask.kind, ask.title) == (AskKind.QUESTION, "Which? (and 1 more)")
    assert ask.questions == (
        Question(
            key="Which?", text="Which?", header="H", several=True,
            choices=(Choice(label="A", description="first"), Choice(label="B")),
        ),
        Question(key="Why?", text="Why?"),
    )  # fmt: skip
    sent = dialogue.answer("1", Answer(verdict=Verdict.ANSWER, values={"Which?": ("A", "B"), "Why?": ("so",)}))
    assert sent is not None
    assert json.loads(sent)["response"]["response"]["updatedInput"] == {
        "questions": questions, "metadata": {"n": 1}, "answers": {"Which?": "A, B", "Why?": "so"},
    }  # fmt: skip


def test_a_form_gets_values_with_the_types_of_its_schema() -> None:
    properties = {
        "name": {"type": "string", "title": "Name", "description": "Your name"},
        "age": {"type": "integer"},
        "size": {"type": "number"},
        "sure": {"type": "boolean"},
        "colour": {"type": "string", "enum": ["r", "b"], "enumNames": ["Red"]},
        "tags": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}, {"const": "y"}]}},
        "key": {"type": "string", "format": "password"},
        "odd": 3,
    }
    request = {"subtype": "elicitation", "mcp_server_name": "s", "message": "Who?", "mode": "form",
               "requested_schema": {"type": "object", "properties": properties, "required": ["name"]}}  # fmt: skip
    dialogue = ClaudeDialogue()
    [event] = fed({"type": "control_request", "request_id": "1", "request": request}, dialogue=dialogue)
    assert isinstance(event, Asked)
    ask = event.ask
    assert (ask.kind, ask.verdicts) == (AskKind.FORM, (Verdict.ANSWER, Verdict.DENY, Verdict.STOP))
    assert [question.key for question in ask.questions if question.required] == ["name"]
    assert [question.key for question in ask.questions if question.secret] == ["key"]
    assert ask.questions[4].choices == (Choice(label="r", description="Red"), Choice(label="b"))
    values = {"name": ("Ada",), "age": ("36",), "size": ("1.5",), "sure": ("yes",), "tags": ("x", "y"), "key": ()}
    sent = dialogue.answer("1", Answer(verdict=Verdict.ANSWER, values=values))
    assert sent is not None
    assert json.loads(sent)["response"]["response"] == {
        "action": "accept", "content": {"name": "Ada", "age": 36, "size": 1.5, "sure": True, "tags": ["x", "y"]},
    }  # fmt: skip
    declined = dialogue.answer("1", deny("no"))
    assert declined is not None
    assert json.loads(declined)["response"]["response"] == {"action": "decline"}


def form(key: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    request = {"subtype": "elicitation", "mcp_server_name": "s", "message": "Who?", "requested_schema": schema}
    return {"type": "control_request", "request_id": key, "request": request}


def test_an_interrupt_cancels_the_open_forms_first_because_an_older_claude_does_not() -> None:
    command = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "a"}}
    dialogue = ClaudeDialogue()
    fed({"type": "system", "subtype": "init"}, form("1"), dialogue=dialogue)
    fed({"type": "control_request", "request_id": "2", "request": command}, form("3"), dialogue=dialogue)
    [written] = dialogue.interrupt()
    *cancelled, interrupt = map(json.loads, written.splitlines())
    assert [(line["response"]["request_id"], line["response"]["response"]) for line in cancelled] == [
        ("1", {"action": "cancel"}), ("3", {"action": "cancel"}),
    ]  # fmt: skip
    assert interrupt["request"] == {"subtype": "interrupt"}
    printed = [line | {"type": "control_response"} for line in cancelled]
    assert fed(*printed, dialogue=dialogue) == [Settled("1", answered=True), Settled("3", answered=True)]
    assert b"cancel" not in dialogue.interrupt()[0]


def test_a_form_with_a_very_long_key_does_not_hinder_an_interrupt() -> None:
    dialogue = ClaudeDialogue()
    fed({"type": "system", "subtype": "init"}, form("k" * 100_000), dialogue=dialogue)
    assert len(dialogue.interrupt()[0]) < 1_000


def test_a_form_that_is_cancelled_ends_the_turn_too() -> None:
    stop = Answer(verdict=Verdict.STOP)
    dialogue = ClaudeDialogue()
    fed({"type": "system", "subtype": "init"}, form("1"), dialogue=dialogue)
    answer, *_, interrupt = map(json.loads, (dialogue.answer("1", stop) or b"").splitlines())
    assert (answer["response"]["response"], interrupt["request"]["subtype"]) == ({"action": "cancel"}, "interrupt")


def test_arguments_are_given_back_as_they_were_printed() -> None:
    dialogue = ClaudeDialogue()
    arguments = b'{"command":"a\\u2028b","big":123456789012345678901234567890,"small":1e400,"z":1.50}'
    fed(
        b'{"type":"control_request","request_id":"1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":'
        + arguments + b"}}",
        dialogue=dialogue,
    )  # fmt: skip
    assert arguments in (dialogue.answer("1", ALLOW) or b"")


def test_too_many_open_asks_drop_the_oldest() -> None:
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "a"}}
    dialogue = ClaudeDialogue()
    events = fed(
        *({"type": "control_request", "request_id": str(n), "request": request} for n in range(101)), dialogue=dialogue
    )
    assert [event for event in events if isinstance(event, Settled)] == [Settled("0", answered=False)]
    assert dialogue.answer("0", ALLOW) is None


TEXTS = st.text(st.characters(codec=None), max_size=40)


@given(text=TEXTS, key=TEXTS)
def test_any_text_is_one_line_of_json(text: str, key: str) -> None:
    dialogue, _ = asked("Bash", {"command": "a\u2028"})
    sent = [
        dialogue.prompt(key, 1, text), dialogue.withdraw(key), dialogue.change("model", text) or b"",
        dialogue.answer("1", deny(text)) or b"",
    ]  # fmt: skip
    for line in sent:
        assert line.decode().splitlines(keepends=True) == [line.decode()]
        json.loads(line)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KINDS = ("system", "result", "user", "command_lifecycle", "control_request", "control_cancel_request",
         "control_response", "assistant")  # fmt: skip
INNER = st.fixed_dictionaries(
    {},
    optional={
        name: JSON | st.sampled_from(["1", "success", "can_use_tool", "elicitation", "Bash", "AskUserQuestion"])
        for name in (
            "subtype", "tool_name", "input", "request_id", "response", "permission_suggestions", "requested_schema",
            "description", "decision_reason", "message", "questions",
        )
    },
)  # fmt: skip
ODD = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS)},
    optional={"subtype": JSON | st.sampled_from(["init", "status"]), "uuid": JSON, "isReplay": st.booleans() | JSON,
              "message": JSON, "command_uuid": JSON | st.just("k"),
              "state": JSON | st.sampled_from(["queued", "started", "completed", "cancelled"]), "cwd": JSON,
              "permissionMode": JSON, "request_id": JSON | st.just("1"), "request": INNER | JSON,
              "response": INNER | JSON},
)  # fmt: skip


def lines_of_any_kind() -> st.SearchStrategy[list[bytes]]:
    real = [line for name in NAMES for line in output(name) if 0 < len(line) < 1_000]
    cut = st.tuples(st.sampled_from(real), st.integers(0, 1_000)).map(lambda pair: pair[0][: pair[1]])
    return st.lists(st.binary(max_size=60) | cut | ODD.map(lambda line: json.dumps(line).encode()), max_size=12)


def state(dialogue: ClaudeDialogue) -> Iterator[Any]:
    yield from (dialogue.interrupt(), dialogue.change("model", "m"), dialogue.prompt("k", 1, "t"))
    for key in dialogue._asks:  # all that a dialogue can be asked
        for verdict in Verdict:
            yield dialogue.answer(key, Answer(verdict=verdict, values={"a": ("b",)}))


@given(lines=lines_of_any_kind())
def test_no_output_harms_a_dialogue_and_an_adopter_ends_in_the_same_state(lines: list[bytes]) -> None:
    one, other = ClaudeDialogue(), ClaudeDialogue()
    events = [event for line in lines for event in one.feed(line)]
    assert [event for line in lines for event in other.feed(line)] == events
    assert list(state(one)) == list(state(other))
    for line in state(one):
        for sent in line if isinstance(line, list) else [line] if line else []:
            for one_line in sent.splitlines():
                msgspec.json.decode(one_line)
    turns = [event for event in events if isinstance(event, TurnBegan | TurnEnded)]
    assert all(isinstance(event, TurnEnded) == bool(n % 2) for n, event in enumerate(turns))


def test_an_adopter_that_reads_a_capture_ends_in_the_same_state() -> None:
    for name in NAMES:
        one, other = ClaudeDialogue(), ClaudeDialogue()
        for dialogue in (one, other):
            fed(*output(name), dialogue=dialogue)
        assert list(state(one)) == list(state(other)), name


ECHO = {"type": "user", "isReplay": True, "message": {"content": [{"type": "text", "text": "x"}]}}


@pytest.mark.parametrize("running", [True, False])
def test_an_echo_without_a_time_is_no_receipt_of_a_prompt_that_was_taken_back(running):
    """claude knows the key, and never reads the prompt (2.1.197 to 2.1.332)."""
    dialogue = ClaudeDialogue()

    def feed(line):
        return dialogue.feed(json.dumps(line).encode())

    feed({"type": "system", "subtype": "init", "cwd": "/"})
    assert feed({"type": "command_lifecycle", "command_uuid": "k", "state": "queued"}) == [
        Received("k", Delivery.ACCEPTED)
    ]
    assert feed({"type": "command_lifecycle", "command_uuid": "k", "state": "cancelled"}) == [
        Received("k", Delivery.WITHDRAWN)
    ]
    if not running:
        feed({"type": "result", "subtype": "success"})
    assert feed(ECHO | {"uuid": "k"}) == []
    assert feed(ECHO | {"uuid": "other", "timestamp": "2026-01-01T00:00:00Z"})[0] == Received("other", Delivery.SEEN)


def test_an_echo_without_a_time_in_a_running_turn_only_proves_that_claude_has_the_prompt():
    dialogue = ClaudeDialogue()
    dialogue.feed(json.dumps({"type": "system", "subtype": "init"}).encode())
    line = json.dumps(ECHO | {"uuid": "k"}).encode()
    assert dialogue.feed(line) == [Received("k", Delivery.ACCEPTED)]
    assert dialogue.feed(line) == []
