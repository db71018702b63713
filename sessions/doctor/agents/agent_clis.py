"""Check the agent CLIs: the path, whether it starts, and its version compared with the tested versions."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from ...agents.base import Agent
from ...agents.registry import agent_named, agent_names
from ...errors import ConfigError
from ...settings.config import load_config
from ...text.units import listed
from .. import commands
from ..commands import Answer
from ..model import Finding, Subject, fail, ok, warn

_VERSION = re.compile(r"\d{1,9}(?:\.\d{1,9})+")


def agent_clis(subject: Subject) -> Iterator[Finding]:
    """Yield one finding per agent that has a command of its own; all commands run at the same time."""
    chosen = _chosen_commands(subject)
    agents = [agent for agent in map(agent_named, agent_names(demo=True)) if agent.binary]
    with ThreadPoolExecutor(max_workers=len(agents) or 1) as pool:
        yield from pool.map(partial(_agent_cli, subject, chosen), agents)


def judge(agent: Agent, path: str, answer: Answer) -> Finding:
    """Judge an agent by its answer to ``--version``."""
    if answer.exit_code is None:
        return fail(agent.name, f"{path} --version timed out", f"try: {path} --version")
    if answer.exit_code != 0:
        first_line = f": {answer.first_line}" if answer.first_line else ""
        return fail(agent.name, f"{path} --version exited with code {answer.exit_code}{first_line}", _install(agent))
    version, tested = _VERSION.search(answer.text), agent.tested_versions
    if version is None:
        known = f" agentdash is tested with {listed(tested)}." if tested else ""
        return warn(agent.name, f"{path} printed no version: {answer.first_line}", f"is it {agent.title}?{known}")
    return _compared(agent, version[0], f"{version[0]} ({path})")


def _compared(agent: Agent, version: str, found: str) -> Finding:
    """Judge a version by those with which the adapter was tested."""
    tested = agent.tested_versions
    if not tested:
        return ok(agent.name, found)
    if _numbers(version) < _numbers(tested[0]):
        return warn(agent.name, f"{found} is older than the tested {tested[0]}", _install(agent))
    if _numbers(version) > _numbers(tested[-1]):
        remedy = f"check the steps marked ??, or install {tested[-1]}"
        return warn(agent.name, f"{found} is newer than the tested {tested[-1]}", remedy)
    return ok(agent.name, f"{found}, tested with {listed(tested)}")


def _agent_cli(subject: Subject, chosen: dict[str, str], agent: Agent) -> Finding:
    name = chosen.get(agent.name) or agent.binary or agent.name
    path = commands.find(name, subject.env)
    if path is None:
        return warn(agent.name, "not installed" if name == agent.binary else f"{name} not found", _install(agent))
    try:
        return judge(agent, path, commands.ask([path, "--version"], subject.env))
    except OSError as error:
        return fail(agent.name, f"{path} cannot be started: {error.strerror}", _install(agent))


def _chosen_commands(subject: Subject) -> dict[str, str]:
    """Return the commands that the settings name; none if the settings are broken, which is a finding of its own."""
    try:
        config = load_config(subject.config_path, home=subject.layout.home)
    except ConfigError:
        return {}
    return {name: section.bin for name, section in config.agents.items() if section.bin}


def _install(agent: Agent) -> str:
    return agent.install_hint or f"install {agent.title}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
