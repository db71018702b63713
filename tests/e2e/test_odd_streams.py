"""Agents whose last words are odd, through the whole program: status, reason, steps, `show`, `explain`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from isolation import work_folder

from agentdash.sessions.model.session import Session, Status, StepKind
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.explain import counted
from agentdash.sessions.service.manager import SessionManager
from agentdash.tui.render.sessions.cards import session_card
from agentdash.tui.render.style import Style

Play = Callable[..., Session]


@pytest.fixture
def play(manager: SessionManager, tmp_path: Path) -> Play:
    """Run an agent that prints these bytes and exits; its session when it has ended."""

    def run(agent: str, stdout: bytes, *, stderr: bytes = b"", code: int = 0) -> Session:
        (tmp_path / "stdout").write_bytes(stdout)
        (tmp_path / "stderr").write_bytes(stderr)
        path = tmp_path / "stand-in"
        path.write_text(f"#!/bin/sh\ncat '{tmp_path}/stdout'\ncat '{tmp_path}/stderr' >&2\nexit {code}\n")
        path.chmod(0o755)
        (tmp_path / "config.toml").write_text(f"[agents.{agent}]\nlive = false\nbin = '{path}'\n")
        with SessionManager() as fresh:  # it reads the settings
            [ended] = fresh.wait([fresh.spawn(Start("go", agent=agent, cwd=work_folder(tmp_path))).id], timeout=60)
            return ended

    return run


def lines(*events: Any) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


CODEX = {"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": "all \ud83d good\0"}}
RESULT = {"type": "result", "subtype": "success", "is_error": False, "result": "x\ud83d", "stop_reason": "end_turn"}


def test_a_turn_whose_words_hold_half_an_emoji_is_done(manager: SessionManager, play: Play) -> None:
    ended = play("codex", lines(CODEX, {"type": "turn.completed", "usage": None}))
    assert (ended.status, ended.reason, ended.unknown) == (Status.DONE, None, 0)
    assert (ended.last_message or "").startswith("all \ufffd good")
    steps = manager.reader.steps.trajectory(ended.id)
    assert [step.kind for step in steps] == [StepKind.PROMPT, StepKind.MESSAGE, StepKind.USAGE]
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": "all \ud83d good"}]}}
    ended = play("claude", lines(said, RESULT))
    assert (ended.status, ended.last_message) == (Status.DONE, "all \ufffd good")


def test_an_odd_count_of_tokens_is_named_and_turns_nothing_red(manager: SessionManager, play: Play) -> None:
    ended = play("codex", lines({"type": "turn.completed", "usage": {"input_tokens": -1, "output_tokens": 2.0}}))
    assert (ended.status, ended.reason) == (Status.DONE, None)
    assert ended.usage.output_tokens == 2
    [turn] = manager.reader.turns(ended.id)
    assert turn.unreadable == {"turn.completed: usage.input_tokens": 1}
    assert (
        manager.reader.steps.trajectory(ended.id)[-1].text
        == "could not be read in turn.completed: usage.input_tokens = -1"
    )
    card = session_card(ended, [turn], [], Style())
    assert any(line.split() == ["not", "read", "turn.completed:", "usage.input_tokens"] for line in card)
    told = {fact.name: fact.value for fact in manager.reader.explain(ended.id).facts}
    assert told["unreadable fields"] == counted(turn.unreadable) == "turn.completed: usage.input_tokens"


@pytest.mark.parametrize(
    ("agent", "stdout", "stderr", "reason"),
    [
        ("codex", b"Not logged in. Run codex login\n", b"", "exit 1: Not logged in. Run codex login"),
        ("claude", b"\x1b[31mInvalid API key\x1b[0m\n", b"", "exit 1: Invalid API key"),
        ("codex", b"hello\n", b"Error: no key\n", "exit 1: Error: no key"),
        ("codex", b'{"error":{"message":"no key"}}\n', b"Reading prompt from stdin...\n", "exit 1: no key"),
        ("codex", b"", b"", "exit 1"),
        ("codex", lines({"type": "turn.failed", "error": "no more tokens"}), b"Error: x\n", "no more tokens"),
        ("codex", lines({"type": "turn.completed"}), b"Error: x\n", "completed, then exit 1: Error: x"),
    ],
)
def test_why_a_turn_failed(play: Play, agent: str, stdout: bytes, stderr: bytes, reason: str) -> None:
    ended = play(agent, stdout, stderr=stderr, code=1)
    assert (ended.status, ended.reason) == (Status.FAILED, reason)


def test_a_failed_start_shows_its_command_and_what_it_printed_on_stdout_once(
    manager: SessionManager, play: Play
) -> None:
    ended = play("codex", b"Not logged in.\nRun codex login\n", code=1)
    assert ended.reason == "exit 1: Run codex login"
    *_, first, second, last = manager.reader.steps.trajectory(ended.id)
    assert [first.text, second.text] == ["Not logged in.", "Run codex login"]
    assert (last.kind, last.fatal, last.text) == (StepKind.ERROR, True, "exit 1")
    assert "stand-in exec --json" in (last.command or "")
    assert (last.exit_code, last.output) == (1, None)


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
def test_an_answer_that_was_cut_is_a_failure_that_names_the_cut(play: Play, reason: str) -> None:
    ended = play("claude", lines(RESULT | {"stop_reason": reason}))
    assert ended.status is Status.FAILED
    assert (ended.reason or "").startswith("the answer was cut off: ")
    assert reason in (ended.reason or "")
