"""Synthetic turns as the events that codex prints, about 0.6 kB per line."""

import json
from collections.abc import Iterable, Iterator

THREAD = b'{"type":"thread.started","thread_id":"0190f7a2-0000-7000-8000-000000000001"}\n{"type":"turn.started"}\n'
DONE = (
    b'{"type":"turn.completed","usage":{"input_tokens":24763,"cached_input_tokens":24448,"output_tokens":122,'
    b'"reasoning_output_tokens":64}}\n'
)
FAILED_EVERY = 50


def events(count: int, *, done: bool = True) -> Iterator[dict[str, object]]:
    """Yield the events of one turn of ``count`` lines: commands, reasoning, file changes and messages in turn."""
    yield {"type": "thread.started", "thread_id": "0190f7a2-0000-7000-8000-000000000001"}
    yield {"type": "turn.started"}
    for i in range(count - (3 if done else 2)):
        yield {"type": "item.completed", "item": {"id": f"item_{i}", **_item(i)}}
    if done:
        usage = {"input_tokens": 24763, "cached_input_tokens": 24448, "output_tokens": 122}
        yield {"type": "turn.completed", "usage": usage}


def lines(count: int, *, done: bool = True) -> bytes:
    """Return the same events as bytes."""
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


def steps(numbers: Iterable[int], words: dict[int, str] | None = None) -> Iterator[bytes]:
    """Yield the lines of realistic steps, about 1 kB per step; a step with a duration is a pair of lines.

    Of ten steps four are commands and two are messages; one step in fifty is a failed command.  The text of message
    ``i`` contains ``words[i]``, if there is one.
    """
    for i in numbers:
        begun, ended = _read_step(i, (words or {}).get(i, "the parser now accepts the empty case"))
        if begun is not None:
            yield _event("item.started", i, begun)
        yield _event("item.completed", i, ended)


def message(i: int, text: str) -> bytes:
    """Return the line of a message with only this text."""
    return _event("item.completed", i, {"type": "agent_message", "text": text})


def is_message(i: int) -> bool:
    """Return whether the step with this number is a message."""
    return i % 10 in (4, 9)


def _event(kind: str, i: int, item: dict[str, object]) -> bytes:
    return json.dumps({"type": kind, "item": {"id": f"item_{i}", **item}}).encode() + b"\n"


def _read_step(i: int, words: str) -> tuple[dict[str, object] | None, dict[str, object]]:
    """Return the start of an item, if codex reports one, and its end."""
    if i % 10 in (0, 2, 5, 7):
        failed = i % FAILED_EVERY == 27
        command = {"type": "command_execution", "command": f"/bin/bash -lc 'pytest -q tests/test_{i}.py'"}
        output = "".join(f"tests/test_{i}.py::test_case_{n:02} PASSED [{n * 3:3}%]\n" for n in range(30))
        ended = {"aggregated_output": output, "exit_code": int(failed), "status": "failed" if failed else "completed"}
        begun = {"aggregated_output": "", "exit_code": None, "status": "in_progress"}
        return command | begun, command | ended
    if i % 10 in (1, 6):
        return None, {"type": "reasoning", "text": f"Looking at failing test {i} and its call site. " * 8}
    if i % 10 == 3:
        changes = [{"path": f"/home/ann/code/api/src/m{i}.py", "kind": "update"}]
        change = {"type": "file_change", "changes": changes}
        return change | {"status": "in_progress"}, change | {"status": "completed"}
    if i % 10 == 8:
        call = {"type": "mcp_tool_call", "server": "docs", "tool": "search", "arguments": {"query": f"empty case {i}"}}
        result = {"content": [{"type": "text", "text": f"Page {i}: what a parser does. " * 10}]}
        return call | {"status": "in_progress"}, call | {"result": result, "status": "completed"}
    return None, {"type": "agent_message", "text": f"Step {i}: {words}. " + "It was a matter of one condition. " * 6}
