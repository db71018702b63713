"""Streams of all agents, line by line: a text wherever one can stand, and lines that are no event at all."""

import json
from collections.abc import Callable, Iterator
from typing import Any

Events = list[dict[str, Any]]


def codex(text: str) -> Events:
    """Every event of codex with the text in all of its fields."""
    items: list[dict[str, Any]] = [
        {"type": "agent_message", "text": text},
        {"type": "reasoning", "text": text},
        {"type": "command_execution", "command": text, "aggregated_output": text, "exit_code": 1, "status": "failed"},
        {"type": "command_execution", "command": f"/bin/bash -lc '{text}'", "status": text},
        {"type": "file_change", "changes": [{"path": text, "kind": text}, {"path": text}], "status": "completed"},
        {"type": "file_change", "changes": [], "status": "failed"},
        {"type": "mcp_tool_call", "server": text, "tool": text, "arguments": {text: [text]},
         "result": {"content": [{"type": text, "text": text}, {"type": text}], "structured_content": {text: text}}},
        {"type": "mcp_tool_call", "server": text, "tool": text, "arguments": text, "error": {"message": text}},
        {"type": "collab_tool_call", "tool": text, "receiver_thread_ids": [], "prompt": text, "agents_states": text},
        {"type": "web_search", "query": text, "action": {"type": text, "queries": [text]}},
        {"type": "todo_list", "items": [{"text": text, "completed": True}, {"text": text}]},
        {"type": "error", "message": text},
        {"type": text},
    ]  # fmt: skip
    events: Events = [{"type": "thread.started", "thread_id": text}, {"type": "turn.started"}]
    for number, item in enumerate(items):
        item["id"] = f"{number}" if number else text
        if item["type"] in ("command_execution", "mcp_tool_call", "todo_list"):
            events.append({"type": "item.started", "item": {**item, "status": "in_progress"}})
        events.append({"type": "item.completed", "item": item})
    events.append({"type": "item.started", "item": {"id": "open", "type": "command_execution", "command": text}})
    return [
        *events,
        {"type": "error", "message": text},
        {"type": "turn.failed", "error": {"message": text}},
        {"type": text},
    ]


