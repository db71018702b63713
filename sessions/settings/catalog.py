"""The catalog of all settings, made from the types that validate the file, so that it cannot omit any.

The settings screen, ``config list`` and ``docs/reference/settings.md`` are made from this list.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct, inspect, structs

from agentdash.sessions.agents.registry import agent_named, agent_names
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.settings.config import Config
from agentdash.sessions.settings.toml_keys import dotted, parts

NAME = "NAME"
"""The placeholder in a path for a name that the user chooses, or for each agent."""

ENVIRONMENT = "environment"
"""The section of environment variables, which are not keys of the file."""


class Setting(Struct, frozen=True, kw_only=True):
    """One setting."""

    path: tuple[str, ...]
    """Its tables and its own name: ``agents, codex, sandbox``."""
    kind: str
    """The values that it takes, in words."""
    default: Any = None
    """None if the setting has no value unless the user gives one."""
    default_words: str = ""
    """The default in words, if it depends on something."""
    description: str
    choices: tuple[str, ...] = ()
    example: Any = None

    @property
    def sample(self) -> Any:
        """A value to begin with: an example, or the default."""
        if self.example is not None:
            return self.example
        return self.default if self.default is not None else next(iter(self.choices), "…")

    @property
    def key(self) -> str:
        """The key as TOML writes it: ``agents.codex.sandbox``, ``presets."my own".prompt``."""
        return dotted(self.path)

    @property
    def section(self) -> str:
        """The table that contains it; "" for the top of the file."""
        return ENVIRONMENT if self in VARIABLES else dotted(self.path[:-1])


VARIABLES = tuple(
    Setting(path=(name,), kind=kind, default_words=default, description=description)
    for name, kind, default, description in (
        ("AGENTDASH_CONFIG", "path", "config.toml in the platform's config folder", "Path of the settings file."),
        ("AGENTDASH_PROFILE", "name", "none", "Profile to apply; --profile overrides it."),
        ("AGENTDASH_HOME", "path", "the platform's state folder", "Folder of the sessions."),
        ("AGENTDASH_MCP_WAIT", "seconds", "by the client", "Longest wait of one call of wait_for."),
        ("AGENTDASH_ASCII", "anything", "by the terminal's locale", "Use only ASCII characters."),
        (
            "AGENTDASH_OWN_FILES",
            "writable",
            "refused",
            "Start agents that write without asking in folders in which agentdash's own files are.",
        ),
        ("AGENTDASH_DEBUG", "anything", "one-line errors", "Print tracebacks of unexpected errors."),
        ("NO_COLOR", "anything", "colours on a terminal", "Print without colours."),
        ("VISUAL", "command", "EDITOR, else an installed editor", "Editor for settings and steps."),
        ("PAGER", "command", "less", "Pager for long texts."),
    )
)
"""The settings that are environment variables."""


def settings() -> Iterator[Setting]:
    """Yield every setting of the file, table by table; the agents' own settings agent by agent."""
    fields = [field for field in _fields(Config) if field.name != "agents"]
    yield from (one for field in fields if not _is_table(field) for one in _settings(field, ()))
    for name in agent_names():
        yield from map(_with_source, _struct(agent_named(name).settings_type, ("agents", name)))
    yield from (_with_source(one) for field in fields if _is_table(field) for one in _settings(field, ()))
    yield Setting(
        path=("profiles", NAME),
        kind="table",
        description="Any other section; applied by --profile NAME or AGENTDASH_PROFILE.",
    )


def patterns() -> Iterator[Setting]:
    """Yield every setting of the file once: settings common to all agents are ``agents.NAME…``."""
    listed = list(settings())
    agents = agent_names()
    common = set.intersection(*({one.path[2:] for one in listed if one.path[:2] == ("agents", a)} for a in agents))
    first = agents[0]
    for one in listed:
        if one.path[0] != "agents" or one.path[2:] not in common:
            yield one
        elif one.path[1] == first:
            yield structs.replace(one, path=("agents", NAME, *one.path[2:]))


def setting_named(key: str) -> Setting:
    """Return the setting with this key; a name that the user chose matches NAME.

    Raises:
        UsageError: there is none; the message lists similar keys.
    """
    path = parts(key)
    for one in (*settings(), *VARIABLES):
        if len(one.path) == len(path) and all(word in (NAME, part) for word, part in zip(one.path, path, strict=True)):
            return structs.replace(one, path=path)
    from difflib import get_close_matches

    near = get_close_matches(key, [one.key for one in settings()], n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(near)}?" if near else "List all: agentdash config list"
    raise UsageError(f"Unknown setting {key!r}. {hint}")


