"""The user's settings: TOML in, validated structs out.

A setting that cannot be used blocks with an error that names file, line and key: a file that silently counts
as "no settings" would also drop the permissions its owner asked for.
"""

import os
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, TypeVar, get_args

import msgspec
from msgspec import Meta, Struct, field, structs, to_builtins

from .agents.base import AgentSettings, Ladder, StopSettings
from .agents.table import AGENTS, agent_named
from .errors import ConfigError, UsageError
from .limits import Limits
from .toml_lines import error_line, line_of

T = TypeVar("T")

_HEADER = """\
# Settings of agentdash, read at every start and every follow-up.
# [agents.<name>] is checked against what that agent takes; an unknown key is an error.

"""


class QueueSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[queue]``: how much may be at work at once."""

    max_running: Annotated[int, Meta(ge=1)] = 4 * (os.cpu_count() or 1)
    """Sessions at work at once; more of them wait in the order in which they were asked for."""


Theme = Literal["dark", "light", "safe-dark", "safe-light", "terminal"]


class DashboardSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[dashboard]``: how the screen looks."""

    theme: Theme = "dark"
    """``safe-…`` keeps apart what colour-blind people confuse; ``terminal`` takes the terminal's own 16 colours."""
    mouse: bool = False
    """Whether clicks and the wheel go to the dashboard; the terminal's own selection then needs Shift."""
    read_only: Annotated[
        bool,
        Meta(description="Whether the dashboard only looks: no key, no command changes a session or its read marker."),
    ] = False


Keys = Annotated[
    dict[str, str | list[str] | dict[str, str | list[str]]],
    Meta(
        description="A key or several for an action, by its name (`agentdash keys`); an empty text takes its keys away."
    ),
]
"""``[keys]``: the front end that has the actions knows their names and says which line cannot be used."""


class _File(Struct, kw_only=True, forbid_unknown_fields=True):
    """The file as it stands, before each agent's section meets the agent's own type."""

    default_agent: str = "codex"
    agents: dict[str, Any] = field(default_factory=dict)
    stop: StopSettings = field(default_factory=StopSettings)
    limits: Limits = field(default_factory=Limits)
    queue: QueueSettings = field(default_factory=QueueSettings)
    dashboard: DashboardSettings = field(default_factory=DashboardSettings)
    keys: Keys = field(default_factory=dict)


class Config(Struct, frozen=True, kw_only=True):
    """All settings; ``agents`` holds only the sections that the file has."""

    default_agent: str = "codex"
    agents: dict[str, AgentSettings] = field(default_factory=dict)
    stop: StopSettings = field(default_factory=StopSettings)
    limits: Limits = field(default_factory=Limits)
    queue: QueueSettings = field(default_factory=QueueSettings)
    dashboard: DashboardSettings = field(default_factory=DashboardSettings)
    keys: Keys = field(default_factory=dict)

    def ladder_for(self, agent_ladder: Ladder, settings: AgentSettings) -> Ladder:
        """How a stop climbs: the agent's own times, then ``[stop]``, then the agent's section."""
        return settings.stop.over(self.stop.over(agent_ladder))

    def settings_for(self, agent_name: str, overrides: Mapping[str, Any]) -> AgentSettings:
        """The agent's settings with the options of one spawn on top.

        Raises:
            UsageError: an unknown agent, an unknown option, or a value it cannot take.
        """
        kind = agent_named(agent_name).settings_type
        stated: Mapping[str, Any] = to_builtins(self.agents.get(agent_name) or kind())
        try:
            return msgspec.convert(_merged(stated, overrides), kind)
        except msgspec.ValidationError as error:
            key, why = _explained(error, kind)
            raise UsageError(f"Option {key or '?'} of {agent_name}: {why}") from None


def config_path() -> Path:
    """``$AGENTDASH_CONFIG``, else ``config.toml`` in the platform's folder for a user's settings."""
    chosen = os.environ.get("AGENTDASH_CONFIG")
    if chosen:
        return Path(chosen).expanduser().absolute()
    from platformdirs import user_config_path

    return user_config_path("agentdash", appauthor=False) / "config.toml"


def load_config(path: Path | None = None) -> Config:
    """Read and check the settings; a missing file means the defaults.

    Raises:
        ConfigError: the file cannot be read or holds something that cannot be used.
    """
    path = path or config_path()
    text = _read(path)
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # tomllib's own error, a number of 5,000 digits, 5,000 brackets
        raise ConfigError(f"{path}:{error_line(str(error), text)}: {error}") from None
    source = _Source(path, text)
    file = source.convert(data, _File, ())
    if file.default_agent not in AGENTS:
        source.fail(("default_agent",), _unknown_agent(file.default_agent))
    return Config(
        default_agent=file.default_agent,
        agents=_sections(source, file.agents),
        stop=file.stop,
        limits=file.limits,
        queue=file.queue,
        dashboard=file.dashboard,
        keys=file.keys,
    )


