"""The places at which claude and codex can fork their conversations, on their real output."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from places import CAPTURES

from agentdash.sessions.agents.base import Agent, AgentSettings, LaunchRequest
from agentdash.sessions.agents.claude.adapter import Claude, ClaudeSettings
from agentdash.sessions.agents.codex.adapter import TRANSPORT, Codex, CodexSettings
from agentdash.sessions.model.session import Step, StepKind
from agentdash.sessions.rules.launch import Command, Fork

CLAUDE, CODEX = Claude(), Codex()
ASIDE = {StepKind.START, StepKind.NOTICE, StepKind.USAGE, StepKind.REASONING, StepKind.ERROR, StepKind.UNKNOWN}
CLAUDE_FILES = [path for path in sorted(CAPTURES.glob("claude-*.jsonl")) if path.stat().st_size < 300_000]
SERVER = CAPTURES / "app-server" / "codex-live-steer.jsonl"
FORK = Fork(at="8f2e", session="s", turn=1)


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def point(agent: Agent, lines: list[bytes], through: int | None = None, **facts: Any) -> str | None:
    usual: dict[str, Any] = {"transport": "", "settings": ClaudeSettings() if agent is CLAUDE else CodexSettings()}
    given = usual | facts
    assert agent.forks is not None
    return agent.forks.point(lines, through, given["transport"], given["settings"])


def steps_of(lines: list[bytes]) -> dict[int, Step]:
    """The steps of a turn of claude, each as it ended."""
    parser = CLAUDE.parser()
    return {step.index: step for line in lines for step in parser.feed(line)}


def messages(lines: list[bytes]) -> Iterator[tuple[str, str]]:
    """The id and the text of each message of the main agent."""
    for line in lines:
        event = json.loads(line)
        if event.get("type") == "assistant" and event.get("parent_tool_use_id") is None:
            for block in event["message"]["content"]:
                yield event["uuid"], block.get("text", "")


def test_claude_forks_only_behind_messages_of_the_main_agent() -> None:
    for path in CLAUDE_FILES:
        lines = lines_of(path)
        steps, said = steps_of(lines), dict(messages(lines))
        for through in steps:
            found = point(CLAUDE, lines, through)
            own = [step for step in steps.values() if step.index <= through and step.parent is None]
            talk = [step for step in own if step.kind not in ASIDE]
            if found is not None:
                assert talk[-1].kind is StepKind.MESSAGE, path
                assert said[found] == talk[-1].text, path
            elif steps[through].kind is StepKind.MESSAGE and steps[through].parent is None:
                # A call before the message was not answered when it came.
                assert any(step.kind not in (StepKind.MESSAGE, StepKind.PROMPT) for step in talk), path


@pytest.mark.parametrize(("name", "place"), [("claude-plain", None), ("claude-files", None), ("claude-subagent", None)])
def test_claude_forks_behind_the_last_message_of_a_turn(name: str, place: int | None) -> None:
    lines = lines_of(CAPTURES / f"{name}.jsonl")
    *_, (last, _) = messages(lines)
    assert point(CLAUDE, lines, place) == last
    # What follows the message adds nothing to the conversation.
    assert point(CLAUDE, lines, max(steps_of(lines))) == last


def test_claude_forks_behind_a_message_before_a_tool_call_and_not_behind_the_call() -> None:
    lines = lines_of(CAPTURES / "claude-files.jsonl")
    steps = steps_of(lines)
    first = next(step for step in steps.values() if step.kind is StepKind.MESSAGE)
    assert steps[first.index + 1].kind is StepKind.FILE_CHANGE
    assert point(CLAUDE, lines, first.index) == next(messages(lines))[0]
    assert point(CLAUDE, lines, first.index + 1) is None
    assert point(CLAUDE, lines, -1) is None


@pytest.mark.parametrize("name", ["claude-err500", "claude-kill-int"])
def test_claude_does_not_fork_behind_an_error_or_a_note_about_a_stop(name: str) -> None:
    assert point(CLAUDE, lines_of(CAPTURES / f"{name}.jsonl")) is None


def message(**fields: Any) -> bytes:
    event = {"type": "assistant", "uuid": "8f2e", "message": {"content": [{"type": "text", "text": "done"}]}}
    return json.dumps(event | fields).encode()


def test_an_id_that_is_not_one_is_never_an_argument() -> None:
    assert point(CLAUDE, [message()]) == "8f2e"
    for odd in ("--dangerously-skip-permissions", "", "a b", "x" * 200, "é"):
        assert point(CLAUDE, [message(uuid=odd)]) is None
    for odd_line in (message(uuid=5), message(uuid=None), b"[]", b"\xff", b'{"type": "assistant"}'):
        assert point(CLAUDE, [odd_line]) is None


def test_a_message_beside_an_open_call_is_no_place_to_fork() -> None:
    call = {"type": "tool_use", "id": "t-1", "name": "Bash", "input": {"command": "sleep 9"}}
    begun = json.dumps({"type": "assistant", "uuid": "1", "message": {"content": [call]}}).encode()
    result = {"type": "tool_result", "tool_use_id": "t-1", "content": "done"}
    ended = json.dumps({"type": "user", "message": {"content": [result]}}).encode()
    assert point(CLAUDE, [begun, message(), ended]) is None
    assert point(CLAUDE, [begun, message(), ended], 1) is None
    assert point(CLAUDE, [begun, ended, message()]) == "8f2e"


def test_a_steered_prompt_behind_a_message_is_no_place_to_fork() -> None:
    steered = {"type": "user", "isReplay": True, "timestamp": "2026-01-01T00:00:00Z"}
    line = json.dumps(steered | {"message": {"content": [{"type": "text", "text": "and this"}]}}).encode()
    assert point(CLAUDE, [message(), line], transport="stream-json") is None
    assert point(CLAUDE, [message(), line, message(uuid="91aa")], transport="stream-json") == "91aa"


def test_a_live_codex_forks_behind_whole_turns() -> None:
    lines = lines_of(SERVER)
    ids = [json.loads(line)["params"]["turn"]["id"] for line in lines if b'"turn/completed"' in line]
    first = lines[: next(n for n, line in enumerate(lines) if b'"turn/completed"' in line) + 1]
    assert point(CODEX, first, transport=TRANSPORT) == ids[0]
    assert point(CODEX, first, 1, transport=TRANSPORT) is None
    assert point(CODEX, first, 10_000, transport=TRANSPORT) == ids[0]


@pytest.mark.parametrize(
    "facts",
    [
        {"transport": ""},
        {"settings": CodexSettings(live=False)},
        {"settings": CodexSettings(args=("--profile", "mine"))},
    ],
    ids=["codex exec", "turn by turn", "an argument of codex exec alone"],
)
def test_codex_exec_forks_no_turn(facts: dict[str, Any]) -> None:
    assert point(CODEX, lines_of(SERVER), **({"transport": TRANSPORT} | facts)) is None


def started(agent: Agent, settings: AgentSettings, fork: Fork | None) -> Command:
    return agent.command(
        LaunchRequest(prompt="go", cwd="/p", session_id="s", turn=4, agent_session="c-1", fork=fork, settings=settings)
    )


@pytest.mark.parametrize("live", [True, False])
def test_claude_is_started_with_the_message_behind_which_it_forks(live: bool) -> None:
    argv = started(CLAUDE, ClaudeSettings(live=live), FORK).argv
    at = argv.index("--resume")
    assert argv[at : at + 5] == ("--resume", "c-1", "--fork-session", "--resume-session-at", "8f2e")
    end = started(CLAUDE, ClaudeSettings(live=live), Fork(session="s", turn=1)).argv
    assert end[end.index("--resume") :][:3] == ("--resume", "c-1", "--fork-session")
    assert "--resume-session-at" not in end


def test_codex_is_asked_for_a_fork_of_its_thread() -> None:
    launch = started(CODEX, CodexSettings(), FORK)
    request = json.loads(launch.opening[-1])
    assert (request["method"], request["params"]["threadId"]) == ("thread/fork", "c-1")
    assert request["params"]["lastTurnId"] == "8f2e"
    assert launch.plain_argv == ()
    end = started(CODEX, CodexSettings(), Fork(session="s", turn=1))
    assert "lastTurnId" not in json.loads(end.opening[-1])["params"]
    assert end.plain_argv[-4:] == ("fork", "--", "c-1", "-")
    resumed = started(CODEX, CodexSettings(), None)
    assert json.loads(resumed.opening[-1])["method"] == "thread/resume"
