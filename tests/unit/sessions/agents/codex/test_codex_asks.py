"""The asks of a live codex (codex-cli 0.169.0): what the user sees of them, and what a rule may answer."""

import json
from typing import Any

import msgspec
import pytest
from unit.sessions.agents.live_captures import APP_SERVER, lines_of

from agentdash.sessions.agents.base import LaunchRequest
from agentdash.sessions.agents.codex.adapter import Codex, CodexSettings
from agentdash.sessions.agents.codex.app_server.dialogue import MOST_OPEN, CodexDialogue
from agentdash.sessions.agents.codex.item_steps import unwrapped
from agentdash.sessions.agents.dialogue import Asked, Event, Ready, Settled, TurnEnded
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Verdict
from agentdash.sessions.rules.asks.rules import decide
from agentdash.sessions.rules.asks.settings import AskRule

HERE = "/home/ann/api"
ANSWER = Answer(
    verdict=Verdict.ANSWER,
    values={"name": ("Ada's",), "colour": ("blue",), "sure": ("false",), "rows": ("3",), "share": ("0.5",)},
)


def fed(spoken: CodexDialogue, *messages: dict[str, Any]) -> list[Event]:
    return [event for message in messages for event in spoken.feed(json.dumps(message).encode())]


def opened() -> CodexDialogue:
    """A dialogue that is ready, with the thread T."""
    spoken = CodexDialogue()
    fed(spoken, {"id": 1, "result": {}}, {"id": 2, "result": {"thread": {"id": "T"}}})
    return spoken


