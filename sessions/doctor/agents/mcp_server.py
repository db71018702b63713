"""Check the MCP server: the time of its start, and whether the agents that can lead others know it."""

import select
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ...agents.capabilities import Leading
from ...agents.leading import server_argv
from ...agents.registry import agent_named, agent_names
from ..commands import find
from ..model import Finding, Subject, fail, ok, warn

NAME = "MCP server"
PATIENCE = 1.0
"""Seconds that codex (0.169.0) waits for the tools of a server that its settings do not require."""
LONGEST = 10.0
"""Seconds after which the check gives up."""

_HELLO = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"clientInfo":{"name":"agentdash doctor","version":"1"}}}\n{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'
)
_TRY = "try: agentdash mcp < /dev/null"


def start(subject: Subject) -> Iterator[Finding]:
    """Report how long the server takes from its start to the list of its tools."""
    began = time.monotonic()
    tools, stderr = _tools(server_argv(), subject.env)
    took = time.monotonic() - began
    if tools is None:
        yield fail(NAME, f"it did not list its tools within {LONGEST:g} s{': ' if stderr else ''}{stderr}", _TRY)
    elif took > PATIENCE:
        remedy = "let the clients wait for it (required = true, alwaysLoad): agentdash mcp --config codex"
        yield warn(NAME, f"{len(tools)} tools after {took:.2f} s; codex waits {PATIENCE:g} s", remedy)
    else:
        yield ok(NAME, f"{len(tools)} tools after {took:.2f} s")


def clients(subject: Subject) -> Iterator[Finding]:
    """Report for each installed agent that can lead others whether its own settings have the server."""
    for name in agent_names(demo=False):
        agent = agent_named(name)
        if agent.leading is not None and find(agent.binary or name, subject.env) is not None:
            yield _client(name, agent.leading, subject.env)


def _client(name: str, leading: Leading, env: Mapping[str, str]) -> Finding:
    what, setup = f"{NAME} in {name}", f"agentdash mcp --config {name}"
    try:
        server = leading.known_server(env)
    except (OSError, ValueError) as error:
        return warn(what, f"its settings cannot be read: {error}", f"correct them, or see {setup}")
    if server is None:
        return ok(what, f"not set up; spawn --lead needs no set-up, other starts do: {setup}")
    command = server.get("command")
    if not isinstance(command, str) or find(command, env) is None:
        return warn(what, f"its command {command} is not found", f"replace it: {setup}")
    return ok(what, f"set up ({command})")


def _tools(argv: Sequence[str], env: Mapping[str, str]) -> tuple[list[Any] | None, str]:
    """Return the tools that a server lists, None if it does not, and the last line of its stderr.

    Raises:
        OSError: it cannot be started.
    """
    process = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(env), bufsize=0
    )
    try:
        return _asked(process), ""
    except (OSError, ValueError):  # it ended, or printed no answer
        process.kill()
        stderr = process.communicate()[1].decode("utf-8", "replace").strip()
        return None, stderr.splitlines()[-1] if stderr else ""
    finally:
        process.kill()
        process.communicate()


def _asked(process: "subprocess.Popen[bytes]") -> list[Any]:
    """Return the tools from the second answer.

    Raises:
        OSError, ValueError: there is none in time.
    """
    if process.stdin is None or process.stdout is None:
        raise ValueError
    process.stdin.write(_HELLO)
    until, output = time.monotonic() + LONGEST, b""
    while output.count(b"\n") < 2:
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))
        piece = process.stdout.read(1 << 16) if ready else b""
        if not piece:
            raise ValueError
        output += piece
    answer = msgspec.json.decode(output.splitlines()[1])
    try:
        return list(answer["result"]["tools"])
    except (KeyError, TypeError, IndexError):
        raise ValueError from None
