"""The user's settings: TOML in, validated structs out.

An unusable setting blocks with an error that names file, line and key: a file that silently counts as "no settings"
would also drop the permissions its owner asked for.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field, structs, to_builtins

from agentdash.sessions.agents.base import AgentSettings
from agentdash.sessions.agents.registry import agent_named, agent_names
from agentdash.sessions.model import typed
from agentdash.sessions.model.errors import ConfigError, UsageError
from agentdash.sessions.rules.asks.settings import AsksSettings
from agentdash.sessions.rules.attention import AttentionSettings
from agentdash.sessions.rules.costs.prices import Price
from agentdash.sessions.rules.launch import Ladder, StopSettings, WarmSettings
from agentdash.sessions.rules.limits.limits import Limits
from agentdash.sessions.rules.notifications.settings import NotifySettings
from agentdash.sessions.settings.place import config_path
from agentdash.sessions.settings.sections import (
    BudgetSettings,
    OrchestrationSettings,
    Preset,
    ProjectsSettings,
    PromptTemplate,
    unusable_field,
    unusable_folder,
)
from agentdash.sessions.settings.source import Source, explained
from agentdash.sessions.settings.toml_keys import line_of, merged

PROFILE = "AGENTDASH_PROFILE"
"""The variable that names the profile; recorded with a session, so that its later turns have the same settings."""


class QueueSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[queue]``: the number of sessions that run at once, and the prompts that wait for the end of a turn."""

    max_running: Annotated[
        int,
        Meta(
            ge=1,
            description="Maximum number of running sessions; others are queued in order.",
            extra={"default": "4 per CPU"},
        ),
    ] = 4 * (os.cpu_count() or 1)
    on_failure: Annotated[
        Literal["hold", "send"],
        Meta(
            description="Queued prompts after a turn that failed, was lost or crossed a limit: hold, or send them.",
        ),
    ] = "hold"


Theme = Literal["dark", "light", "safe-dark", "safe-light", "terminal"]


class DashboardSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[dashboard]``: the appearance and behaviour of the screen."""

    theme: Annotated[
        Theme,
        Meta(description="Colour theme; safe-… is colour-blind-safe, terminal uses the terminal's own 16 colours."),
    ] = "dark"
    mouse: Annotated[
        bool,
        Meta(description="Mouse support in the dashboard; the terminal then needs Shift to select text."),
    ] = False
    stay_in_prompt: Annotated[
        bool,
        Meta(description="Keep the focus in the prompt box after Enter; else it returns to the previous pane."),
    ] = False
    read_only: Annotated[bool, Meta(description="Read-only dashboard: it changes no session and no read marker.")] = (
        False
    )


Keys = Annotated[
    dict[str, str | list[str] | dict[str, str | list[str]]],
    Meta(
        description="Key or keys of an action of the dashboard; an empty text unbinds it.",
        examples=["Q"],
        extra={"default": "see `agentdash config keys`"},
    ),
]
"""``[keys]``: the front end that owns the actions knows their names and reports which line cannot be used."""


class _File(Struct, kw_only=True, forbid_unknown_fields=True):
    """The file as written, before each agent's section is checked against the agent's own type."""

    default_agent: str = "codex"
    agents: dict[str, Any] = field(default_factory=dict)
    stop: StopSettings = field(default_factory=StopSettings)
    limits: Limits = field(default_factory=Limits)
    attention: AttentionSettings = field(default_factory=AttentionSettings)
    queue: QueueSettings = field(default_factory=QueueSettings)
    asks: AsksSettings = field(default_factory=AsksSettings)
    live: WarmSettings = field(default_factory=WarmSettings)
    orchestration: OrchestrationSettings = field(default_factory=OrchestrationSettings)
    budgets: BudgetSettings = field(default_factory=BudgetSettings)
    projects: ProjectsSettings = field(default_factory=ProjectsSettings)
    dashboard: DashboardSettings = field(default_factory=DashboardSettings)
    notify: NotifySettings = field(default_factory=NotifySettings)
    presets: dict[str, Any] = field(default_factory=dict)
    templates: dict[str, Any] = field(default_factory=dict)
    prices: dict[str, Any] = field(default_factory=dict)
    profiles: dict[str, Any] = field(default_factory=dict)
    keys: Keys = field(default_factory=dict)


class Config(Struct, frozen=True, kw_only=True):
    """All settings; ``agents`` holds only the sections that the file has."""

    default_agent: Annotated[str, Meta(description="Agent to start by default.")] = "codex"
    agents: dict[str, AgentSettings] = field(default_factory=dict)
    stop: StopSettings = field(default_factory=StopSettings)
    limits: Limits = field(default_factory=Limits)
    attention: AttentionSettings = field(default_factory=AttentionSettings)
    queue: QueueSettings = field(default_factory=QueueSettings)
    asks: AsksSettings = field(default_factory=AsksSettings)
    live: WarmSettings = field(default_factory=WarmSettings)
    orchestration: OrchestrationSettings = field(default_factory=OrchestrationSettings)
    budgets: BudgetSettings = field(default_factory=BudgetSettings)
    projects: ProjectsSettings = field(default_factory=ProjectsSettings)
    dashboard: DashboardSettings = field(default_factory=DashboardSettings)
    notify: NotifySettings = field(default_factory=NotifySettings)
    presets: dict[str, Preset] = field(default_factory=dict)
    templates: dict[str, PromptTemplate] = field(default_factory=dict)
    prices: dict[str, Price] = field(default_factory=dict)
    """By model name or name pattern; these win over the list prices."""
    keys: Keys = field(default_factory=dict)

    def ladder_for(self, agent_ladder: Ladder, settings: AgentSettings) -> Ladder:
        """The ladder of a stop: the agent's own times, overridden by ``[stop]``, overridden by the agent's section."""
        return settings.stop.over(self.stop.over(agent_ladder))

    def settings_for(self, agent_name: str, overrides: Mapping[str, Any]) -> AgentSettings:
        """The agent's settings with the options of one spawn on top.

        Raises:
            UsageError: an unknown agent, an unknown option, or an invalid value.
        """
        kind = agent_named(agent_name).settings_type
        stated: Mapping[str, Any] = to_builtins(self.agents.get(agent_name) or kind())
        try:
            return typed.convert(merged(stated, overrides), kind)
        except msgspec.ValidationError as error:
            key, why = explained(error, kind)
            raise UsageError(f"Option {key or '?'} of {agent_name}: {why}") from None


class Overlay(Struct, frozen=True, kw_only=True):
    """The settings of a project that are laid over the user's own."""

    path: Path
    text: str
    stated: Mapping[str, Any]
    """The tables of the file."""
    own: Config
    """The user's own settings, under the same profile."""


