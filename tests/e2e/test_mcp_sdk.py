"""The MCP server over real pipes: the official SDK's client in both eras, signals, and long lines."""

import contextlib
import json
import os
import signal
import subprocess
import sys

import pytest
from places import TESTS

PROGRAM = [sys.executable, "-P", str(TESTS / "small_tools.py"), "mcp"]
HELLO = {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
LIST = {"id": 2, "method": "tools/list"}


@pytest.fixture
def connect(tmp_path):
    """Connects the SDK's client in a mode (``auto`` probes for the stateless era) to a new server."""
    mcp = pytest.importorskip("mcp")
    from mcp.client.stdio import StdioServerParameters, stdio_client

    def connected(mode, **options):
        parameters = StdioServerParameters(command=PROGRAM[0], args=PROGRAM[1:], env=dict(os.environ), cwd=tmp_path)
        return mcp.Client(stdio_client(parameters), mode=mode, **options)

    return connected


@pytest.mark.smoke
@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
async def test_the_sdk_lists_and_calls_every_tool(connect, mode, version):
    async with connect(mode) as client:
        assert client.protocol_version == version
        assert client.server_info.name == "agentdash"
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["count", "sleep", "say"]
        assert tools["count"].annotations.destructive_hint is False
        counted = await client.call_tool("count", {"word": "go", "times": 3, "place": {"folder": "x"}})
        assert counted.structured_content["text"] == "go go go"
        assert json.loads(counted.content[0].text) == counted.structured_content
        slept = await client.call_tool("sleep", {"seconds": 0.01})
        assert (slept.content[0].text, slept.structured_content) == ("slept 0.01 s", None)
        said = await client.call_tool("say", {"text": "a\u2028b\nc " * 20_000})
        assert said.content[0].text == "a\u2028b\nc " * 20_000
        refused = await client.call_tool("say", {"refuse": True})
        assert (refused.is_error, refused.content[0].text) == (
            True,
            "not_yours: Session 1 is not yours. Next: list_sessions.",
        )


@pytest.fixture
def server(tmp_path):
    process = subprocess.Popen(
        PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    )
    yield process
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        with contextlib.suppress(BrokenPipeError):
            stream.close()


def tell(server, message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()


def told(server):
    return json.loads(server.stdout.readline())


def call(key, name, **arguments):
    return {"id": key, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def test_it_lists_its_tools_before_it_touches_the_state_folder(server, tmp_path, monkeypatch):
    tell(server, HELLO)
    tell(server, LIST)
    told(server)
    assert len(told(server)["result"]["tools"]) == 3
    with open(f"/proc/{server.pid}/maps") as maps:
        assert "_sqlite3" not in maps.read()
    tell(server, call(3, "count", word="x"))
    assert told(server)["result"]["structuredContent"]["text"] == "x"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_quietly_although_a_call_waits(server, number):
    tell(server, call(1, "sleep", seconds=500))
    tell(server, HELLO)
    assert told(server)["id"] == 1
    server.send_signal(number)
    assert server.wait(60) == 0
    assert server.stderr.read() == b""


def test_the_end_of_input_ends_it_and_calls_that_wait_return(server):
    tell(server, call(7, "sleep", seconds=500))
    tell(server, call(8, "say", text="x"))
    assert told(server)["id"] == 8
    server.stdin.write(b'{"jsonrpc":"2.0","id":9,"met')
    server.stdin.close()
    answers = [json.loads(line) for line in server.stdout]
    assert sorted((one["id"] or 0) for one in answers) == [0, 7]
    assert server.wait(60) == 0


def test_long_lines_stray_prints_and_line_separators_do_not_break_the_protocol(server):
    text = "x\u2028\u0085\r" * 700_000
    tell(server, call(1, "say", text=text))
    assert told(server)["result"]["content"][0]["text"] == text
    server.stdin.close()
    assert server.wait(60) == 0
    assert server.stderr.read() == b"a stray line on stdout\n"


def test_at_a_terminal_it_names_the_set_up(tmp_path):
    parent, child = os.openpty()
    done = subprocess.run(
        [sys.executable, "-P", "-m", "agentdash", "mcp"], stdin=child, capture_output=True, text=True, check=False
    )
    os.close(parent)
    os.close(child)
    assert (done.returncode, done.stdout) == (2, "")
    assert "agentdash mcp --config claude" in done.stderr
