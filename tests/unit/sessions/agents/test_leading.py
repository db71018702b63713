"""Agents as leads: the arguments of a start, the printed lines, and the agents' own settings."""

import json
import sys
import tomllib
from pathlib import Path

import msgspec
import pytest

from agentdash.sessions.agents.base import LaunchRequest
from agentdash.sessions.agents.leading import server_argv, setup_lines
from agentdash.sessions.agents.registry import agent_named, agent_names

LEADING = [name for name in agent_names() if agent_named(name).leading is not None]
SESSION = "5e0f1f3c-6a3e-4d0e-9d47-1f0a7f2d9c11"


def launch(name, **settings):
    agent = agent_named(name)
    section = msgspec.convert(settings, agent.settings_type)
    return agent.command(LaunchRequest(prompt="go", cwd="/", session_id=SESSION, settings=section))


def test_claude_and_codex_can_lead():
    assert set(LEADING) == {"claude", "codex"}


@pytest.mark.parametrize("name", LEADING)
@pytest.mark.parametrize("live", [False, True])
def test_only_a_lead_gets_the_server(name, live):
    plain, lead = launch(name, live=live), launch(name, live=live, lead=True)
    for argv, other in ((lead.argv, plain.argv), (lead.plain_argv, plain.plain_argv)):
        assert "agentdash" not in " ".join(other)
        assert ("agentdash" in " ".join(argv)) is bool(other)
        assert set(other) <= set(argv)


def test_claude_waits_for_the_server_and_allows_its_tools_beside_the_others():
    argv = launch("claude", lead=True, allowed_tools=["Write"]).argv
    config = json.loads(argv[argv.index("--mcp-config") + 1])
    server = config["mcpServers"]["agentdash"]
    assert (server["command"], *server["args"]) == server_argv()
    assert server["alwaysLoad"] is True
    at = argv.index("--allowedTools")
    assert argv[at : at + 4] == ("--allowedTools", "Write", "mcp__agentdash", "--mcp-config")


def test_codex_requires_the_server_and_approves_its_tools_beside_other_servers():
    argv = launch("codex", lead=True, config={"mcp_servers": {"forms": {"command": "x"}}}).argv
    pairs = [argv[at + 1] for at, word in enumerate(argv) if word == "-c"]
    servers = tomllib.loads("\n".join(pairs))["mcp_servers"]
    assert servers["forms"] == {"command": "x"}
    server = servers["agentdash"]
    assert (server["command"], *server["args"]) == server_argv()
    assert (server["required"], server["default_tools_approval_mode"], server["tool_timeout_sec"]) == (
        True, "approve", 600,
    )  # fmt: skip
    assert "AGENTDASH_SESSION_ID" in server["env_vars"]


@pytest.mark.parametrize("name", LEADING)
def test_a_lead_that_is_taken_over_still_leads(name):
    agent = agent_named(name)
    section = msgspec.convert({"lead": True}, agent.settings_type)
    request = LaunchRequest(prompt="", cwd="/", session_id=SESSION, agent_session="c", settings=section)
    assert "agentdash" in " ".join(agent.interface.resume(request))


def test_the_command_of_the_server_needs_no_path(monkeypatch, tmp_path):
    assert Path(server_argv()[0]).is_absolute()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert server_argv() == (str(tmp_path / "python"), "-P", "-m", "agentdash", "mcp")


def test_the_lines_for_other_clients_are_json():
    servers = json.loads("\n".join(setup_lines("json")))["mcpServers"]
    assert (servers["agentdash"]["command"], *servers["agentdash"]["args"]) == server_argv()


def test_the_lines_for_codex_are_toml():
    server = tomllib.loads("\n".join(setup_lines("codex")))["mcp_servers"]["agentdash"]
    assert (server["command"], *server["args"]) == server_argv()


FILES = {"claude": ".claude.json", "codex": "config.toml"}
KNOWN = {
    "claude": '{"mcpServers": {"agentdash": {"command": "agentdash", "args": ["mcp"]}}}',
    "codex": '[mcp_servers.agentdash]\ncommand = "agentdash"\nargs = ["mcp"]\n',
}
UNKNOWN = {
    "claude": ["{}", '{"mcpServers": null}', '{"mcpServers": {"agentdash": 1}}'],
    "codex": ["", "[mcp_servers]\nagentdash = 1\n"],
}
BROKEN = {"claude": ["", "[]", "{", '{"mcpServers": 1}'], "codex": ["=", "mcp_servers = 1", "a = '\x00'"]}


def leading(name):
    found = agent_named(name).leading
    assert found is not None
    return found


def known(name, folder, text):
    (folder / FILES[name]).write_text(text)
    return leading(name).known_server({"CLAUDE_CONFIG_DIR": str(folder), "CODEX_HOME": str(folder)})


@pytest.mark.parametrize("name", LEADING)
def test_the_agents_own_settings_are_read(name, tmp_path):
    assert known(name, tmp_path, KNOWN[name]) == {"command": "agentdash", "args": ["mcp"]}
    assert all(known(name, tmp_path, text) is None for text in UNKNOWN[name])
    (tmp_path / FILES[name]).unlink()
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path), "CODEX_HOME": str(tmp_path)}
    assert leading(name).known_server(env) is None


@pytest.mark.parametrize(("name", "text"), [(name, text) for name in LEADING for text in BROKEN[name]])
def test_settings_that_cannot_be_read_are_an_error(name, text, tmp_path):
    with pytest.raises(ValueError):
        known(name, tmp_path, text)
