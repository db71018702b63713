"""The change of settings that would have allowed what an agent was refused."""

from typing import Any

import msgspec
import pytest

from agentdash.sessions.agents.base import AgentSettings
from agentdash.sessions.agents.registry import agent_named, agent_names
from agentdash.sessions.settings.config import Config


def settings(name: str, **own: Any) -> AgentSettings:
    return Config().settings_for(name, own)


def allowed(agent: str, denied: list[str], **own: Any) -> tuple[dict[str, Any], str] | None:
    modes = agent_named(agent).modes
    found = modes.allowance(settings(agent, **own), denied) if modes is not None and modes.allowance else None
    return None if found is None else (dict(found.options), found.text)


def test_claude_gets_the_refused_tools_as_allowed_tools_beside_those_that_it_has() -> None:
    assert allowed("claude", ["Bash"]) == ({"allowed_tools": ["Bash"]}, "Bash allowed")
    assert allowed("claude", ["Write", "mcp__docs__search", "Write", "Bash"], allowed_tools=["Bash(ls)"]) == (
        {"allowed_tools": ["Bash(ls)", "Write", "mcp__docs__search", "Bash"]},
        "Write, mcp__docs__search and Bash allowed",
    )


@pytest.mark.parametrize("mode", ["auto", "plan"])
def test_a_permission_mode_that_ignores_allowed_tools_is_left_as_well(mode: str) -> None:
    options, text = allowed("claude", ["Bash"], permission_mode=mode) or ({}, "")
    assert options == {"allowed_tools": ["Bash"], "permission_mode": "default"}
    assert text == "permission mode default, Bash allowed"


def test_a_name_that_the_model_made_up_does_not_become_a_rule() -> None:
    odd = ["", "*", "-x", "--dangerously-skip-permissions", "Bash(*)", "Bash, Write", "Bash\x1b[31m", "a\nb", "mcp__*"]
    assert allowed("claude", odd) is None
    assert allowed("claude", [*odd, "Read"]) == ({"allowed_tools": ["Read"]}, "Read allowed")


def test_codex_gets_the_next_wider_sandbox() -> None:
    assert allowed("codex", ["touch"], sandbox="read-only") == (
        {"sandbox": "workspace-write"},
        "sandbox workspace-write",
    )
    assert allowed("codex", ["apply_patch"]) == ({"sandbox": "danger-full-access"}, "sandbox danger-full-access")
    assert allowed("codex", ["touch"], sandbox="danger-full-access") is None


@pytest.mark.parametrize("agent", agent_names())
def test_without_a_refusal_there_is_nothing_to_allow(agent: str) -> None:
    assert allowed(agent, []) is None


def test_an_allowed_tool_that_was_refused_needs_something_else() -> None:
    assert allowed("claude", ["Bash"], allowed_tools=["Bash"]) is None


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_no_change_lifts_all_limits(agent: str) -> None:
    assert allowed(agent, ["Bash"], full_danger=True) is None
    modes = agent_named(agent).modes
    assert modes is not None
    assert modes.allowance is not None
    for mode in modes.names:
        found = modes.allowance(settings(agent, **{modes.key: mode}), ["Bash"])
        assert found is None or "full_danger" not in found.options


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_the_change_is_one_that_the_agent_can_be_started_with(agent: str) -> None:
    modes = agent_named(agent).modes
    assert modes is not None
    assert modes.allowance is not None
    for mode in modes.names:
        found = modes.allowance(settings(agent, **{modes.key: mode}), ["Bash"])
        if found is not None:
            options = msgspec.json.decode(msgspec.json.encode(found.options))
            assert Config().settings_for(agent, options) != settings(agent, **{modes.key: mode})