def claude(text: str) -> Events:
    """Every event of claude with the text in all of its fields."""
    calls = [
        ("Bash", {"command": text, "description": text}), ("Write", {"file_path": text, "content": text}),
        ("Edit", {"file_path": text, "old_string": text, "new_string": text}), ("WebSearch", {"query": text}),
        ("Task", {"description": text, "prompt": text}), ("mcp__s__t", {text: text}), (text, {"x": text}), (text, text),
        ("TodoWrite", {"todos": [{"content": text, "status": "completed"}, {"content": text, "status": text}]}),
    ]  # fmt: skip
    events: Events = [
        {"type": "system", "subtype": "init", "session_id": text, "model": text},
        _said("assistant", {"type": "text", "text": text}),
        _said("assistant", {"type": "thinking", "thinking": text}),
    ]
    for number, (name, given) in enumerate(calls):
        call = f"{number}" if number else text
        events.append(_said("assistant", {"type": "tool_use", "id": call, "name": name, "input": given}))
        answer: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": call,
            "content": text,
            "is_error": number % 2 == 1,
        }
        events.append({**_said("user", answer), "tool_use_result": _result(text)})
    still: dict[str, Any] = {"type": "tool_use", "id": "open", "name": "Bash", "input": {"command": text}}
    return [
        *events,
        {**_said("assistant", {"type": "text", "text": text}), "parent_tool_use_id": f"nobody {text}"},
        {**_said("user", {"type": "text", "text": text}), "parent_tool_use_id": text},
        _said("user", {"type": "tool_result", "tool_use_id": f"never {text}", "content": [{"type": text}]}),
        {**_said("assistant", still), "parent_tool_use_id": text},
        {"type": "assistant", "message": {"model": "<synthetic>", "content": text}},
        {"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 2, "error": text},
        {"type": "system", "subtype": "status", "status": text, "summary": text},
        {"type": "system", "subtype": text},
        {"type": "tool_use_summary", "summary": text},
        {"type": "auth_status", "output": [text], "error": text},
        {"type": "rate_limit_event", "rate_limit_info": {"status": text, "rateLimitType": text}},
        {"type": "result", "subtype": text, "is_error": True, "result": text, "errors": [text], "terminal_reason": text,
         "permission_denials": [{"tool_name": text, "tool_input": {"command": text}}]},
        {"type": text},
    ]  # fmt: skip


def _said(who: str, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": who, "message": {"id": "m", "model": "opus", "content": [block]}}


def _result(text: str) -> dict[str, Any]:
    lines = [f"-{text}", f"+{text}", f" {text}"]
    patch = [{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": lines}]
    return {"filePath": text, "structuredPatch": patch}


def scripted(text: str) -> Events:
    """Every event of the scripted agent with the text in all of its fields."""
    return [
        {"type": "started", "conversation": text, "model": text},
        {"type": "reasoning", "text": text},
        {"type": "message", "text": text},
        {"type": "plan", "items": [[text, "completed"], [text, text]]},
        {"type": "command.started", "id": text, "command": text},
        {"type": "command.ended", "id": text, "exit_code": 3, "output": text},
        {"type": "tool", "server": text, "tool": text, "arguments": {text: text}, "result": text, "failed": True},
        {"type": "search", "query": text, "result": text},
        {"type": "file", "path": text, "kind": text, "diff": f"@@ -1 +1 @@\n-{text}\n+{text}"},
        {"type": "file", "path": f"{text}.py", "kind": "add", "diff": f"@@ -0,0 +1 @@\n+{text}"},
        {"type": "helper", "task": text, "result": text},
        {"type": "trouble", "message": text},
        {"type": "retry", "message": text},
        {"type": "command.started", "id": "open", "command": text},
        {"type": "ended", "ok": False, "input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1,
         "reasoning_output_tokens": 0, "error": text},
        {"type": text},
    ]  # fmt: skip


EVENTS: dict[str, Callable[[str], Events]] = {"codex": codex, "claude": claude, "scripted": scripted}
"""The agents that print events; ``command`` prints anything."""


def stream(agent: str, text: str) -> bytes:
    """A turn file in which a text stands wherever one can, escaped in one line and as it is in the next.

    JSON has no way to write some characters but escapes: those are escaped in every line.
    """
    if agent == "command":
        return f"{text}\n{json.dumps({'type': text, 'x': text})}\n{{{text}\n".encode()
    lines = (json.dumps(event, ensure_ascii=number % 2 == 0) for number, event in enumerate(EVENTS[agent](text)))
    return "".join(f"{line}\n" for line in lines).encode()


def odd_lines() -> list[bytes]:
    """Lines that are no events, or no text, or only nearly so."""
    message = b'{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"%s"}}'
    said = b'{"type":"assistant","message":{"content":[{"type":"text","text":"%s"}]}}'
    values = [
        b"null",
        b"true",
        b"0",
        b"-0",
        b"42",
        b"1e5",
        b"1e400",
        b"-1e400",
        b"9" * 400,
        b'""',
        b'"text"',
        b"[]",
        b"{}",
    ]
    texts = [
        rb"\ud800", rb"\udc00\ud800", rb"\ud83d\ude00", rb"\ud83d", rb"\u0000", rb"\u001b]0;x\u0007", rb"\u202e\u2028",
        b"\xff\xfe", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x9b2J",
        b"\xc2\x9b2J", b"\x9d0;x\x9c", b"\x1b[2J", b"\x00", b"\t", b"\x7f", b"\xe2\x80\xa8", b"\xc2\x85", b"\xe2\x82",
    ]  # fmt: skip
    whole = [
        b"NaN", b"-", b"{", b"}", b'{"type"', b'{"type":', b'{"type":"turn.started"', b"'x'", b"// x",
        b'{"type":"turn.started"} {"type":"turn.started"}', b'{"type":"error",}', b'\xef\xbb\xbf{"type":"error"}',
        b'{"type":"turn.started"}\r', b"\r", b" ", b"\t", b"\x0b\x0c", b"\xc2\xa0", b"\xe2\x80\x8b", b"\0", b"\0" * 40,
        b'{"type":"turn.started","type":"item.started"}', b'{"type":null}', b'{"type":1}', b'{"type":["item.started"]}',
        b'{"type":"item.completed"}', b'{"type":"item.completed","item":null}', b'{"type":"item.completed","item":{}}',
        b'{"type":"item.completed","item":{"type":"agent_message"}}', b'{"type":"user","message":{"content":[{}]}}',
        b'{"type":"item.completed","item":{"id":"","type":"reasoning","text":"a","text":"b"}}', b'{"type":"assistant"}',
        b'{"type":"assistant","message":{"content":null}}', b'{"type":"result","total_cost_usd":1e308,"usage":null}',
        b'{"type":"result","subtype":"success","total_cost_usd":-1e308,"stop_reason":"x","usage":{"input_tokens":1e400}}',
        b'{"type":"ended","ok":true,"input_tokens":%d,"cached_input_tokens":-1,"output_tokens":1,"reasoning_output_tokens":0}'
        % 10**400, b'{"type":"command.ended","id":"x","exit_code":%d,"output":""}' % 10**30,
        "{\"type\":\"turn.started\"}".encode("utf-16"), "Grüße, 日本, 👍".encode(),
    ]  # fmt: skip
    nested = [b"[" * depth + b"]" * depth for depth in (60, 70, 900, 1_100)]
    calls = [
        b'{"type":"item.completed","item":{"id":"n","type":"mcp_tool_call","arguments":%s,"result":{"content":[],'
        b'"structured_content":%s}}}' % (value, value) for value in (*nested, *values)
    ]  # fmt: skip
    calls += [
        b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":"n","name":"Bash","input":%s}]}}' % value
        for value in (*nested, *values)
    ]
    return [
        *values,
        *whole,
        *nested,
        *calls,
        *(template % text for text in texts for template in (message, said, b"%s")),
    ]


def torn(agent: str) -> Iterator[bytes]:
    """A stream that ends at every byte of its last line, which is full of long characters."""
    first = stream(agent, "before").splitlines()[1]
    last = stream(agent, "é字👍").splitlines()[1]
    for end in range(len(last) + 1):
        yield first + b"\n" + last[:end]


_STRANGE: tuple[Any, ...] = (None, True, 0, -1, 1.5, 2**63, "", "x", [], [[]], {}, {"a": {}}, [None], ["x", 1])


def misshapen(agent: str) -> bytes:
    """Every event of an agent with a value of every type in each of its fields, one after the other."""
    lines: list[str] = []
    for event in EVENTS[agent]("x"):
        for path in _paths(event):
            lines += [json.dumps(_put(event, path, value)) for value in _STRANGE]
            lines.append(json.dumps(_without(event, path)))
    return "".join(f"{line}\n" for line in lines).encode()


def _paths(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield (*above, key)
        yield from _paths(below, (*above, key))


def _put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _put(value[path[0]], path[1:], new)
    return copy


def _without(value: Any, path: tuple[Any, ...]) -> Any:
    copy = value.copy()
    if len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = _without(value[path[0]], path[1:])
    return copy