class Loaded(Struct, frozen=True, kw_only=True):
    """The settings, and the contents of the file."""

    config: Config
    path: Path
    text: str
    stated: Mapping[str, Any]
    """The file without its profiles."""
    profiles: Mapping[str, Any]
    profile: str | None = None
    """The profile that is laid over the rest."""
    source: Source
    """The file."""
    project: Overlay | None = None
    """The settings of the project, if some are in force."""
    notes: tuple[str, ...] = ()
    """A sentence if the settings of the project are not in force."""

    def under(self, profile: str) -> "Loaded":
        """Return the settings of the same file under another profile; "" for none.

        Raises:
            ConfigError: a value cannot be used.
        """
        return settings_of(self.source, profile)


def load_config(path: Path | None = None, profile: str | None = None) -> Config:
    """Read and check the settings; a missing file means the defaults.

    Args:
        path: the file; None takes ``$AGENTDASH_CONFIG`` or the platform's.
        profile: the profile that is laid over the rest; None takes ``$AGENTDASH_PROFILE``, and "" no profile.

    Raises:
        ConfigError: the file cannot be read, holds an unusable value, or has no such profile.
    """
    return read_settings(path, profile).config


def read_settings(path: Path | None = None, profile: str | None = None) -> Loaded:
    """Read and check the settings, and return them with their file; see :func:`load_config`.

    All profiles are checked, not only the chosen one.
    """
    return settings_of(Source(path or config_path()), profile)


def settings_of(source: Source, profile: str | None = None) -> Loaded:
    """Check the settings of a file that was read; see :func:`read_settings`."""
    name = (os.environ.get(PROFILE) if profile is None else profile) or None
    file = _checked(source, source.data, ())
    for other, stated in file.profiles.items():
        inner = _checked(source, stated, ("profiles", other))
        if inner.profiles:
            source.fail(("profiles", other, "profiles"), "A profile cannot contain profiles.")
    if name is not None and name not in file.profiles:
        known = f"Known profiles: {', '.join(file.profiles)}." if file.profiles else "The file has no profiles."
        raise ConfigError(f"{source.path}: Unknown profile {name!r}. {known}")
    stated = {key: value for key, value in source.data.items() if key != "profiles"}
    return Loaded(
        config=_config(source, merged(stated, file.profiles[name] if name else {})),
        path=source.path,
        text=source.text,
        stated=stated,
        profiles=file.profiles,
        profile=name,
        source=source,
    )


