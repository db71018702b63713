"""An end counts as read by its lead when the answer was written to the client, whatever kills the server."""

import contextlib
import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
import termios

import pytest
from leading import Leading
from waiting import until

from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.service.manager import SessionManager

PIPE_BYTES = 4_096
THREAD = "0123456789"
LEAD = f"codex:{THREAD}"
CALL = {"id": 7, "method": "tools/call", "params": {"name": "wait_for", "_meta": {"threadId": THREAD}}}


@pytest.fixture
def lead():
    with SessionManager(caller=Caller(lead=LEAD, evidence="lead key")) as manager:
        yield Leading(manager)


class Client:
    """A client that reads the answers only when a test wants it; its pipe holds 4096 bytes."""

    def __init__(self, folder):
        self.read, write = os.pipe()
        fcntl.fcntl(self.read, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "agentdash", "mcp"], stdin=subprocess.PIPE, stdout=write, cwd=folder
        )
        os.close(write)

    def ask(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def waiting_bytes(self):
        return struct.unpack("i", fcntl.ioctl(self.read, termios.FIONREAD, bytes(4)))[0]

    def answer(self):
        with open(self.read, "rb", closefd=False) as stream:
            return json.loads(stream.readline())

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        os.close(self.read)


@pytest.fixture
def client(tmp_path):
    with contextlib.ExitStack() as stack:

        def connect():
            made = Client(tmp_path)
            stack.callback(made.close)
            return made

        yield connect


def test_an_end_is_named_again_if_the_server_is_killed_while_it_writes(lead, client):
    worker = lead.worker("the answer " * 300, lead=LEAD)
    first = client()
    first.ask(CALL)
    until(lambda: first.waiting_bytes() == PIPE_BYTES, what="the pipe to be full")
    assert lead.manager.reader.get(worker.id).reported_turn == 0
    assert "ended" not in lead.call("wait_for")  # the other server is about to name it
    os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait()

    second = client()
    second.ask(CALL)
    ended = second.answer()["result"]["structuredContent"]["ended"]
    assert [one["session"] for one in ended] == [worker.short_id]
    until(lambda: lead.manager.reader.get(worker.id).reported_turn == 1, what="the end to count as read")
    second.ask(CALL | {"id": 8})
    assert "ended" not in second.answer()["result"]["structuredContent"]
