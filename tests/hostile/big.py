"""Turn files that are too big to be kept: made when a test needs them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from repetition import repeated

MB = 1 << 20

LONG = repeated(MB // 8, MB)
"""Characters of a long text: in short an eighth, which is still more than is shown of one anywhere."""

Lines = Iterator[bytes]


def write(path: Path, lines: Lines) -> Path:
    """Lines as a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.writelines(lines)
    return path


def sparse(path: Path, size: int = 100 * MB) -> Path:
    """A file of so many bytes in which nothing was written: NULs, and no line ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(size)
    return path


def item(kind: str, /, event: str = "completed", **own: Any) -> bytes:
    """One line of codex about an item."""
    return line({"type": f"item.{event}", "item": {"id": "i", "type": kind, **own}})


def said(text: str) -> bytes:
    """A message, as codex prints it."""
    return item("agent_message", text=text)


def tool(name: str, given: Any, call: str = "c") -> bytes:
    """A call of a tool, as claude prints it."""
    block = {"type": "tool_use", "id": call, "name": name, "input": given}
    return line({"type": "assistant", "message": {"id": "m", "content": [block]}})


def line(event: Any) -> bytes:
    """An event as it is printed."""
    return json.dumps(event, ensure_ascii=False).encode() + b"\n"


def _long_text(text: str) -> Callable[[], Lines]:
    """One text in each of the places where people look first."""

    def lines() -> Lines:
        yield said(text)
        yield item("reasoning", text=text)
        yield item("command_execution", command=text, aggregated_output=text, exit_code=0, status="completed")
        yield item("mcp_tool_call", server=text, tool="t", arguments={"x": text}, error={"message": text})
        yield item("error", message=text)

    return lines


def _deep() -> Lines:
    for depth in (1_000, 100_000):
        nested = b"[" * depth + b"]" * depth
        yield nested + b"\n"
        yield b'{"a":' * depth + b"1" + b"}" * depth + b"\n"
        yield b'{"type":"item.completed","item":{"id":"i","type":"mcp_tool_call","arguments":%s}}\n' % nested
        yield b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":"i","input":%s}]}}\n' % nested


def _wide_and_deep() -> Lines:
    """Short as it is, each of its values is far to the right once it is set out in lines."""
    value = b"[" * 60 + b"1," * 50_000 + b"1" + b"]" * 60
    yield b'{"type":"item.completed","item":{"id":"i","type":"mcp_tool_call","arguments":%s}}\n' % value
    yield b'{"type":"odd","x":%s}\n' % value
    yield b"[" * 500 + b"1," * 200_000 + b"1" + b"]" * 500 + b"\n"


def _files() -> Lines:
    changes = [{"path": f"/home/ann/code/api/{n}/\x1b[2J{n}.py", "kind": "update"} for n in range(10_000)]
    yield item("file_change", changes=changes, status="completed")
    yield item("file_change", changes=[{"path": "x" * LONG, "kind": "y" * LONG}], status="completed")


def _plan() -> Lines:
    yield item("todo_list", items=[{"text": f"item {n} \u202e", "completed": n % 2 == 0} for n in range(10_000)])
    yield item("todo_list", items=[{"text": "w" * LONG}])
    yield tool("TodoWrite", {"todos": [{"content": f"item {n}", "status": "pending"} for n in range(10_000)]})


def _often_started() -> Lines:
    for n in range(1_000):
        yield item("command_execution", "started", command=f"run {n}")
        yield tool("Bash", {"command": f"run {n}"})


def _many_started() -> Lines:
    for n in range(repeated(10_100, 12_000)):  # of codex's and of claude's, more than are kept open
        yield item("command_execution", "started", id=f"i{n}", command=f"run {n}")
        yield tool("Bash", {"command": f"run {n}"}, f"c{n}")


def _many_speakers() -> Lines:
    for n in range(repeated(10_100, 20_000)):
        message = {"id": f"m{n}", "usage": {"input_tokens": 1}, "content": []}
        yield line({"type": "assistant", "parent_tool_use_id": f"p{n}", "message": message})


def _long_names() -> Lines:
    name = "n" * LONG
    yield item("command_execution", "started", id=name, command="run")
    yield item("command_execution", id=name, command="run", exit_code=0)
    yield item(name)
    yield line({"type": name})
    yield item("mcp_tool_call", server=name, tool=name)
    yield line({"type": "thread.started", "thread_id": name})
    yield tool(name, {"x": 1}, name)
    yield line({"type": "system", "subtype": "init", "model": name, "session_id": name})
    yield line({"type": "assistant", "parent_tool_use_id": name, "message": {"content": "hi"}})


FILES: dict[str, Callable[[], Lines]] = {
    "long line": lambda: iter([said("y" * 5 * MB), b"x" * 5 * MB + b"\n", said("after")]),
    "brackets": _long_text("[" * LONG),
    "no blanks": _long_text("é" * (LONG // 2)),
    "combining": _long_text("a" + "\u0301" * (LONG // 2)),
    "joiners": _long_text("a\u200d" * (LONG // 8)),
    "introducers": _long_text("\x9d\x90\x9b" * (LONG // 24)),
    "escapes": _long_text("\x1b]\x1b[\x1bP" * (LONG // 24)),
    "returns": _long_text("\r" * (LONG // 4)),
    "newlines": _long_text("\n" * (LONG // 4) + "x"),
    "tabs": _long_text("\t" * (LONG // 4) + "x"),
    "quotes": _long_text("> " * (LONG // 8) + "x"),
    "emphasis": _long_text("*_" * (LONG // 8) + "x"),
    "backticks": _long_text("` `` ``` " * (LONG // 32)),
    "table": _long_text("|a" * 2_000 + "\n" + "|-" * 2_000 + "\n" + "|b" * 2_000),
    "apostrophes": _long_text("bash -lc '" + "'" * (LONG // 4)),
    "deep": _deep,
    "wide and deep": _wide_and_deep,
    "files": _files,
    "plan": _plan,
    "often started": _often_started,
    "many started": _many_started,
    "many speakers": _many_speakers,
    "long names": _long_names,
    "blank lines": lambda: iter([b"\n" * LONG, b" \r\n" * 1_000, said("after")]),
}
"""By name; written for codex and for claude at once, and for ``command`` and ``scripted`` they are lines as well."""

SPEAKERS: dict[str, tuple[str, ...]] = {
    "many speakers": ("claude",),
    **dict.fromkeys(("deep", "plan", "often started", "long names"), ("codex", "claude")),
}
"""The agents that read a file in short, if it is not codex alone."""
