"""The agents that can be started on this machine, with their settings, as the spawn dialog needs them."""

import shutil
from collections.abc import Mapping

from msgspec import Struct, field

from agentdash.sessions.agents.base import OfferedSetting
from agentdash.sessions.agents.registry import agent_named, agent_names, takes_prompts
from agentdash.sessions.settings.config import Config


class AgentInfo(Struct, frozen=True, kw_only=True):
    """One agent CLI, and whether it can be started on this machine."""

    name: str
    title: str
    installed: bool
    hint: str
    """The install instruction."""
    model: str | None = None
    """The model that the settings name."""
    mode_key: str | None = None
    """The option that limits what the agent may do on its own: ``sandbox`` or ``permission_mode``."""
    modes: tuple[str, ...] = ()
    mode: str | None = None
    """The mode that the settings name."""
    dangerous: frozenset[str] = frozenset()
    """The modes that put no restriction on the agent."""
    unlimited: str | None = None
    """The name of the setting ``full_danger`` among the choices of a mode."""
    full_danger: bool = False
    """The value of ``full_danger`` in the settings."""
    offered: tuple[OfferedSetting, ...] = ()
    """The settings that a dialog offers by their own names."""
    values: Mapping[str, object] = field(default_factory=dict)
    """Their values in the settings."""

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that a dialog offers as the mode: the agent's own modes and full danger."""
        return (*self.modes, self.unlimited) if self.unlimited else self.modes

    @property
    def unheld(self) -> frozenset[str]:
        """The choices that put no restriction on the agent."""
        return self.dangerous | ({self.unlimited} if self.unlimited else set())

    def choice_of(self, options: Mapping[str, object]) -> str | None:
        """Return the choice for a start with these options: options win over settings, full danger over any mode."""
        if self.unlimited and options.get("full_danger", self.full_danger):
            return self.unlimited
        asked = options.get(self.mode_key) if self.mode_key else None
        return str(asked) if asked else self.mode

    def options_of(self, choice: str | None) -> dict[str, object]:
        """Return the options that make a start use this choice, whatever the settings are."""
        if self.mode_key is None or choice is None:
            return {}
        if choice == self.unlimited:
            return {"full_danger": True}
        mode = {} if choice == self.mode else {self.mode_key: choice}
        return mode | ({"full_danger": False} if self.full_danger else {})


def agent_list(config: Config) -> list[AgentInfo]:
    """List every agent that takes a prompt, and whether its command is installed."""
    return [_info(name, config) for name in filter(takes_prompts, agent_names())]


def _info(name: str, config: Config) -> AgentInfo:
    agent, settings = agent_named(name), config.settings_for(name, {})
    binary = settings.bin or agent.binary
    offered, modes = agent.offered_settings(), agent.modes
    return AgentInfo(
        name=name,
        title=agent.title,
        installed=binary is None or shutil.which(binary) is not None,
        hint=agent.install_hint,
        model=settings.model,
        mode_key=modes.key if modes is not None else None,
        modes=modes.names if modes is not None else (),
        mode=getattr(settings, modes.key) if modes is not None else None,
        dangerous=modes.dangerous if modes is not None else frozenset(),
        unlimited=modes.unlimited if modes is not None else None,
        full_danger=getattr(settings, "full_danger", False),
        offered=offered,
        values={one.key: getattr(settings, one.key) for one in offered},
    )
