"""Which agent wrote a file is told from its events."""

import pytest

from agentdash.sessions.agents.guess import guess_agent


@pytest.mark.parametrize(
    ("lines", "agent"),
    [
        ([b'{"type":"thread.started","thread_id":"1"}'], "codex"),
        ([b"WARN: something", b"", b'{"type":"item.completed","item":{}}'], "codex"),
        ([b'{"type":"system","subtype":"init","session_id":"1"}'], "claude"),
        ([b'{"type":"assistant","message":{},"session_id":"1"}'], "claude"),
        ([b'{"type":"result"}'], "command"),
        ([b'{"type":1}', b"[1]", b"null", b'"thread.started"'], "command"),
        ([b"\xff\xfe", b"plain text"], "command"),
        ([b"[" * 100_000], "command"),
        ([], "command"),
    ],
)
def test_the_agent_is_guessed(lines: list[bytes], agent: str) -> None:
    assert guess_agent(lines) == agent
