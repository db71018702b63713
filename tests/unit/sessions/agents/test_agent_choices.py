"""The mode that a dialog shows, and the options that it makes: the argv has exactly what was chosen."""

from itertools import product
from typing import Any

import pytest

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.agent_list import AgentInfo, agent_list
from agentdash.sessions.service.lifecycle.starts.launch_plan import build_launch
from agentdash.sessions.settings.config import Config

LIVE = {"codex": False, "claude": True}
"""A live codex gets its mode as the sandbox of a thread, which its own tests check."""

FLAGS = {
    "codex": ("-s", "--dangerously-bypass-approvals-and-sandbox"),
    "claude": ("--permission-mode", "--dangerously-skip-permissions"),
}


def cases() -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Every agent with every combination of its two settings, in the settings and in the options of a start."""
    found = []
    for name in FLAGS:
        own = agent_named(name).modes
        assert own is not None
        modes = [{}, *({own.key: mode} for mode in own.names)]
        dangers: list[dict[str, Any]] = [{}, {"full_danger": True}, {"full_danger": False}]
        whole = [mode | danger for mode, danger in product(modes, dangers)]
        found += [(name, settings, options) for settings, options in product(whole, whole)]
    return found


def info_of(name: str, settings: dict[str, Any]) -> tuple[Config, AgentInfo]:
    chosen: dict[str, Any] = {"live": LIVE[name]} | settings
    config = Config(agents={name: agent_named(name).settings_type(**chosen)})
    [info] = [one for one in agent_list(config) if one.name == name]
    return config, info


def permissions(config: Config, name: str, options: dict[str, Any]) -> str | None:
    """What the argv of a start permits: a mode, or the word for full danger."""
    launch = build_launch(config, Start("x", agent=name, cwd="/usr", options=options, session_id="s" * 8))
    flag, danger = FLAGS[name]
    if danger in launch.argv:
        assert flag not in launch.argv
        modes = agent_named(name).modes
        return modes.unlimited if modes is not None else None
    return launch.argv[launch.argv.index(flag) + 1]


def test_the_first_choice_is_what_the_start_would_do_anyway() -> None:
    for name, settings, options in cases():
        config, info = info_of(name, settings)
        assert info.choice_of(options) == permissions(config, name, options), (name, settings, options)


def test_every_choice_is_what_then_runs_whatever_the_settings_say() -> None:
    for name, settings, _ in cases():
        config, info = info_of(name, settings)
        for choice in info.choices:
            assert permissions(config, name, info.options_of(choice)) == choice, (name, settings, choice)


@pytest.mark.parametrize("name", FLAGS)
def test_full_danger_is_among_the_alarming_choices(name: str) -> None:
    _, info = info_of(name, {})
    assert info.unlimited in info.unheld
    assert info.unheld < set(info.choices)
