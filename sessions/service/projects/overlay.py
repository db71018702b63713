"""The keys that a project may set, and the user's settings with those of a project over them.  Pure.

A key is refused unless a rule here permits its value, so a setting that an adapter adds is refused.  What is
permitted is laid over the user's own: limits can only become lower, instructions and arguments are added, and a preset
or template of the user keeps its name and its agent.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import reduce
from typing import Any

from msgspec import structs

from agentdash.sessions.agents.base import Agent, AgentSettings
from agentdash.sessions.agents.capabilities import Modes
from agentdash.sessions.agents.parsing.usage_meter import When
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model import typed
from agentdash.sessions.rules.launch import Command
from agentdash.sessions.rules.limits.limits import Limits
from agentdash.sessions.settings.config import Config
from agentdash.sessions.settings.sections import BudgetSettings, Preset

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
        theirs: the same, converted, with the user's default agent if it names none.
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
        value: a value that the key takes.
        allow: the keys that the user's own settings allow projects to set.
    """
    if key in ("limits", "model"):
        return ""
    if agent.modes is not None and key == agent.modes.key:
        return _why_not_mode(agent, agent.modes, own, str(value))
    if key == "instructions":
        return "" if agent.takes_instructions else f"{agent.title} takes no instructions."
    rule = _RULES.get(key)
    return rule(getattr(own, key), value, key in allow) if rule is not None else _NOT_ALLOWED


def _same_or_narrower(own: Any, value: Any, _: bool) -> str:
    """Permit to deny asks, and a process of one turn, which asks nothing."""
    word = str(own).lower() if isinstance(own, bool) else str(own)
    return "" if value in (own, "deny", False) else f"It is wider than your own settings ({word})."


_RULES: Mapping[str, Callable[[Any, Any, bool], str]] = {
    "full_danger": lambda _, value, __: _NO_LIMITS if value else "",
    "approvals": _same_or_narrower,
    "live": _same_or_narrower,
    "search": lambda own, value, allowed: _unless(allowed or value is False or own is True, "search"),
    "allowed_tools": lambda own, value, allowed: _unless(allowed or set(value) <= set(own), "allowed_tools"),
    "args": lambda _, __, allowed: _unless(allowed, "args"),
    "config": lambda _, __, allowed: _unless(allowed, "config"),
}
"""By key: takes the user's own value, the project's, and whether the user's own settings allow the key."""


def _why_not_mode(agent: Agent, modes: Modes, own: AgentSettings, mode: str) -> str:
    if mode in modes.dangerous:
        return _NO_LIMITS
    mine = agent.turn_mode(own, None).permissions or ""
    if mine in (modes.unlimited, mode) or modes.permits_no_more(mode, mine):
        return ""
    return f"{mode} is wider than {mine}, which your own settings have."


def _why_not_model(name: str, model: str, own: Config) -> str:
    """Return why a project may not choose a model: a limit of the user's on the cost would not work with it."""
    if not _MODEL.fullmatch(model):
        return "It is not the name of a model."
    agent, mine = agent_named(name), own.settings_for(name, {})
    if mine.limits.over(own.limits).cost_usd is None:
        return ""
    measured = (agent.measures(Command(argv=(name,), model=one), own.prices, {}) for one in (mine.model, model))
    usual, asked = (_RANK[one.cost.when] for one in measured)
    return "" if asked <= usual else "Your own limit on the cost needs a model with a price, and it has none."


_RANK = {When.LIVE: 0, When.END: 1, When.NEVER: 2}


def _unless(allowed: bool, key: str) -> str:
    return "" if allowed else f'{_NOT_ALLOWED} To allow it, set allow = ["{key}"] in [projects] of your own settings.'


def _found(at: tuple[str, ...], why: str) -> Found:
    if why:
        yield at, why


