"""The lines of the guide's chapter about agents that lead others, run as they are printed, on a fresh home."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT
from real_clis import NEWEST

from agentdash.sessions.model.session import Status

pytestmark = [pytest.mark.real]

CHAPTER = "## Let an agent lead others\n"
ASK = "[[fake:lead]] codex"


def lines():
    """The commands of the chapter's blocks, in their order."""
    _, _, rest = (ROOT / "docs" / "guide" / "leads.md").read_text().partition(CHAPTER)
    chapter = rest.partition("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", chapter, re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture
def home(use_agent, scratch_home, monkeypatch, tmp_path):
    """A home in which claude finds its own folder, with both real agents; no settings of agentdash."""
    use_agent("codex")
    use_agent(NEWEST)
    Path(os.environ["AGENTDASH_CONFIG"]).unlink()
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return scratch_home


def shell(line):
    """Run one line as the user's shell does; what it printed."""
    done = subprocess.run(
        ["bash", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, (line, done.stdout, done.stderr)
    return done.stdout


def line_with(words):
    [found] = [line for line in lines() if words in line]
    return found


def test_every_line_of_the_chapter_runs_and_the_skill_is_found(home, manager, at, fake_model):
    out = {line: shell(line) for line in lines()}
    [session] = manager.reader.sessions()
    assert session.task.startswith("Delegate with agentdash")
    assert at(session, 1, Status.DONE, Status.FAILED).status is Status.DONE
    offered = {tool["name"] for request in fake_model.asked(session.task) for tool in request["tools"]}
    assert "mcp__agentdash__delegate" in offered
    doctor = out[line_with("agentdash doctor")]
    assert re.search(r"✓ MCP server +7 tools after", doctor)
    assert "MCP server in codex   not set up" in doctor
    skill = (home / ".claude" / "skills" / "agentdash" / "SKILL.md").read_text()
    assert skill.startswith("---\nname: agentdash\n")


def test_the_lines_that_are_printed_for_claude_and_codex_make_both_leads(home, manager):
    printed = shell(line_with("--config claude"))
    [command] = [line for line in printed.splitlines() if not line.startswith("#")]
    shell(command)
    [permission] = re.findall(r'\{"permissions".*\}', printed)
    settings = re.search(r"unless (\S+) allows it", printed)[1]
    Path(settings).expanduser().write_text(permission)
    lines_of_codex = shell(line_with("--config codex"))
    place = re.search(r"to (\S+):", lines_of_codex)[1]
    with Path(place).expanduser().open("a") as config:
        config.write(lines_of_codex)
    doctor = shell(line_with("agentdash doctor"))
    assert len(re.findall(r"✓ MCP server in (?:codex|claude) +set up", doctor)) == 2
    assert "The worker is back" in shell(f"claude -p '{ASK}'")
    assert "The worker is back" in shell("codex exec --skip-git-repo-check '[[fake:lead]] claude'")
    workers = manager.reader.sessions()
    assert {(one.agent, one.status, one.lead.partition(":")[0]) for one in workers} == {
        ("codex", Status.DONE, "claude"),
        ("claude", Status.DONE, "codex"),
    }


def test_the_server_of_any_other_client_is_a_command_that_runs(home):
    server = json.loads(shell(line_with("--config json")))["mcpServers"]["agentdash"]
    opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    opening["params"] = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    done = subprocess.run(
        [server["command"], *server["args"]], input=json.dumps(opening) + "\n", capture_output=True, text=True,
        check=True, timeout=60,
    )  # fmt: skip
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "agentdash"