def unusable(loaded: Loaded, key: tuple[str, ...], why: str) -> ConfigError:
    """Build the error, with its position, for a setting that only the code that uses it can judge."""
    inner: Any = loaded.profiles.get(loaded.profile or "")
    for part in key:
        inner = inner.get(part) if isinstance(inner, Mapping) else None
    place = key if inner is None else ("profiles", loaded.profile or "", *key)
    line = line_of(loaded.text, place)
    return ConfigError(f"{loaded.path}:{line}: {'.'.join(place)}: {why}", line, place)


def _checked(source: Source, stated: Any, place: tuple[str, ...]) -> _File:
    """Check the file, or one of its profiles, section by section."""
    file = source.convert(stated, _File, place)
    _check_agent(source, file.default_agent, (*place, "default_agent"))
    _sections(source, file.agents, place)
    _presets(source, file.presets, place)
    _templates(source, file.templates, place)
    _prices(source, file.prices, place)
    for name in file.budgets.folders:
        if (why := unusable_folder(name)) is not None:
            source.fail((*place, "budgets", "folders", name), why)
    return file


def _check_agent(source: Source, name: str, key: tuple[str, ...]) -> None:
    try:
        agent_named(name)
    except UsageError as error:
        source.fail(key, str(error))


def _config(source: Source, stated: Mapping[str, Any]) -> Config:
    """Convert the checked file, with each agent's section as the agent's own type."""
    file = source.convert(stated, _File, ())
    same = {f.name: getattr(file, f.name) for f in structs.fields(Config)}
    sections = {
        "agents": _sections(source, file.agents, ()),
        "presets": _presets(source, file.presets, ()),
        "templates": _templates(source, file.templates, ()),
        "prices": _prices(source, file.prices, ()),
    }
    config = Config(**same | sections)
    for name, preset in config.presets.items():
        kind = agent_named(preset.agent or config.default_agent).settings_type
        source.convert(preset.options, kind, ("presets", name, "options"))
    return config


def project_config(source: Source, default_agent: str) -> Config:
    """Check the file of a project as the user's own is checked, and convert it.

    Args:
        default_agent: the agent of presets that name none.

    Raises:
        ConfigError: a value cannot be used; names file, line and key.
    """
    _checked(source, source.data, ())
    return _config(source, {"default_agent": default_agent, **source.data})


def in_force(config: Config) -> Config:
    """Return the settings with a section for every agent, with defaults for sections that the file does not have."""
    return structs.replace(config, agents={name: _in_force(config, name) for name in agent_names()})


def _in_force(config: Config, name: str) -> AgentSettings:
    settings = config.settings_for(name, {})
    ladder = config.ladder_for(agent_named(name).ladder, settings)
    stop = StopSettings(
        interrupt_seconds=ladder.interrupt,
        terminate_seconds=ladder.terminate,
        after_turn=settings.stop.after_turn or config.stop.after_turn or "keep",
    )
    return structs.replace(settings, stop=stop, limits=settings.limits.over(config.limits))


def as_toml(config: Config) -> str:
    """Return the settings as a TOML file that would give the same settings."""
    return tables_as_toml(to_builtins(config))


def tables_as_toml(tables: Mapping[str, Any]) -> str:
    """Return nested tables as TOML; unset values are left out."""
    import tomli_w

    return tomli_w.dumps(_without_null(tables))


def _sections(source: Source, stated: Mapping[str, Any], place: tuple[str, ...]) -> dict[str, AgentSettings]:
    sections = {}
    for name, values in stated.items():
        _check_agent(source, name, (*place, "agents", name))
        sections[name] = source.convert(values, agent_named(name).settings_type, (*place, "agents", name))
    return sections


def _presets(source: Source, stated: Mapping[str, Any], place: tuple[str, ...]) -> dict[str, Preset]:
    presets = {}
    for name, values in stated.items():
        presets[name] = preset = source.convert(values, Preset, (*place, "presets", name))
        if preset.agent is not None:
            _check_agent(source, preset.agent, (*place, "presets", name, "agent"))
    return presets


def _templates(source: Source, stated: Mapping[str, Any], place: tuple[str, ...]) -> dict[str, PromptTemplate]:
    templates = {}
    for name, values in stated.items():
        templates[name] = template = source.convert(values, PromptTemplate, (*place, "templates", name))
        if (why := unusable_field(template.text)) is not None:
            source.fail((*place, "templates", name, "text"), why)
    return templates


def _prices(source: Source, stated: Mapping[str, Any], place: tuple[str, ...] = ()) -> dict[str, Price]:
    return {name: source.convert(values, Price, (*place, "prices", name)) for name, values in stated.items()}


def _without_null(value: Any) -> Any:
    """Drop unset values, because TOML has no null."""
    if isinstance(value, Mapping):
        kept = {key: _without_null(item) for key, item in value.items() if item is not None}
        return {key: item for key, item in kept.items() if item != {}}
    return value
