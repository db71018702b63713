"""Synthetic turns in the events that codex prints, about 0.6 kB a line."""

import json
from collections.abc import Iterator


def events(count: int, *, done: bool = True) -> Iterator[dict[str, object]]:
    """The events of one turn of ``count`` lines: commands, reasoning, file changes and messages in turn."""
    yield {"type": "thread.started", "thread_id": "0190f7a2-0000-7000-8000-000000000001"}
    yield {"type": "turn.started"}
    for i in range(count - (3 if done else 2)):
        yield {"type": "item.completed", "item": {"id": f"item_{i}", **_item(i)}}
    if done:
        usage = {"input_tokens": 24763, "cached_input_tokens": 24448, "output_tokens": 122}
        yield {"type": "turn.completed", "usage": usage}


def lines(count: int, *, done: bool = True) -> bytes:
    """The same as bytes."""
    return b"".join(json.dumps(event).encode() + b"\n" for event in events(count, done=done))


def _item(i: int) -> dict[str, object]:
    if i % 5 in (0, 3):
        return {
            "type": "command_execution",
            "command": f"/bin/bash -lc 'pytest -q tests/test_{i}.py'",
            "aggregated_output": ("ok " * 300)[:700],
            "exit_code": 0,
            "status": "completed",
        }
    if i % 5 == 1:
        return {"type": "reasoning", "text": "Looking at the failing test and the call site. " * 4}
    if i % 5 == 2:
        changes = [{"path": f"/home/dev/project/src/m{i}.py", "kind": "update"}]
        return {"type": "file_change", "changes": changes, "status": "completed"}
    return {"type": "agent_message", "text": f"Step {i}: the parser now accepts the empty case. " * 3}
