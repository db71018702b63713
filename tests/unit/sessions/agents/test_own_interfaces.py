"""The agents' own files about their interfaces, and a part of a transcript as one turn."""

import json
import os

import pytest

from agentdash.sessions.agents.claude.project.own_files import shown_by, transcript_of
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import StepKind
from agentdash.sessions.model.taken_by import BY_HAND

TALK = "0190f7a2-0000-7000-8000-000000000001"


@pytest.fixture
def home(tmp_path):
    """Claude's own folder."""
    (tmp_path / "sessions").mkdir()
    (tmp_path / "projects" / "-work").mkdir(parents=True)
    return tmp_path


def test_the_interface_of_a_process_names_its_conversation(home):
    (home / "sessions" / "7.json").write_text(json.dumps({"pid": 7, "sessionId": TALK, "status": "idle"}))
    assert shown_by(home, 7) == TALK
    assert shown_by(home, 8) is None


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"sessionId": 5}', '{"sessionId": ""}', '{"sessionId": "--resume"}', "[" * 100_000, "\ud800"],
)
def test_a_broken_file_about_an_interface_names_none(home, text):
    (home / "sessions" / "7.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    assert shown_by(home, 7) is None


def test_the_newest_transcript_of_a_conversation_is_found(home):
    (home / "projects" / "-other").mkdir()
    paths = [home / "projects" / folder / f"{TALK}.jsonl" for folder in ("-work", "-other")]
    for age, path in enumerate(paths):
        path.touch()
        os.utime(path, (age, age))
    assert transcript_of(home, TALK) == paths[1]
    paths[1].unlink()
    paths[1].mkdir()
    assert transcript_of(home, TALK) == paths[0]


@pytest.mark.parametrize("name", ["", "*", "../abc", "a[b]c", "a?c", "abc", "0190f7a2-0000-7000-8000-000000000009"])
def test_a_name_that_is_not_a_conversation_finds_nothing(home, name):
    (home / "projects" / "-work" / f"{TALK}.jsonl").touch()
    (home / "projects" / "-work" / "abc.jsonl").touch()
    assert transcript_of(home, name) is None


CLAUDE = [
    {"type": "user", "sessionId": "c1", "message": {"role": "user", "content": "one"}},
    {"type": "assistant", "sessionId": "c1", "message": {"id": "m", "model": "x", "content": "said one"}},
    {"type": "user", "sessionId": "c1", "message": {"role": "user", "content": "two"}},
    {"type": "user", "sessionId": "c2", "message": {"role": "user", "content": "three"}},
    {"type": "cost-state", "sessionId": "c2", "totalCostUSD": 0.5},
]
CODEX = [
    {"type": "event_msg", "payload": {"type": "user_message", "message": "one"}},
    {"type": "event_msg", "payload": {"type": "agent_message", "message": "said one"}},
    {"type": "event_msg", "payload": {"type": "user_message", "message": "two"}},
    {"type": "event_msg", "payload": {"type": "user_message", "message": "three"}},
]


@pytest.mark.parametrize(("agent", "lines"), [("claude", CLAUDE), ("codex", CODEX)])
def test_a_part_of_a_transcript_is_one_turn(agent, lines):
    parser = agent_named(agent).parser(5, BY_HAND)
    steps = [step for line in lines for step in parser.feed(json.dumps(line).encode())] + parser.close()
    assert {step.turn for step in steps} == {5}
    assert [step.text for step in steps if step.kind is StepKind.PROMPT] == ["one", "two", "three"]
    again = agent_named(agent).parser(5, BY_HAND)
    again.resume(parser.checkpoint())
    assert {step.turn for step in again.feed(json.dumps(lines[0]).encode())} == {5}


def test_the_running_total_of_claude_is_not_the_cost_of_the_part():
    parser = agent_named("claude").parser(5, BY_HAND)
    steps = [step for line in CLAUDE for step in parser.feed(json.dumps(line).encode())] + parser.close()
    assert (parser.facts.cost_usd, parser.facts.running_cost_usd) == (None, 0.5)
    assert [step.cost_usd for step in steps if step.cost_usd is not None] == []
