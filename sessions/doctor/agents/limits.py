"""Check whether the limits in the settings can act for the installed agents."""

from collections.abc import Iterator

from msgspec import structs

from ...agents.base import Agent, LaunchRequest
from ...agents.registry import agent_named, agent_names
from ...costs.price_table import AS_OF
from ...errors import AgentdashError
from ...lifecycle.starts.limit_checks import judged
from ...settings.config import Config, load_config
from ...settings.prices.imported import imported, with_imported
from .. import commands
from ..model import Finding, Subject, ok, warn

_REMEDY = f"set a price in [prices] (built-in list: {AS_OF}), or limit wall_seconds, silence_seconds or output_mb"


def limits(subject: Subject) -> Iterator[Finding]:
    """Yield one finding for each limit that cannot act, or not reliably; none if the settings cannot be used."""
    try:
        config = load_config(subject.config_path, home=subject.layout.home)
    except AgentdashError:
        return  # broken settings are a finding of their own
    warnings = [(name, warning) for name in _judged(config, subject) for warning in _warnings(config, name, subject)]
    for name, warning in warnings:
        yield warn("limits", f"{name}: {warning.rstrip('.')}", _REMEDY)
    if not warnings:
        yield ok("limits", "all configured limits work" if _any(config) else "none configured")


def _judged(config: Config, subject: Subject) -> Iterator[str]:
    """Yield the installed agents, and any other agent whose own section limits its usage."""
    for name in agent_names(demo=True):
        limits = config.settings_for(name, {}).limits
        if limits.tokens is not None or limits.cost_usd is not None or _installed(agent_named(name), config, subject):
            yield name


def _installed(agent: Agent, config: Config, subject: Subject) -> bool:
    binary = config.settings_for(agent.name, {}).bin or agent.binary
    return binary is not None and commands.find(binary, subject.env) is not None


def _warnings(config: Config, name: str, subject: Subject) -> tuple[str, ...]:
    agent, settings = agent_named(name), config.settings_for(name, {})
    held = settings.limits.over(config.limits)
    request = LaunchRequest(prompt="PROMPT", cwd="/", session_id="doctor", settings=settings, argv=("true",))
    try:
        command = agent.command(request)
    except AgentdashError:
        return ()
    prices = with_imported(config.prices, imported(subject.config_path))
    return judged(held, agent.measures(command, prices, subject.env))


def _any(config: Config) -> bool:
    held = [config.limits, *(section.limits for section in config.agents.values())]
    return any(value is not None for one in held for value in structs.astuple(one))
