"""Which agent wrote a file is told from its events."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import CAPTURES

from agentdash.sessions.agents.formats import LOOKED_AT, guess_agent, guess_format, guess_transport
from agentdash.sessions.agents.registry import agent_named, agent_names
from agentdash.sessions.model.session import StepKind
from agentdash.sessions.transcript.turn_file import StepFile


def test_the_format_is_told_by_the_content() -> None:
    for lines, expected in [
        ([b'{"type":"thread.started","thread_id":"1"}'], "codex"),
        ([b"WARN: something", b"", b'{"type":"item.completed","item":{}}'], "codex"),
        ([b'{"type":"system","subtype":"init","session_id":"1"}'], "claude"),
        ([b'{"type":"assistant","message":{},"session_id":"1"}'], "claude"),
        ([b'{"type":"result"}'], None),
        ([b'{"type":1}', b"[1]", b"null", b'"thread.started"'], None),
        ([b"\xff\xfe", b"plain text"], None),
        ([b"[" * 100_000], None),
        ([b'{"type":"session_meta","payload":{"id":"1"}}'], "codex-rollout"),
        ([b'{"type":"message","role":"user","content":[]}'], "codex-rollout"),
        ([b'{"id":"1","timestamp":"2025-06-01T00:00:00Z","instructions":null}'], "codex-rollout"),
        ([b'{"type":"user","message":{},"sessionId":"1"}'], "claude-project"),
        ([b'{"type":"summary","summary":"x","leafUuid":"1"}'], "claude-project"),
        ([b'{"sessionId":"1","projectHash":"2","startTime":"x","kind":"main"}'], "gemini-session"),
        ([b'{"$set":{"lastUpdated":"x"}}'], "gemini-session"),
        ([b'{"id":"1","timestamp":"x","type":"gemini","content":""}'], "gemini-session"),
        ([b'{"id":"1","timestamp":"x","type":"user","content":[]}'], "gemini-session"),
        ([b'{"sessionId":"1","type":"user","id":"1","timestamp":"x","content":""}'], "claude-project"),
        ([b'{"type":"started","conversation":"1","model":"scripted"}'], None),
        ([b'{"type":"message","text":"x"}'], None),
        (
            [
                b'{"type":"init","timestamp":"2026-11-21T00:10:14.758Z","session_id":"9d7f","model":"gemini-2.5-flash"}',
                b'{"type":"message","timestamp":"x","role":"user","content":"go"}',
                b'{"type":"message","timestamp":"x","role":"assistant","content":"I will","delta":true}',
                b'{"type":"tool_use","timestamp":"x","tool_name":"ls","tool_id":"1","parameters":{}}',
                b'{"type":"tool_result","timestamp":"x","tool_id":"1","status":"success","output":""}',
                b'{"type":"error","timestamp":"x","severity":"error","message":"no"}',
                b'{"type":"result","timestamp":"x","status":"success","stats":{}}',
            ],
            None,
        ),
        ([], None),
    ]:
        assert guess_format(lines) == expected, str(lines)[:80]


def test_a_transcript_was_printed_by_no_agent() -> None:
    assert guess_agent([b'{"type":"session_meta","payload":{}}']) == "command"
    assert guess_agent([b"WARN", b'{"type":"turn.started"}']) == "codex"
    assert guess_agent([]) == "command"


def streams(folder: str) -> list[str]:
    return sorted(path.name for path in (CAPTURES / folder).glob("c*.jsonl") if ".in." not in path.name)


def guessed(path: str) -> tuple[str, str]:
    lines = (CAPTURES / path).read_bytes().splitlines()[:LOOKED_AT]
    name = guess_agent(lines)
    return name, guess_transport(agent_named(name), lines)


def test_the_stream_of_a_live_codex_is_told_by_its_content() -> None:
    for name in streams("app-server"):
        assert guessed(f"app-server/{name}") == ("codex", "app-server"), name


@pytest.mark.parametrize("left_out", ["turn/", "thread/started", "item/", "account/", ""])
def test_the_stream_of_a_thread_that_was_resumed_is_told_by_its_content(left_out: str, tmp_path: Path) -> None:
    lines = (CAPTURES / "app-server" / "codex-resume.jsonl").read_bytes().splitlines(keepends=True)
    path = tmp_path / "stream"
    path.write_bytes(b"".join(line for line in lines if not left_out or f'"{left_out}'.encode() not in line))
    found = StepFile(path)
    assert found.format == "codex"
    named = StepFile(path, "codex-app-server")
    assert list(named.steps()) == list(found.steps())
    assert [step.agent_session for step in named.steps() if step.kind is StepKind.START] != []


def test_messages_of_another_server_are_not_codex() -> None:
    assert guess_format([b'{"jsonrpc":"2.0","method":"item/started","params":{}}']) is None
    assert guess_format([b'{"method":"textDocument/didOpen","params":{}}']) is None


def test_the_stream_of_a_live_claude_is_told_by_its_content() -> None:
    for name in streams("live"):
        assert guessed(f"live/{name}") == ("claude", "stream-json"), name


def test_the_stream_of_a_process_of_one_turn_has_no_transport() -> None:
    for name in streams(""):
        assert guessed(name)[1] == "" or any(word in name for word in ("stdin", "live", "wakes")), name


@given(
    st.dictionaries(st.sampled_from(["type", "method", "isReplay", "id"]), st.none() | st.lists(st.text()) | st.text())
)
def test_at_most_one_transport_prints_an_event_however_odd_it_is(event: dict[str, object]) -> None:
    live = [agent for agent in map(agent_named, agent_names()) if agent.live is not None]
    assert sum(agent.live.prints(event) for agent in live) <= 1
