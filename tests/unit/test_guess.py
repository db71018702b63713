"""Which agent wrote a file is told from its events."""

import pytest

from agentdash.sessions.agents.guess import guess_format


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
        ([], None),
    ],
)
def test_the_format_is_told_by_the_content(lines: list[bytes], expected: str | None) -> None:
    assert guess_format(lines) == expected
