"""The keys that a project may set: none that widens what the user's own settings permit.  Pure.

A key is refused unless a rule here permits its value, so a setting that an adapter adds is refused until the adapter
names it in ``project_keys``.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from ..agents.base import Agent, AgentSettings
from ..agents.parsing.usage_meter import When
from ..agents.registry import agent_named
from ..launch import Command
from ..settings.config import Config

TABLES = ("default_agent", "agents", "limits", "budgets", "presets", "templates")
"""The keys of the top of a project's file."""

Found = Iterator[tuple[tuple[str, ...], str]]
"""The keys that are refused, each with the reason."""

_NOT_ALLOWED = "A project cannot set it."
_NO_LIMITS = "A project can never lift all limits of an agent."
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,199}")
"""The name of a model: it becomes an argument, and must never be taken for an option."""


def refused_tables(stated: Mapping[str, Any]) -> Found:
    """Yield the tables that no project has."""
    known = ", ".join(TABLES)
    return (((key,), f"{_NOT_ALLOWED} It can set: {known}.") for key in stated if key not in TABLES)


def refused(stated: Mapping[str, Any], theirs: Config, own: Config) -> Found:
    """Yield the keys of a valid file that a project may not set.

    Args:
        stated: the file.
        theirs: the same, converted, with the user's default agent if it names none.
        own: the user's own settings.
    """
    if "default_agent" in stated:
        yield from _refused_agent(stated["default_agent"], own, ("default_agent",))
    for name, section in stated.get("agents", {}).items():
        yield from _refused_keys(name, section, own, ("agents", name))
    if "folders" in stated.get("budgets", {}):
        yield ("budgets", "folders"), f"{_NOT_ALLOWED} Its own folder has the budgets of [budgets]."
    for name, preset in stated.get("presets", {}).items():
        yield from _refused_preset(preset, theirs.default_agent, own, ("presets", name))


def _refused_preset(preset: Mapping[str, Any], default_agent: str, own: Config, place: tuple[str, ...]) -> Found:
    agent = preset.get("agent", default_agent)
    for key, value in preset.items():
        at = (*place, key)
        if key == "agent":
            yield from _refused_agent(value, own, at)
        elif key == "model":
            yield from _found(at, _why_not_model(agent, value, own))
        elif key == "options":
            yield from _refused_keys(agent, value, own, at)
        elif key == "copies":
            yield from _found(at, _unless(value == 1 or "copies" in own.projects.allow, key))
        elif key not in ("prompt", "limits"):
            yield at, _NOT_ALLOWED


def _refused_agent(name: str, own: Config, at: tuple[str, ...]) -> Found:
    """Refuse an agent that the user's own settings do not limit, unless the user starts it by default."""
    agent = agent_named(name)
    if not agent.prompted:
        yield at, f"A project cannot choose {name}."
    elif name != own.default_agent and agent.turn_mode(own.settings_for(name, {}), None).dangerous:
        yield at, f"A project cannot choose {name}: your own settings do not limit it."


def _refused_keys(name: str, stated: Mapping[str, Any], own: Config, place: tuple[str, ...]) -> Found:
    agent, mine = agent_named(name), own.settings_for(name, {})
    for key, value in stated.items():
        why = why_not(agent, mine, key, value, own.projects.allow)
        yield from _found((*place, key), _why_not_model(name, value, own) if key == "model" else why)


def why_not(agent: Agent, own: AgentSettings, key: str, value: Any, allow: Collection[str] = ()) -> str:
    """Return why a project may not give a key of an agent's section this value; empty if it may.

    Args:
        agent: the agent.
        own: the user's own settings of the agent.
        key: the key.
        value: a value that the key takes.
        allow: the keys that the user's own settings allow projects to set.
    """
    if key in ("limits", "model") or key in agent.project_keys:
        return ""
    if key == agent.mode_key:
        return _why_not_mode(agent, own, str(value))
    if key == "instructions":
        return "" if agent.takes_instructions else f"{agent.title} takes no instructions."
    rule = _RULES.get(key)
    return rule(getattr(own, key), value, key in allow) if rule is not None else _NOT_ALLOWED


def _full_danger(_: Any, value: Any, __: bool) -> str:
    return _NO_LIMITS if value else ""


def _same_or_narrower(own: Any, value: Any, _: bool) -> str:
    """Permit to deny asks, and a process of one turn, which asks nothing."""
    return "" if value in (own, "deny", False) else f"It is wider than your own settings ({_word(own)})."


def _search(own: Any, value: Any, allowed: bool) -> str:
    return _unless(allowed or value is False or own is True, "search")


def _allowed_tools(own: Any, value: Any, allowed: bool) -> str:
    return _unless(allowed or set(value) <= set(own), "allowed_tools")


def _args(_: Any, __: Any, allowed: bool) -> str:
    return _unless(allowed, "args")


def _config(_: Any, __: Any, allowed: bool) -> str:
    return _unless(allowed, "config")


_RULES: Mapping[str, Callable[[Any, Any, bool], str]] = {
    "full_danger": _full_danger,
    "approvals": _same_or_narrower,
    "live": _same_or_narrower,
    "search": _search,
    "allowed_tools": _allowed_tools,
    "args": _args,
    "config": _config,
}
"""By key: takes the user's own value, the project's, and whether the user's own settings allow the key."""


def _why_not_mode(agent: Agent, own: AgentSettings, mode: str) -> str:
    if mode in agent.dangerous:
        return _NO_LIMITS
    mine = agent.turn_mode(own, None).permissions or ""
    if mine in (agent.unlimited, mode) or mode in agent.narrower.get(mine, ()):
        return ""
    return f"{mode} is wider than {mine}, which your own settings have."


def _why_not_model(name: str, model: str, own: Config) -> str:
    """Return why a project may not choose a model: a limit of the user's on the cost would not work with it."""
    if not _MODEL.fullmatch(model):
        return "It is not the name of a model."
    if own.settings_for(name, {}).limits.over(own.limits).cost_usd is None:
        return ""
    usual, asked = (_RANK[_cost(name, one, own)] for one in (own.settings_for(name, {}).model, model))
    return "" if asked <= usual else "Your own limit on the cost needs a model with a price, and it has none."


def _cost(name: str, model: str | None, own: Config) -> When:
    return agent_named(name).measures(Command(argv=(name,), model=model), own.prices, {}).cost.when


_RANK = {When.LIVE: 0, When.END: 1, When.NEVER: 2}


def _unless(allowed: bool, key: str) -> str:
    return "" if allowed else f'{_NOT_ALLOWED} To allow it, set allow = ["{key}"] in [projects] of your own settings.'


def _found(at: tuple[str, ...], why: str) -> Found:
    if why:
        yield at, why


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