def overlaid(own: Config, theirs: Config, stated: Mapping[str, Any]) -> Config:
    """Return the user's settings with those of a project over them.

    Args:
        theirs: the project's settings, with the user's default agent if they name none.
        stated: the same as the tables of the file.
    """
    sections = stated.get("agents", {})
    presets = {
        name: _preset(own, theirs, preset, stated["presets"][name].get("options", {}))
        for name, preset in theirs.presets.items()
    }
    return structs.replace(
        own,
        default_agent=theirs.default_agent,
        limits=lowered(own.limits, theirs.limits),
        budgets=tighter(own.budgets, theirs.budgets),
        agents={
            name: _section(own, theirs, name, sections.get(name, {}))
            for name in dict.fromkeys((*own.agents, *theirs.agents))
        },
        presets={**presets, **{name: _kept_preset(own, preset) for name, preset in own.presets.items()}},
        templates={**theirs.templates, **own.templates},
    )


def lowered(own: Limits, theirs: Limits) -> Limits:
    """Return the lower of two values for each limit; the action becomes stricter, never milder."""
    lower: dict[str, Any] = {
        key: _lowest(value, getattr(theirs, key)) for key, value in structs.asdict(own).items() if key != "action"
    }
    stricter = theirs.action if own.action == "warn" or theirs.action == "stop" else None
    return Limits(**lower, action=stricter or own.action)


def tighter(own: BudgetSettings, theirs: BudgetSettings) -> BudgetSettings:
    """Return the lower of two values for each budget, as a start in the project's folder is bound by both."""
    keys = ("day_usd", "day_tokens", "week_usd", "week_tokens")
    return structs.replace(own, **{key: _lowest(getattr(own, key), getattr(theirs, key)) for key in keys})


def _lowest(own: float | None, theirs: float | None) -> float | None:
    return min((value for value in (own, theirs) if value is not None), default=None)


def _section(own: Config, theirs: Config, name: str, stated: Mapping[str, Any]) -> AgentSettings:
    mine = own.settings_for(name, {})
    settings = own.settings_for(name, _options(agent_named(name), mine, stated))
    asked = theirs.agents[name].limits if name in theirs.agents else Limits()
    return structs.replace(settings, limits=lowered(mine.limits.over(own.limits), asked.over(theirs.limits)))


def _options(agent: Agent, own: AgentSettings, stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a section without its limits, as options over the user's own section."""
    options = {key: value for key, value in stated.items() if key != "limits"}
    if agent.modes is not None and agent.modes.key in options:
        options |= agent.modes.options(options[agent.modes.key])
    if own.instructions and "instructions" in options:
        options["instructions"] = f"{own.instructions}\n\n{options['instructions']}"
    if "args" in options:
        options["args"] = [*own.args, *options["args"]]
    return options


def _kept_preset(own: Config, preset: Preset) -> Preset:
    """Return a preset of the user's own, with its agent by name if it sets anything of that agent.

    With another default agent its options would be left out of a start of the agent that they are for.
    """
    if not (preset.options or preset.model):
        return preset
    return structs.replace(preset, agent=preset.agent or own.default_agent)


def _preset(own: Config, theirs: Config, preset: Preset, options: Mapping[str, Any]) -> Preset:
    """Return a project's preset with its agent by name, and with limits that raise none of the user's own.

    A start can give it to another agent, which takes its limits: so they are compared with those of all agents.
    """
    name = preset.agent or theirs.default_agent
    asked = preset.limits.over(typed.convert(options.get("limits", {}), Limits))
    every = (own.limits, *(section.limits.over(own.limits) for section in own.agents.values()))
    strictest = reduce(lowered, (structs.replace(one, action=one.action or "stop") for one in every))
    lower = structs.asdict(lowered(strictest, asked))
    kept = {key: lower[key] for key, value in structs.asdict(asked).items() if value is not None}
    return structs.replace(
        preset,
        agent=name,
        options=_options(agent_named(name), own.settings_for(name, {}), options),
        limits=Limits(**kept),
    )
