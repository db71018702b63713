"""The asks of a live codex (codex-cli 0.169.0): what the user sees of them, and what a rule may answer."""

import json
from typing import Any

import msgspec
import pytest

from agentdash.sessions.agents.codex.app_server.dialogue import CodexDialogue
from agentdash.sessions.agents.codex.items import unwrapped
from agentdash.sessions.agents.dialogue import Asked, Event
from agentdash.sessions.asks.model import Ask, Verdict
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
