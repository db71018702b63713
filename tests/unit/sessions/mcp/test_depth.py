"""The tools that a session is shown: at the depth limit none that starts a worker."""

import json

import pytest
from recorded_sessions import lines, record, said

from agentdash.sessions.mcp import protocol
from agentdash.sessions.mcp.orchestration.registry import TOOLS
from agentdash.sessions.mcp.server import Server
from agentdash.sessions.runner import caller as callers
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.service.managing.housekeeping import keep_settings

META = {protocol.VERSION_KEY: "2026-07-28", protocol.CLIENT_KEY: {"name": "tester", "version": "1"}}
EVERY = [tool.name for tool in TOOLS]


def shown(stateless=False):
    """The result of ``tools/list``."""
    sent = []
    server = Server(TOOLS, sent.append)
    params = {"_meta": META} if stateless else {}
    server.receive(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}).encode())
    server.finish()
    return json.loads(sent[0])["result"]


def names(**options):
    return [tool["name"] for tool in shown(**options)["tools"]]


@pytest.fixture
def line(tmp_path, monkeypatch):
    """A session of an outside lead, one below it, and one below that; ``max_depth`` is 2."""
    (tmp_path / "config.toml").write_text("[orchestration]\nmax_depth = 2\n")
    monkeypatch.setenv("AGENTDASH_CONFIG", str(tmp_path / "config.toml"))
    with SessionManager(caller=Caller()) as manager:
        monkeypatch.setenv("AGENTDASH_HOME", str(manager.layout.home))
        keep_settings(manager.store, manager.reader.settings.config())
        top = record(manager, [("work", lines(said("x", 1)))], lead="mcp:1", lifecycle="linked")
        second = record(manager, [("work", lines(said("x", 1)))], parent=top.id, lifecycle="linked")
        yield manager, top, second


def test_a_session_at_the_depth_limit_is_not_shown_the_tool_that_starts_workers(line, monkeypatch):
    manager, top, second = line
    assert names() == EVERY
    monkeypatch.setenv("AGENTDASH_SESSION_ID", top.id)
    assert names() == EVERY
    monkeypatch.setenv("AGENTDASH_SESSION_ID", second.id)
    assert names() == [name for name in EVERY if name != "delegate"]
    assert shown(stateless=True)["ttlMs"] == 0
    manager.reader.settings.path.write_text("[orchestration]\nmax_depth = 3\n")
    keep_settings(manager.store, manager.reader.settings.config())
    assert names() == EVERY
    assert shown(stateless=True)["ttlMs"] > 0


def test_it_is_left_out_too_if_the_client_handed_on_no_variable(line, monkeypatch):
    manager, _, second = line
    env = {"AGENTDASH_SESSION_ID": second.id, "AGENTDASH_HOME": str(manager.layout.home)}
    monkeypatch.delenv("AGENTDASH_HOME")
    monkeypatch.setattr(callers, "ancestors", lambda: (callers.Link(1, 1, env),))
    assert "delegate" not in names()


@pytest.mark.parametrize("session", ["00000000-0000-4000-8000-000000000000", "x\x1b'"])
def test_a_place_that_cannot_be_read_leaves_every_tool(line, monkeypatch, session, tmp_path):
    monkeypatch.setenv("AGENTDASH_SESSION_ID", session)
    assert names() == EVERY
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("AGENTDASH_HOME", str(tmp_path / "empty"))
    assert names() == EVERY
    assert list((tmp_path / "empty").iterdir()) == []
