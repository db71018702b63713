"""Lay the settings of a project over the user's own.  Pure.

The file was checked before (:mod:`.permitted`).  Limits can only become lower, instructions and arguments are added to
the user's own, and a preset or template of the user keeps its name and its agent.
"""

from collections.abc import Mapping
from functools import reduce
from typing import Any

import msgspec
from msgspec import structs

from ..agents.base import Agent, AgentSettings
from ..agents.registry import agent_named
from ..rules.limits.limits import Limits
from ..settings.budgets import BudgetSettings
from ..settings.config import Config
from ..settings.presets import Preset


def overlaid(own: Config, theirs: Config, stated: Mapping[str, Any]) -> Config:
    """Return the user's settings with those of a project over them.

    Args:
        own: the user's own settings.
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
        presets={**presets, **{name: _kept(own, preset) for name, preset in own.presets.items()}},
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


def _kept(own: Config, preset: Preset) -> Preset:
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
    asked = preset.limits.over(msgspec.convert(options.get("limits", {}), Limits))
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
