"""The example of a hook that notifies a phone and takes one answer, against a server of the test."""

import json
import os
import queue
import re
import runpy
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from places import ROOT

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start

pytestmark = pytest.mark.usefixtures("scripted_agent")

SCRIPT = ROOT / "docs/guide/examples/phone.py"
TOKEN = re.compile(r"^([\w-]{22}) y    or    \1 n$", re.MULTILINE)


class Server(ThreadingHTTPServer):
    """Topics: what is published to one is kept, and the replies are a stream."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Topics)
        self.published = []
        self.replies = queue.Queue()
        self.keys = set()

    def reply(self, text):
        self.replies.put(text)


class Topics(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self):
        self.server.keys.add(self.headers["Authorization"])
        self.server.published.append((self.path, self.rfile.read(int(self.headers["Content-Length"])).decode()))
        self.send_response(200)
        self.end_headers()

    def do_GET(self):
        assert self.path == "/replies/json"
        self.send_response(200)
        self.end_headers()
        while (text := self.server.replies.get()) is not None:
            self.wfile.write(json.dumps({"event": "message", "message": text}).encode() + b"\n")
            self.wfile.flush()

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.reply(None)
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def settings(server, tmp_path, monkeypatch):
    """The settings of the hook, and of agentdash with it."""
    path = tmp_path / "phone.json"
    url = f"http://127.0.0.1:{server.server_port}"
    path.write_text(json.dumps({"url": url, "topic": "asks", "replies": "replies", "auth": "Bearer key"}))
    monkeypatch.setenv("AGENTDASH_PHONE", str(path))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    hook = f"[notify]\nhook = ['{sys.executable}', '{SCRIPT}']\nhook_timeout_seconds = 60\n"
    (tmp_path / "config.toml").write_text(hook)
    return path


@pytest.fixture
def asking(manager, settings, server, wait_until):
    """A live session that asks, and the token that the phone got for it."""
    options = {"live": True, "script": "ask", "speed": 40.0}
    session = manager.spawn(Start("clean up [[script:ask]]", agent="scripted", options=options))
    wait_until(lambda: server.published, timeout=60, what="the message")
    path, text = server.published[0]
    assert path == "/asks"
    assert text.startswith("clean up")
    return session, TOKEN.search(text)[1]


@pytest.fixture
def listener(settings):
    process = subprocess.Popen([sys.executable, SCRIPT, "listen"])
    yield process
    process.kill()
    process.wait()


def test_a_reply_with_the_token_answers_the_ask_once(asking, listener, server, manager, settings, wait_until):
    session, token = asking
    kept = settings.with_name("phone-tokens.json")
    assert oct(kept.stat().st_mode & 0o777) == "0o600"
    assert token not in kept.read_text()
    server.reply("hello")
    server.reply(f"{token[:-1]}! y")
    server.reply(f"{token} maybe")
    server.reply(f"{token} y")
    wait_until(lambda: len(server.published) > 1, timeout=60, what="the receipt")
    assert server.published[1] == ("/asks", "approve: done")
    (ask,) = manager.store.asks.of_session(session.id)
    assert ask.answer.verdict == "allow"
    assert json.loads(kept.read_text()) == {}
    server.reply(f"{token} n")  # it is void by now
    manager.wait([session.id], timeout=60)
    assert manager.reader.get(session.id).status is Status.DONE
    assert server.keys == {"Bearer key"}


def test_a_no_denies_it(asking, listener, server, manager, wait_until):
    session, token = asking
    server.reply(f"{token} n")
    wait_until(lambda: len(server.published) > 1, timeout=60, what="the receipt")
    assert server.published[1] == ("/asks", "deny: done")
    (ask,) = manager.store.asks.of_session(session.id)
    assert ask.answer.verdict == "deny"


def test_an_ask_that_cannot_be_read_whole_gets_no_token():
    whole = {
        "title": "run: rm -rf build", "body": "rm -rf build\n", "questions": [], "left_out": "", "paths": [],
        "verdicts": ["allow", "deny", "stop"],
    }  # fmt: skip
    is_whole = runpy.run_path(str(SCRIPT))["is_whole"]
    assert is_whole(whole)
    for other in (
        {"body": "rm -rf build\nrm -rf /"}, {"title": "run: rm …"}, {"questions": [{"key": "q"}]},
        {"left_out": "2 files"}, {"paths": ["a", "b"]}, {"verdicts": ["deny"]},
        {"title": "run: x" + 300 * "y" + "rm -rf build"},
        {"title": "run: \u202e rm -rf build"}, {"title": "run: a" + 80 * " " + "rm -rf build"},
    ):  # fmt: skip
        assert not is_whole(whole | other), other


def test_a_token_that_is_too_old_answers_nothing(asking, settings, manager):
    session, token = asking
    kept = settings.with_name("phone-tokens.json")
    (name, one), *_ = json.loads(kept.read_text()).items()
    kept.write_text(json.dumps({name: one | {"until": 1}}))
    program = f"import runpy; print(runpy.run_path({str(SCRIPT)!r})['take']({token!r}))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "None\n"
    assert manager.reader.get(session.id).asking == 1
