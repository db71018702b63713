"""Which agent wrote a file is told from its events."""

import pytest

from agentdash.sessions.agents.format_detection import guess_agent, guess_format


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
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
        ([b'{"type":"started","conversation":"1","model":"demo"}'], "demo"),
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
    ],
)
def test_the_format_is_told_by_the_content(lines: list[bytes], expected: str | None) -> None:
    assert guess_format(lines) == expected


def test_a_transcript_was_printed_by_no_agent() -> None:
    assert guess_agent([b'{"type":"session_meta","payload":{}}']) == "command"
    assert guess_agent([b"WARN", b'{"type":"turn.started"}']) == "codex"
    assert guess_agent([]) == "command"
