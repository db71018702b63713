"""Which agents can be started here, and with which settings: what a spawn dialog has to know."""

import shutil
from collections.abc import Mapping

from msgspec import Struct

from ..agents.registry import agent_named, agent_names
from ..settings.config import Config


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
    unlimited: str | None = None
    """The setting ``full_danger`` in the words of a mode."""
    full_danger: bool = False
    """What the settings say of it."""

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that a dialog offers as the mode: the agent's own, and full danger."""
        return (*self.modes, self.unlimited) if self.unlimited else self.modes

    @property
    def unheld(self) -> frozenset[str]:
        """Those of the choices in which nothing holds the agent back."""
        return self.dangerous | ({self.unlimited} if self.unlimited else set())

    def choice_of(self, options: Mapping[str, object]) -> str | None:
        """The choice that a start with these options makes, over the settings; full danger beats any mode."""
        if self.unlimited and options.get("full_danger", self.full_danger):
            return self.unlimited
        asked = options.get(self.mode_key) if self.mode_key else None
        return str(asked) if asked else self.mode

    def options_of(self, choice: str | None) -> dict[str, object]:
        """The options with which a start makes this choice, whatever the settings say."""
        if self.mode_key is None or choice is None:
            return {}
        if choice == self.unlimited:
            return {"full_danger": True}
        mode = {} if choice == self.mode else {self.mode_key: choice}
        return mode | ({"full_danger": False} if self.full_danger else {})


def agent_list(config: Config, *, demo: bool = False) -> list[AgentInfo]:
    """Every agent that takes a prompt, and whether its command is installed; of a demo, the demo agent alone."""
    agents = (agent_named(name) for name in agent_names(demo=True))
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
        unlimited=agent.unlimited,
        full_danger=getattr(settings, "full_danger", False),
    )