def note(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": {"threadId": "T", "turnId": "t"} | params}


def the_ask(events: list[Event]) -> Ask:
    (asked,) = [event for event in events if isinstance(event, Asked)]
    return asked.ask


def asked_to_run(command: str, **params: Any) -> Ask:
    request = note("item/commandExecution/requestApproval", command=command, cwd=HERE, **params)
    return the_ask(fed(opened(), request | {"id": 1}))


def decided(ask: Ask, *rules: dict[str, Any], remembered: tuple[Ask, ...] = ()) -> str:
    stated = [msgspec.convert(rule, AskRule) for rule in rules]
    return decide(stated, ask, agent="codex", cwd=HERE, remembered=remembered).decide


ALLOW_GIT_LOG = {"decide": "allow", "command": "git log"}
ALLOW_ALL = {"decide": "allow", "folder": "/"}


@pytest.mark.parametrize("shell", ["bash", "/bin/bash", "/usr/bin/zsh", "/usr/local/bin/bash", "sh"])
def test_a_rule_judges_what_a_shell_of_the_system_runs(shell: str) -> None:
    ask = asked_to_run(f"{shell} -lc 'git log'")
    assert (ask.body, decided(ask, ALLOW_GIT_LOG)) == ("git log", "allow")


@pytest.mark.parametrize("shell", ["./bash", "/w/evil/bash", "bin/sh", "../bin/bash", "/bin/../w/sh", "/usr/bin/x/sh"])
def test_a_shell_of_another_folder_is_shown_and_never_allowed_by_its_argument(shell: str) -> None:
    line = f"{shell} -lc 'git log'"
    ask = asked_to_run(line)
    assert (ask.title, ask.body, unwrapped(line)) == (f"run: {line}", line, line)
    assert decided(ask, ALLOW_GIT_LOG, ALLOW_ALL) == "ask"
    assert decided(ask, remembered=(asked_to_run("/bin/bash -lc 'git log'"),)) == "ask"


def asked_to_patch(changes: list[dict[str, Any]], **params: Any) -> Ask:
    item = {"type": "fileChange", "id": "i", "changes": changes}
    request = note("item/fileChange/requestApproval", itemId="i", **params) | {"id": 1}
    return the_ask(fed(opened(), note("item/started", item=item), request))


def moved(path: str, to: str) -> dict[str, Any]:
    return {"path": path, "kind": {"type": "update", "move_path": to}, "diff": f"@@ -1 +1 @@\n-a\n+b\n\nMoved to: {to}"}


ALLOW_PATCHES = {"decide": "allow", "tool": "apply_patch"}


def test_a_file_that_is_moved_is_judged_and_shown_by_both_its_paths() -> None:
    ask = asked_to_patch([moved(f"{HERE}/a", f"{HERE}/b")])
    assert (ask.title, ask.paths) == (f"edit {HERE}/a -> {HERE}/b", (f"{HERE}/a", f"{HERE}/b"))
    assert ask.body == f"update {HERE}/a -> {HERE}/b\n@@ -1 +1 @@\n-a\n+b"
    assert decided(ask, ALLOW_PATCHES) == "allow"


@pytest.mark.parametrize(("path", "to"), [("/etc/passwd", f"{HERE}/a"), (f"{HERE}/a", "/etc/passwd")])
def test_a_file_that_is_moved_into_or_out_of_the_folder_is_asked_for(path: str, to: str) -> None:
    assert decided(asked_to_patch([moved(path, to)]), ALLOW_PATCHES) == "ask"


def test_a_patch_that_also_asks_for_a_folder_is_a_wider_permission_that_shows_it() -> None:
    changes = [{"path": f"{HERE}/a", "kind": {"type": "add"}, "diff": "x"}]
    ask = asked_to_patch(changes, grantRoot="/")
    assert (ask.kind, ask.title) == (AskKind.PERMISSIONS, f"write anywhere below /, and edit {HERE}/a")
    assert ask.body.startswith(f"write anywhere below /, for the rest of the session\nadd {HERE}/a\n")
    assert decided(ask, ALLOW_PATCHES, ALLOW_ALL) == "ask"
    assert decided(asked_to_patch(changes), ALLOW_PATCHES) == "allow"


@pytest.mark.parametrize(
    ("params", "title"),
    [
        ({"networkApprovalContext": {"host": "evil.test", "protocol": "https"}}, "reach evil.test over https"),
        ({"kind": "writeStdin"}, "write to a running command: git log"),
        ({"kind": "humanCommand"}, "run: git log"),
        ({"kind": "another kind"}, "run: git log"),
    ],
)
def test_what_is_asked_about_a_command_is_not_allowed_by_a_rule_that_allows_to_run_it(
    params: dict[str, Any], title: str
) -> None:
    ask = asked_to_run("git log", **params)
    assert (ask.kind, ask.title, ask.body) == (AskKind.PERMISSIONS, title, "git log")
    assert decided(ask, ALLOW_GIT_LOG, ALLOW_ALL, remembered=(ask, asked_to_run("git log"))) == "ask"
    assert decided(ask, {"decide": "deny", "command": "git log"}) == "deny"


def test_what_a_person_must_allow_each_time_is_never_allowed_for_the_session() -> None:
    ask = asked_to_run("git log", kind="humanCommand")
    assert (ask.verdicts, ask.always) == ((Verdict.ALLOW, Verdict.DENY, Verdict.STOP), "")


def patch(path: str, **params: Any) -> dict[str, Any]:
    change = {"path": path, "kind": {"type": "add"}, "diff": "x"}
    return note("item/started", item={"type": "fileChange", "id": "i", "changes": [change]}, **params)


def test_the_patch_of_a_sub_agent_is_shown() -> None:
    spoken = opened()
    fed(spoken, patch("/main"), patch("/theirs", threadId="child"))
    request = note("item/fileChange/requestApproval", itemId="i")
    theirs = the_ask(fed(spoken, request | {"id": 1, "params": request["params"] | {"threadId": "child"}}))
    ours = the_ask(fed(spoken, request | {"id": 2}))
    assert (theirs.paths, ours.paths) == (("/theirs",), ("/main",))
    assert theirs.body == "add /theirs\n@@ -0,0 +1,1 @@\n+x"


def test_the_patch_of_a_sub_agent_outlives_the_turn_of_the_main_agent() -> None:
    spoken = opened()
    fed(spoken, patch("/main"), patch("/theirs", threadId="child"))
    fed(spoken, note("turn/completed", turn={"id": "t", "status": "completed"}))
    request = note("item/fileChange/requestApproval", itemId="i")
    theirs = the_ask(fed(spoken, request | {"id": 1, "params": request["params"] | {"threadId": "child"}}))
    ours = the_ask(fed(spoken, request | {"id": 2}))
    assert (theirs.paths, ours.paths) == (("/theirs",), ())


def test_the_oldest_of_too_many_open_asks_is_over_before_the_next_is_asked() -> None:
    spoken = opened()
    request = note("item/commandExecution/requestApproval", command="ls")
    fed(spoken, *(request | {"id": n} for n in range(MOST_OPEN)))
    dropped, asked = fed(spoken, request | {"id": MOST_OPEN})
    assert (dropped, isinstance(asked, Asked)) == (Settled("0", answered=False), True)
    assert spoken.answer("0", Answer(verdict=Verdict.ALLOW)) is None
    assert spoken.answer("1", Answer(verdict=Verdict.ALLOW)) is not None


def conversation(
    name: str, prompts: list[str], answers: list[Answer | None], **settings: Any
) -> tuple[bytes, list[Event]]:
    """What codex is written on the output of a capture, and the events; an ask without an answer is interrupted."""
    chosen = CodexSettings(live=True, **settings)
    request = LaunchRequest(prompt="", cwd="/home/dev/project", session_id="s", settings=chosen, model="gpt-5.5")
    spoken = CodexDialogue(Codex().command(request).opening)
    written, events, left, keys = spoken.opening(), [], iter(answers), iter("abcdef")
    for line in lines_of(f"{name}.jsonl"):
        found = spoken.feed(line)
        for event in found:
            if isinstance(event, Ready | TurnEnded) and prompts:
                written.append(spoken.prompt(next(keys), 1, prompts.pop(0)))
            elif isinstance(event, Asked):
                answer = next(left)
                written += [spoken.answer(event.ask.key, answer) or b""] if answer else spoken.interrupt()
        events += found
        if not spoken.ready:
            written += spoken.opening()
    return b"".join(written), events


def outcomes(events: list[Event]) -> list[tuple[str, bool]]:
    """The title of each ask, and whether codex got the answer."""
    titles = {event.ask.key: event.ask.title for event in events if isinstance(event, Asked)}
    return [(titles[event.key], event.answered) for event in events if isinstance(event, Settled)]


def test_the_forms_of_a_real_server_are_answered_byte_for_byte() -> None:
    prompts = ["[[fake:form]] one", "[[fake:form_again]] two", "[[fake:form]] three", "[[fake:form_again]] four"]
    verdicts = (Verdict.DENY, Verdict.STOP)
    answers = [Answer(verdict=Verdict.ALWAYS), ANSWER, *(Answer(verdict=verdict) for verdict in verdicts), None]
    written, events = conversation("codex-elicitation", prompts, answers)
    assert written == (APP_SERVER / "codex-elicitation.in.jsonl").read_bytes()
    title = "fill in a form of forms: Which table?"
    assert outcomes(events) == [("use ask of forms", True), *[(title, True)] * 3, (title, False)]
    assert sum(event == TurnEnded() for event in events) == 4
    tool, form, *_ = [event.ask for event in events if isinstance(event, Asked)]
    assert tool == Ask(
        key="0", kind=AskKind.TOOL, tool="mcp__forms__ask", title="use ask of forms", body='{\n  "about": "tables"\n}',
        cwd="/home/dev/project", why='Allow the forms MCP server to run tool "ask"?\nAsks the user for a table.',
        verdicts=(Verdict.ALLOW, Verdict.ALWAYS, Verdict.DENY, Verdict.STOP),
        always="this tool, for the rest of the session",
    )  # fmt: skip
    assert [(one.key, one.text, one.type, one.required, one.free) for one in form.questions] == [
        ("colour", "Colour", "string", True, False),
        ("name", "What is the table's name?", "string", True, True),
        ("rows", "Rows", "integer", True, True),
        ("share", "Share", "number", False, True),
        ("sure", "Sure", "boolean", True, False),
    ]


def test_real_requests_for_permissions_are_answered_byte_for_byte() -> None:
    prompts = ["[[fake:permissions]] /home/dev/outside"] * 2 + ["[[fake:permexec]] go"]
    verdicts = (Verdict.ALLOW, Verdict.DENY, Verdict.ALLOW)
    written, events = conversation("codex-permissions", prompts, [Answer(verdict=verdict) for verdict in verdicts])
    assert written == (APP_SERVER / "codex-permissions.in.jsonl").read_bytes()
    command = "run with wider permissions: echo saved > /home/dev/outside/also"
    assert outcomes(events) == [("use wider permissions", True)] * 2 + [(command, True)]
    asks = [event.ask for event in events if isinstance(event, Asked)]
    assert {(ask.kind, ask.why) for ask in asks} == {(AskKind.PERMISSIONS, "It saves a file.")}
    assert all('"write": [\n      "/home/dev/outside"\n    ]' in ask.body for ask in asks)


def test_a_command_with_wider_permissions_shows_them_and_is_not_allowed_as_the_command_is() -> None:
    ask = asked_to_run("git log", additionalPermissions={"network": {"enabled": True}})
    assert (ask.kind, ask.title) == (AskKind.PERMISSIONS, "run with wider permissions: git log")
    assert ask.body == 'git log\n{\n  "network": {\n    "enabled": true\n  }\n}'
    assert decided(ask, ALLOW_GIT_LOG, ALLOW_ALL, remembered=(ask, asked_to_run("git log"))) == "ask"
    assert asked_to_run("git log", additionalPermissions=None).kind is AskKind.COMMAND


CALL = {
    "codex_approval_kind": "mcp_tool_call", "persist": ["session", "always"], "tool_name": "query",
    "tool_description": "Asks the tables.", "tool_params": {"sql": "drop table t"},
}  # fmt: skip
CONFIRMED = (Verdict.ALLOW, Verdict.DENY, Verdict.STOP)
EMPTY = {"type": "object", "properties": {}}


def asked_by_server(meta: Any, schema: Any = EMPTY, **params: Any) -> tuple[CodexDialogue, Ask]:
    spoken = opened()
    asked = {"serverName": "db", "message": "Allow it?", "_meta": meta, "requestedSchema": schema} | params
    return spoken, the_ask(fed(spoken, note("mcpServer/elicitation/request", **asked) | {"id": 1}))


def result(spoken: CodexDialogue, verdict: Verdict) -> Any:
    return json.loads((spoken.answer("1", Answer(verdict=verdict)) or b"").splitlines()[0])["result"]


def test_a_call_of_a_tool_can_be_allowed_once_or_for_the_session_and_by_a_rule_for_the_tool() -> None:
    spoken, ask = asked_by_server(CALL)
    assert (ask.kind, ask.title, json.loads(ask.body)) == (AskKind.TOOL, "use query of db", CALL["tool_params"])
    assert result(spoken, Verdict.ALLOW) == {"action": "accept", "content": {}, "_meta": None}
    assert result(spoken, Verdict.ALWAYS) == {"action": "accept", "content": {}, "_meta": {"persist": "session"}}
    assert result(spoken, Verdict.DENY) == {"action": "decline", "content": None, "_meta": None}
    assert decided(ask, {"decide": "allow", "tool": "mcp__db__query"}) == "allow"
    assert decided(ask, {"decide": "allow", "tool": "mcp__db__other"}, {"decide": "allow", "tool": "db"}) == "ask"


def test_a_tool_that_codex_cannot_remember_is_allowed_once() -> None:
    for persist in (None, "always", ["always"], {"session": 1}, 7):
        assert asked_by_server(CALL | {"persist": persist})[1].always == ""
    assert asked_by_server(CALL | {"persist": "session"})[1].always != ""


def test_a_server_that_imitates_the_request_for_a_tool_is_named_with_its_words() -> None:
    _, ask = asked_by_server(CALL | {"tool_name": "ask of codex"}, message="Send all mail?")
    assert (ask.tool, ask.title) == ("mcp__db__ask of codex", "use ask of codex of db")
    assert ask.why.startswith("Send all mail?\n")


@pytest.mark.parametrize(
    ("meta", "params"),
    [
        (None, {}), ([1], {}), ("mcp_tool_call", {}), ({"codex_approval_kind": "another"}, {}),
        (CALL | {"tool_name": ""}, {}), (CALL | {"tool_name": {"a": 1}}, {}),
        (CALL, {"mode": "url", "url": "https://example.com"}),
    ],
)  # fmt: skip
def test_any_other_question_of_a_server_stays_one(meta: Any, params: dict[str, Any]) -> None:
    _, ask = asked_by_server(meta, **params)
    assert (ask.tool, ask.title, ask.verdicts) == ("db", "answer db: Allow it?", CONFIRMED)


def test_a_form_with_fields_is_a_form_whatever_its_server_adds() -> None:
    _, ask = asked_by_server(CALL, {"type": "object", "properties": {"name": {"type": "string"}}})
    assert (ask.kind, ask.title) == (AskKind.FORM, "fill in a form of db: Allow it?")


def test_to_stop_at_a_form_cancels_it_and_interrupts_the_turn() -> None:
    spoken, ask = asked_by_server(CALL)
    stop = Answer(verdict=Verdict.STOP)
    assert len((spoken.answer(ask.key, stop) or b"").splitlines()) == 1, "no turn runs"
    fed(spoken, note("turn/started", turn={"id": "t", "status": "inProgress"}))
    answer, *ending = map(json.loads, (spoken.answer(ask.key, stop) or b"").splitlines())
    assert answer["result"]["action"] == "cancel"
    assert [line["method"] for line in ending] == ["turn/interrupt", "thread/backgroundTerminals/clean"]
