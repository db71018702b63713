"""The options of spawn that the agents define: what an agent may do without asking, and other settings of a turn."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import click

from .....sessions.errors import UsageError


class ModeCommand(click.Command):
    """A command with the agents' options before ``--danger``, which lifts their limits.

    The agents are loaded only when the options are needed.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the command's own parameters and the agents' options."""
        parameters = super().get_params(ctx)
        at = next(n for n, parameter in enumerate(parameters) if parameter.name == "danger")
        return [*parameters[:at], *mode_options(), *setting_options(), *parameters[at:]]


@cache
def mode_options() -> tuple[click.Option, ...]:
    """Return one option for each ``mode_key`` of an agent; agents with the same key share one."""
    from .....sessions.agents.registry import agent_named, agent_names

    helps: dict[str, str] = {}
    names: dict[str, list[str]] = {}
    for agent in map(agent_named, agent_names(demo=False)):
        if agent.modes is not None:
            helps.setdefault(agent.modes.key, agent.modes.help)
            names.setdefault(agent.modes.key, []).append(agent.name)
    return tuple(
        click.Option(
            [flag(key), key],
            metavar="MODE",
            shell_complete=complete_modes,
            help=f"{helps[key]} ({', '.join(names[key])}).",
        )
        for key in helps
    )


@cache
def setting_options() -> tuple[click.Option, ...]:
    """Return one option for each setting that an agent offers by its own name; agents with the same key share one."""
    from .....sessions.agents.offered_settings import OfferedSetting, offered_settings
    from .....sessions.agents.registry import agent_named, agent_names

    found: dict[str, OfferedSetting] = {}
    names: dict[str, list[str]] = {}
    for agent in map(agent_named, agent_names(demo=False)):
        for one in offered_settings(agent):
            found.setdefault(one.key, one)
            names.setdefault(one.key, []).append(agent.name)

    def made() -> Iterator[click.Option]:
        for key, one in found.items():
            words = f"{one.help.removesuffix('.')} ({', '.join(names[key])})."
            if one.switch:
                yield click.Option([f"{flag(key)}/--no-{flag(key)[2:]}", key], default=None, help=words)
            else:
                yield click.Option([flag(key), key], metavar="TEXT", help=words)

    return tuple(made())


def chosen_settings(own: Mapping[str, str | bool | None], *, danger: bool) -> dict[str, Any]:
    """Return the settings that these options and ``--danger`` choose; a mode overrides the danger flag of the settings.

    Raises:
        UsageError: both ``--danger`` and a mode.
    """
    modes = {option.name: own.get(option.name) for option in mode_options() if option.name}
    if danger and any(modes.values()):
        raise UsageError(f"--danger cannot be combined with {' and '.join(map(flag, modes))}.")
    named = {**own, "full_danger": danger or (False if any(modes.values()) else None)}
    return {key: value for key, value in named.items() if value is not None}


def flag(key: str) -> str:
    """Return the option for a setting: ``--permission-mode`` for ``permission_mode``."""
    return f"--{key.replace('_', '-')}"


def complete_modes(_: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the modes of all agents that have this option."""
    from .....sessions.agents.registry import agent_named, agent_names

    agents = (agent_named(name).modes for name in agent_names(demo=False))
    modes = [mode for one in agents if one is not None and one.key == parameter.name for mode in one.names]
    return [mode for mode in modes if mode.startswith(incomplete)]
