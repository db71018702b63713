"""The options of the verbs that start a turn, and what they mean: also those that the agents themselves define."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import click

from agentdash.sessions.model.durations import seconds
from agentdash.sessions.model.errors import UsageError
from agentdash.tui.cli.commands import common
from agentdash.tui.cli.commands.completing import complete_limits, complete_settings


def complete_agents(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the agents that can be started."""
    from agentdash.sessions.agents.registry import agent_names

    return [name for name in agent_names() if name.startswith(incomplete)]


agent_option = click.option("--agent", "-a", metavar="NAME", shell_complete=complete_agents, help="Agent CLI to start.")
cwd_option = click.option("--cwd", "-C", type=click.Path(), help="Working folder (default: here).")
title_option = click.option("--title", metavar="TEXT", help="Title of the session.")
limit_option = click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="WHAT=N",
    shell_complete=complete_limits,
    help="wall=10m, silence=5m, output=200MB, tokens=500k, cost=2.50, action=warn (repeatable).",
)
set_option = click.option(
    "--set", "pairs", multiple=True, metavar="KEY=VALUE", shell_complete=complete_settings,
    help="Set any key of [agents.NAME] (repeatable).",
)  # fmt: skip
danger_option = click.option(
    "--danger", is_flag=True, help="No sandbox, no approvals: the agent can do anything you can."
)


def one_other(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> str:
    """Return the session to wait for; refuse several, of which click would take the last without a word."""
    if len(given) > 1:
        raise click.BadParameter("A session waits for one other session.", context, parameter)
    return given[0] if given else ""


after_option = click.option(
    "--after",
    multiple=True,
    callback=one_other,
    metavar="ID",
    shell_complete=common.complete_ids,
    help="Start it when session ID is done; {answer} in PROMPT is its last message.",
)
lifecycle_option = click.option(
    "--lifecycle",
    type=click.Choice(["linked", "detached", "ephemeral"]),
    default="detached",
    help="Its fate when its lead is stopped: linked and ephemeral are stopped too (default: detached).",
)
key_option = click.option(
    "--key", default="", metavar="NAME", help="Name of the task: asked for again, it is the same session."
)


def _due_at(_: click.Context, __: click.Parameter, words: str | None) -> int | None:
    """Return the time that the user named, UTC ms; None if none was."""
    if words is None:
        return None
    from agentdash.sessions.model.clock import now_ms
    from agentdash.sessions.rules.prompts.due import due_at

    return due_at(words, now_ms())


def _whole_paths(_: click.Context, __: click.Parameter, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths as they are meant here, wherever the session's folder is."""
    import os

    return tuple(os.path.abspath(path) for path in paths)  # noqa: PTH100 - does not follow links


image_option = click.option(
    "--image", "images", multiple=True, type=click.Path(), metavar="FILE", callback=_whole_paths,
    help="Add an image to the prompt: PNG, JPEG, GIF or WebP (repeatable).",
)  # fmt: skip
at_option = click.option(
    "--at", metavar="TIME", callback=_due_at, help="Wait in the queue until then: 18:00, +2h, 2026-11-28T09:00."
)
over_budget_option = click.option(
    "--over-budget", is_flag=True, help="Start it although the budget of the day or the week is spent."
)
wait_option = click.option("--wait", is_flag=True, help="Wait for the end; exit 0 only if done.")
timeout_option = click.option(
    "--timeout", type=seconds, metavar="S", help="Like --wait, but exit 124 after this time: 90, 10m, 2h."
)


def begins_session(dry_run: str) -> Callable[[common.Verb], common.Verb]:
    """Return a decorator with the options from ``--set`` on, the id and the prompt."""
    return common.options(
        set_option,
        danger_option,
        limit_option,
        click.option("--dry-run", is_flag=True, help=dry_run),
        wait_option,
        timeout_option,
        common.json_option,
        common.id_argument,
        common.prompt_argument,
    )


def parse_pairs(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Parse ``key=value`` options; a value that is not valid TOML is text, and dots in a key make tables.

    Raises:
        UsageError: a pair without ``=`` or without a key.
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        *tables, name = (part.strip() for part in key.split("."))
        if not equals or not name or not all(tables):
            raise UsageError(f"--set expects KEY=VALUE, not {pair!r}.")
        place = options
        for table in tables:
            place = place.setdefault(table, {})
            if not isinstance(place, dict):
                raise UsageError(f"--set: {table!r} is both a value and a table.")
        place[name] = _value(value)
    return options


def parsed_limits(limits: tuple[str, ...]) -> dict[str, Any]:
    """Parse ``WHAT=N`` options."""
    from agentdash.sessions.rules.limits.limits import parsed

    return parsed(limits)


def with_limits(options: dict[str, Any], pairs: tuple[str, ...]) -> dict[str, Any]:
    """Add ``WHAT=N`` options to the options of a start."""
    if not pairs:
        return options
    stated = options.get("limits", {})
    return options | {"limits": (stated if isinstance(stated, dict) else {}) | parsed_limits(pairs)}


def _value(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return parsed["value"] if len(parsed) == 1 else text


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
    from agentdash.sessions.agents.registry import agent_named, agent_names

    helps: dict[str, str] = {}
    names: dict[str, list[str]] = {}
    for agent in map(agent_named, agent_names()):
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
    from agentdash.sessions.agents.base import OfferedSetting
    from agentdash.sessions.agents.registry import agent_named, agent_names

    found: dict[str, OfferedSetting] = {}
    names: dict[str, list[str]] = {}
    for agent in map(agent_named, agent_names()):
        for one in agent.offered_settings():
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
    from agentdash.sessions.agents.registry import agent_named, agent_names

    agents = (agent_named(name).modes for name in agent_names())
    modes = [mode for one in agents if one is not None and one.key == parameter.name for mode in one.names]
    return [mode for mode in modes if mode.startswith(incomplete)]
