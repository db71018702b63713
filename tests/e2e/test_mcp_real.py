"""Real claude and codex call the tools of the MCP server: set up by ``--lead``, and as users set it up themselves."""

import json
import shlex
import subprocess
import sys

import pytest
from isolation import work_folder
from places import TESTS
from real_clis import EVERY_CLI
from verbs import verb

from agentdash.sessions.model.session import Status, StepKind, StepStatus
from agentdash.sessions.rules.launch import Start

pytestmark = [pytest.mark.real]

SERVER = (sys.executable, "-P", str(TESTS / "small_tools.py"), "mcp")


@pytest.fixture
def small_server(monkeypatch):
    """The server with the tools of the tests, in place of the real one."""
    monkeypatch.setattr("agentdash.sessions.agents.claude.leading.server_argv", lambda: SERVER)
    monkeypatch.setattr("agentdash.sessions.agents.codex.own_config.server_argv", lambda: SERVER)


@pytest.fixture(params=EVERY_CLI)
def lead(request, use_agent, small_server):
    """Each real agent, which can find the small server; agentdash's name for it."""
    return use_agent(request.param)


def counted(manager, session, turn=1):
    """The facts of the newest call of the small tool, as the agent got them."""
    steps = manager.reader.steps.trajectory(session.id, turn)
    calls = [step for step in steps if step.kind is StepKind.TOOL_CALL and "count" in (step.tool or "")]
    assert calls, steps
    assert calls[-1].status is StepStatus.OK, calls[-1]
    return json.loads(calls[-1].output[calls[-1].output.index("{") :])


@pytest.mark.parametrize("live", [False, True], ids=["one-turn", "live"])
def test_an_agent_that_leads_calls_a_tool_in_each_of_its_turns(manager, lead, live, at, tmp_path):
    options = {"lead": True, "live": live}
    session = manager.spawn(Start("[[fake:count]] go", agent=lead, cwd=work_folder(tmp_path), options=options))
    ended = at(session, 1, Status.DONE, Status.FAILED)
    assert (ended.status, ended.denied) == (Status.DONE, 0), ended.reason
    facts = counted(manager, session)
    assert (facts["text"], facts["sessions"], facts["caller"]) == ("go go go", 1, session.id)
    assert "call_count" in facts["call"]
    manager.prompts.inject(session.id, "[[fake:count]] again")
    ended = at(session, 2, Status.DONE, Status.FAILED)
    assert (ended.status, ended.denied) == (Status.DONE, 0), ended.reason
    again = counted(manager, session, 2)
    assert (again["text"], again["caller"]) == ("go go go", session.id)


def test_an_agent_that_does_not_lead_has_no_such_tool(manager, lead, tmp_path):
    session = manager.spawn(Start("[[fake:count]] go", agent=lead, cwd=work_folder(tmp_path), options={"lead": False}))
    manager.wait([session.id], timeout=120)
    outputs = [step.output for step in manager.reader.steps.trajectory(session.id) if step.output]
    assert not any("go go go" in output for output in outputs)


def test_codex_gets_the_tools_of_a_server_that_is_configured_by_hand(manager, codex_env, tmp_path):
    command, *args = SERVER
    with (codex_env / "config.toml").open("a") as config:
        config.write(f"[mcp_servers.agentdash]\ncommand = {json.dumps(command)}\nargs = {json.dumps(args)}\n")
        config.write('default_tools_approval_mode = "approve"\n')
    done = subprocess.run(
        ["codex", "exec", "--json", "--skip-git-repo-check", "[[fake:count]] go"],
        cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    items = [json.loads(line).get("item", {}) for line in done.stdout.splitlines()]
    (call,) = [one for one in items if one.get("type") == "mcp_tool_call" and one["status"] == "completed"]
    assert call["result"]["structured_content"]["caller"].startswith("codex:")
    assert call["result"]["structured_content"]["call"]


def test_codex_accepts_the_printed_lines(codex_env, small_server):
    lines = verb("mcp", "--config", "codex").stdout
    with (codex_env / "config.toml").open("a") as config:
        config.write(lines)
    listed = subprocess.run(["codex", "mcp", "list", "--json"], capture_output=True, text=True, check=True, timeout=60)
    (server,) = json.loads(listed.stdout)
    assert (server["name"], server["transport"]["command"]) == ("agentdash", SERVER[0])


def test_claude_accepts_the_printed_line_and_gets_the_tools(claude_env, small_server, tmp_path):
    (line,) = [line for line in verb("mcp", "--config", "claude").stdout.splitlines() if not line.startswith("#")]
    subprocess.run(shlex.split(line), check=True, capture_output=True, cwd=tmp_path, timeout=120)
    (claude_env / "settings.json").write_text('{"permissions": {"allow": ["mcp__agentdash"]}}')
    done = subprocess.run(
        ["claude", "-p", "--output-format", "stream-json", "--verbose", "[[fake:count]] go"],
        cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert '\\"text\\":\\"go go go\\"' in done.stdout