def _with_source(one: Setting) -> Setting:
    """Add the table that supplies the value if an agent's section, or a preset, does not set it."""
    if len(one.path) < 4 or one.path[0] not in ("agents", "presets"):
        return one
    table = f"agents.{NAME}.{one.path[2]}" if one.path[0] == "presets" else one.path[2]
    return structs.replace(one, default_words=f"as in [{table}]")


def _struct(kind: type, prefix: tuple[str, ...]) -> Iterator[Setting]:
    for field in sorted(_fields(kind), key=_is_table):
        yield from _settings(field, prefix)


def _fields(kind: type) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(kind)
    return info.fields if isinstance(info, inspect.StructType) else ()


def _settings(field: inspect.Field, prefix: tuple[str, ...]) -> Iterator[Setting]:
    """Yield the setting of a field, or the settings of the table below it."""
    path = (*prefix, field.encode_name)
    kind, extra = _unwrapped(field.type)
    if isinstance(kind, inspect.StructType):
        yield from _struct(kind.cls, path)
    elif isinstance(kind, inspect.DictType) and isinstance(kind.value_type, inspect.StructType):
        yield from _struct(kind.value_type.cls, (*path, NAME))
    elif isinstance(kind, inspect.DictType) and isinstance(kind.value_type, inspect.UnionType):
        yield Setting(
            path=(*path, NAME),
            kind=_kind(kind.value_type)[0],
            default_words=extra.get("default", ""),
            description=extra.get("description", ""),
            example=next(iter(extra.get("examples", ())), None),
        )
    else:
        words, choices = _kind(kind)
        factory = field.default_factory
        made = field.default if factory is msgspec.NODEFAULT else factory()
        yield Setting(
            path=path,
            kind=words,
            default=made if made is not msgspec.NODEFAULT else None,
            default_words=extra.get("default", ""),
            description=extra.get("description", ""),
            choices=choices,
            example=next(iter(extra.get("examples", ())), None),
        )


def _is_table(field: inspect.Field) -> bool:
    """Return whether its values are in tables of their own, which TOML wants after plain values."""
    kind = _unwrapped(field.type)[0]
    return isinstance(kind, inspect.StructType) or (
        isinstance(kind, inspect.DictType) and isinstance(kind.value_type, inspect.StructType | inspect.UnionType)
    )


def _unwrapped(kind: inspect.Type) -> tuple[inspect.Type, dict[str, Any]]:
    """Return the type itself and the metadata of its annotations."""
    extra: dict[str, Any] = {}
    while isinstance(kind, inspect.Metadata):
        extra = (kind.extra_json_schema or {}) | (kind.extra or {}) | extra
        kind = kind.type
    if isinstance(kind, inspect.UnionType):
        arms = [arm for arm in kind.types if not isinstance(arm, inspect.NoneType)]
        if len(arms) == 1:
            inner, more = _unwrapped(arms[0])
            return inner, more | extra
    return kind, extra


def _kind(kind: inspect.Type) -> tuple[str, tuple[str, ...]]:
    """Describe the values of a type in words, and list its choices if it has any."""
    kind = _unwrapped(kind)[0]
    words, choices = "text", tuple[str, ...]()
    match kind:
        case inspect.LiteralType():
            choices = tuple(str(value) for value in kind.values)
            words = "one of " + ", ".join(choices)
        case inspect.BoolType():
            words, choices = "true or false", ("true", "false")
        case inspect.IntType() | inspect.FloatType():
            words = _number(kind)
        case inspect.ListType() | inspect.VarTupleType():
            words, choices = _kind(kind.item_type)
            words = f"list of: {words}"
        case inspect.UnionType():
            arms = [_kind(arm) for arm in kind.types if not isinstance(arm, inspect.NoneType)]
            words, choices = " or ".join(arm for arm, _ in arms), tuple(c for _, more in arms for c in more)
        case inspect.DictType() | inspect.StructType():
            words = "table"
    return words, choices


def _number(kind: inspect.IntType | inspect.FloatType) -> str:
    word = "whole number" if isinstance(kind, inspect.IntType) else "number"
    low = f" from {kind.ge:g}" if kind.ge is not None else f" above {kind.gt:g}" if kind.gt is not None else ""
    high = f" to {kind.le:g}" if kind.le is not None else f" below {kind.lt:g}" if kind.lt is not None else ""
    return word + low + high
