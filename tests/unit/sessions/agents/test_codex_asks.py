"""The asks of a live codex (codex-cli 0.169.0): what the user sees of them, and what a rule may answer."""

import json
from typing import Any

import msgspec
import pytest

from agentdash.sessions.agents.codex.app_server.dialogue import MOST_OPEN, CodexDialogue
from agentdash.sessions.agents.codex.items import unwrapped
from agentdash.sessions.agents.dialogue import Asked, Event, Settled
from agentdash.sessions.asks.model import Answer, Ask, AskKind, Verdict
from agentdash.sessions.asks.rules import decide
from agentdash.sessions.asks.settings import AskRule

HERE = "/home/ann/api"


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
