"""The MCP server: time from its start to the list of its tools, memory, and the processor of a server that waits."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from measure import memory, table, work
from sizes import sized

SMALL = "../tests/small_tools.py"
SERVERS = {
    "agentdash mcp": [sys.executable, "-P", "-m", "agentdash", "mcp"],
    "with three tools": [sys.executable, "-P", SMALL, "mcp"],
}
SDK = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("bare")
@server.tool()
def say(text: str) -> str:
    "Says a text."
    return text
server.run()
"""
HELLO = {
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}
STARTED = {"method": "notifications/initialized"}
LIST = {"id": 2, "method": "tools/list"}
SLEEP = {"id": 3, "method": "tools/call", "params": {"name": "sleep", "arguments": {"seconds": 40}}}
COUNT = {"id": 4, "method": "tools/call", "params": {"name": "count", "arguments": {"word": "x"}}}
RUNS = sized(9, 1)
WAITED = sized(10.0, 0.2)


@contextmanager
def listed(argv: list[str]) -> "Iterator[tuple[subprocess.Popen[bytes], float]]":
    """Yield a server that has listed its tools, and the milliseconds from its start until then."""
    began = time.perf_counter()
    server = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        tell(server, HELLO)
        told(server)
        tell(server, STARTED)
        tell(server, LIST)
        told(server)
        yield server, (time.perf_counter() - began) * 1000
    finally:
        server.kill()
        server.communicate()


def tell(server: "subprocess.Popen[bytes]", message: dict[str, object]) -> None:
    assert server.stdin is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()


def told(server: "subprocess.Popen[bytes]") -> object:
    assert server.stdout is not None
    return json.loads(server.stdout.readline())


def starts(name: str, argv: list[str]) -> tuple[object, ...]:
    times, sizes = [], []
    for _ in range(RUNS):
        with listed(argv) as (server, took):
            times.append(took)
            sizes.append(memory(server.pid)[0])
    return name, statistics.median(times), max(times), statistics.median(sizes)


def waiting() -> tuple[object, ...]:
    """Measure a server with one call that waits, after the manager was loaded."""
    with listed(SERVERS["with three tools"]) as (server, _):
        tell(server, COUNT)
        told(server)
        tell(server, SLEEP)
        before = work(server.pid)
        time.sleep(WAITED)
        done = work(server.pid) - before
        return "agentdash mcp, one call waits", done.cpu_ms / WAITED, done.wakeups / WAITED, memory(server.pid)[0]


def sdk() -> tuple[object, ...]:
    """Measure a server of one tool on the official SDK, if that is installed."""
    if find_spec("mcp") is None:
        return "on the SDK", "not installed", "", ""
    return starts("on the SDK", [sys.executable, "-c", SDK])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AGENTDASH_HOME"] = folder
        rows = [*(starts(name, argv) for name, argv in SERVERS.items()), sdk()]
        table("from the start of an MCP server to the list of its tools", ["", "ms", "worst", "MB"], rows)
        table("an MCP server that waits, per second", ["", "CPU ms", "wakeups", "MB"], [waiting()])
