"""The settings in effect: each setting with its value and the value's origin."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct, structs, to_builtins

from .catalog import NAME, VARIABLES, Setting, settings
from .config import Loaded, in_force
from .merge import merged
from .toml_positions import line_of

Kind = Literal["default", "file", "profile", "environment"]


class Origin(Struct, frozen=True, kw_only=True):
    """The place that a value comes from."""

    kind: Kind = "default"
    path: str | None = None
    line: int | None = None
    profile: str | None = None

    def __str__(self) -> str:
        if self.path is None:
            return self.kind
        profile = f" (profile {self.profile})" if self.profile else ""
        return f"{os.path.basename(self.path)}:{self.line}{profile}"  # noqa: PTH119 - a path as text


class Held(Struct, frozen=True, kw_only=True):
    """A setting and its value in effect."""

    setting: Setting
    value: Any
    """None if it is not set."""
    origin: Origin


def held(loaded: Loaded, env: Mapping[str, str] = os.environ) -> Iterator[Held]:
    """Yield every setting of the file with its value in effect, then the environment variables."""
    values = values_of(loaded)
    sections: dict[str, list[Setting]] = {}
    for one in (one for pattern in settings(demo=loaded.demo) for one in _named(pattern, values)):
        sections.setdefault(one.section, []).append(one)
    yield from (_held(loaded, values, one) for section in sections.values() for one in section)
    for one in VARIABLES:
        origin = Origin(kind="environment") if env.get(one.key) else Origin()
        yield Held(setting=one, value=env.get(one.key) or None, origin=origin)


def held_at(loaded: Loaded, one: Setting, env: Mapping[str, str] = os.environ) -> Held:
    """Return one setting with its value in effect."""
    if one in VARIABLES:
        return next(each for each in held(loaded, env) if each.setting == one)
    return _held(loaded, values_of(loaded), one)


def values_of(loaded: Loaded) -> Mapping[str, Any]:
    """Return all values in effect, as the tables of a file."""
    return {**to_builtins(in_force(loaded.config, demo=loaded.demo)), "profiles": loaded.profiles}


def value_at(values: Any, path: tuple[str, ...]) -> Any:
    """Return the value at a path of nested tables; None if there is no value."""
    for part in path:
        values = values.get(part) if isinstance(values, Mapping) else None
    return values


def _named(pattern: Setting, values: Mapping[str, Any]) -> Iterator[Setting]:
    """Yield a setting for each name that the user chose; the pattern itself if the user chose none."""
    if NAME not in pattern.path:
        yield pattern
        return
    at = pattern.path.index(NAME)
    names = value_at(values, pattern.path[:at]) or [NAME]
    for name in names:
        yield structs.replace(pattern, path=(*pattern.path[:at], name, *pattern.path[at + 1 :]))


def _held(loaded: Loaded, values: Mapping[str, Any], one: Setting) -> Held:
    return Held(setting=one, value=value_at(values, one.path), origin=_origin(loaded, one.path))


def _origin(loaded: Loaded, path: tuple[str, ...]) -> Origin:
    over = loaded.profiles.get(loaded.profile, {}) if loaded.profile else {}
    stated = merged(loaded.stated, over) | {"profiles": loaded.profiles}
    general = path[2:] if path[0] == "agents" else ()  # [stop] and [limits] supply what an agent's section leaves out
    at = next((p for p in (path, general) if p and value_at(stated, p) is not None), None)
    if at is None:
        return Origin()
    if value_at(over, at) is not None and path[0] != "profiles":
        line = line_of(loaded.text, ("profiles", loaded.profile or "", *at))
        return Origin(kind="profile", path=str(loaded.path), line=line, profile=loaded.profile)
    return Origin(kind="file", path=str(loaded.path), line=line_of(loaded.text, at))