def unusable(key: tuple[str, ...], why: str, path: Path | None = None) -> ConfigError:
    """The error about a setting that only whoever uses it can judge, with the place where it stands."""
    path = path or config_path()
    return ConfigError(f"{path}:{line_of(_read(path), key)}: {'.'.join(key)}: {why}")


def in_force(config: Config) -> Config:
    """The settings with a section for every agent: defaults where the file has none."""
    return structs.replace(config, agents={name: _in_force(config, name) for name in AGENTS})


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
    """The settings as a file that would give the same ones."""
    import tomli_w

    return tomli_w.dumps(_without_null(to_builtins(config)))


def write_default(path: Path) -> None:
    """Write a first file with the agents that are installed; an existing one is never touched.

    Raises:
        UsageError: there is a file already.
        ConfigError: it cannot be written.
    """
    text = _HEADER + as_toml(_default())
    if path.exists():
        raise UsageError(f"{path} exists already; it was left as it is.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # O_EXCL: what somebody else writes in the same moment is not replaced either.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}.") from None


class _Source:
    """The text of the file, to say where in it a complaint belongs."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text

    def convert(self, data: Any, kind: type[T], section: tuple[str, ...]) -> T:
        try:
            return msgspec.convert(data, kind)
        except msgspec.ValidationError as error:
            key, why = _explained(error, kind)
            self.fail((*section, *key.split(".")) if key else section, why)

    def fail(self, key: tuple[str, ...], why: str) -> NoReturn:
        line = line_of(self._text, key)
        raise ConfigError(f"{self._path}:{line}: {'.'.join(key)}: {why}")


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}.") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: the file is not UTF-8 text.") from None


def _sections(source: _Source, stated: Mapping[str, Any]) -> dict[str, AgentSettings]:
    sections = {}
    for name, values in stated.items():
        if name not in AGENTS:
            source.fail(("agents", name), _unknown_agent(name))
        sections[name] = source.convert(values, agent_named(name).settings_type, ("agents", name))
    return sections


def _explained(error: msgspec.ValidationError, kind: type) -> tuple[str, str]:
    """Which key a validation error means, and what is wrong in words."""
    why, _, where = str(error).partition(" - at `$")
    key = where.rstrip("`").lstrip(".").removesuffix("[...]").rstrip(".")
    head, _, name = why.partition(" unknown field ")
    if head != "Object contains":
        choices = _choices(kind, key) if why.startswith("Invalid enum value") else ""
        return key, why.replace("`", "").replace(" | null", "") + "." + choices  # TOML has no null
    at = _type_at(kind, key)
    known = [f.encode_name for f in structs.fields(at)] if isinstance(at, type) else []
    name = name.strip("`")
    hint = f" Known keys: {', '.join(known)}." if known else ""
    return f"{key}.{name}" if key else name, f"Unknown key.{hint}"


def _choices(kind: type, key: str) -> str:
    """What the enumeration at this place takes."""
    at = _type_at(kind, key)
    options = [option for arm in (at, *get_args(at)) for option in get_args(arm) if isinstance(option, str)]
    return f" Choose one of: {', '.join(options)}." if options else ""


def _type_at(kind: Any, key: str) -> Any:
    """The type of what stands at this place of a struct; None where no struct leads there."""
    for part in filter(None, key.split(".")):
        if not isinstance(kind, type) or not issubclass(kind, Struct):
            return None
        kind = next((f.type for f in structs.fields(kind) if f.encode_name == part), None)
    return kind


def _unknown_agent(name: str) -> str:
    return f"Unknown agent {name!r}. Known agents: {', '.join(AGENTS)}."


def _merged(stated: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """``over`` wins; tables are merged key by key."""
    merged = dict(stated)
    for key, value in over.items():
        old = merged.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = _merged(old, value) if both else value  # type: ignore[arg-type]
    return merged


def _default() -> Config:
    """The settings of a new file: every agent that is installed, with the defaults spelled out."""
    agents = {}
    for name in AGENTS:
        adapter = agent_named(name)
        if adapter.binary and shutil.which(adapter.binary):
            agents[name] = adapter.settings_type()
    return Config(default_agent=next(iter(agents), "codex"), agents=agents)


def _without_null(value: Any) -> Any:
    """TOML has no null: what is not set is left out."""
    if isinstance(value, Mapping):
        kept = {key: _without_null(item) for key, item in value.items() if item is not None}
        return {key: item for key, item in kept.items() if item != {}}
    return value
