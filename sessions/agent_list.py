"""Which agents can be started here, and with which settings: what a spawn dialog has to know."""

import shutil

from msgspec import Struct

from .agents.table import AGENTS, agent_named
from .config import Config


class AgentInfo(Struct, frozen=True, kw_only=True):
    """One agent CLI, and whether it can be started here."""

    name: str
    title: str
    installed: bool
    hint: str
    """How to install it."""
    model: str | None = None
    """The model of the settings."""
    mode_key: str | None = None
    """The option that says what it may do by itself: ``sandbox`` or ``permission_mode``."""
    modes: tuple[str, ...] = ()
    mode: str | None = None
    """The mode of the settings."""
    dangerous: frozenset[str] = frozenset()
    """The modes in which nothing holds it back."""


def agent_list(config: Config, *, demo: bool = False) -> list[AgentInfo]:
    """Every agent that takes a prompt, and whether its command is installed; of a demo, the demo agent alone."""
    agents = (agent_named(name) for name in AGENTS)
    return [_info(agent.name, config) for agent in agents if agent.prompted and agent.demo_only == demo]


def _info(name: str, config: Config) -> AgentInfo:
    agent, settings = agent_named(name), config.settings_for(name, {})
    binary = settings.bin or agent.binary
    return AgentInfo(
        name=name,
        title=agent.title,
        installed=binary is None or shutil.which(binary) is not None,
        hint=agent.install_hint,
        model=settings.model,
        mode_key=agent.mode_key,
        modes=agent.modes(),
        mode=getattr(settings, agent.mode_key) if agent.mode_key else None,
        dangerous=agent.dangerous,
    )
