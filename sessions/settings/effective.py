"""The settings in effect: each setting with its value and the value's origin."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct, structs, to_builtins

from agentdash.sessions.settings.catalog import NAME, VARIABLES, Setting, settings
from agentdash.sessions.settings.config import Loaded, Overlay, in_force
from agentdash.sessions.settings.toml_keys import line_of, merged, value_at

Kind = Literal["default", "file", "profile", "environment", "project", "forced"]
"""``forced`` is the user's own value in place of a project's that would widen it."""


class Origin(Struct, frozen=True, kw_only=True):
    """The place that a value comes from."""

    kind: Kind = "default"
    path: str | None = None
    line: int | None = None
    profile: str | None = None

    def __str__(self) -> str:
        if self.path is None:
            return self.kind
        profile = f" (profile {self.profile})" if self.profile else " (forced)" if self.kind == "forced" else ""
        return f"{os.path.basename(self.path)}:{self.line}{profile}"  # noqa: PTH119 - a path as text


class Held(Struct, frozen=True, kw_only=True):
    """A setting and its value in effect."""

    setting: Setting
    value: Any
    """None if it is not set."""
    origin: Origin


def held(loaded: Loaded, env: Mapping[str, str] = os.environ) -> Iterator[Held]:
    """Yield every setting of the file with its value in effect, then the environment variables."""
    values, own = values_of(loaded), _own_values(loaded)
    sections: dict[str, list[Setting]] = {}
    for one in (one for pattern in settings() for one in _named(pattern, values)):
        sections.setdefault(one.section, []).append(one)
    yield from (_held(loaded, values, own, one) for section in sections.values() for one in section)
    for one in VARIABLES:
        origin = Origin(kind="environment") if env.get(one.key) else Origin()
        yield Held(setting=one, value=env.get(one.key) or None, origin=origin)


def held_at(loaded: Loaded, one: Setting, env: Mapping[str, str] = os.environ) -> Held:
    """Return one setting with its value in effect."""
    if one in VARIABLES:
        return next(each for each in held(loaded, env) if each.setting == one)
    return _held(loaded, values_of(loaded), _own_values(loaded), one)


def values_of(loaded: Loaded) -> Mapping[str, Any]:
    """Return all values in effect, as the tables of a file."""
    return {**to_builtins(in_force(loaded.config)), "profiles": loaded.profiles}


def _named(pattern: Setting, values: Mapping[str, Any]) -> Iterator[Setting]:
    """Yield a setting for each name that the user chose; the pattern itself if the user chose none."""
    if NAME not in pattern.path:
        yield pattern
        return
    at = pattern.path.index(NAME)
    names = value_at(values, pattern.path[:at]) or [NAME]
    for name in names:
        yield structs.replace(pattern, path=(*pattern.path[:at], name, *pattern.path[at + 1 :]))


def _own_values(loaded: Loaded) -> Mapping[str, Any]:
    """Return the user's own values; empty if no project is laid over them."""
    return {} if loaded.project is None else values_of(structs.replace(loaded, config=loaded.project.own))


def _held(loaded: Loaded, values: Mapping[str, Any], own: Mapping[str, Any], one: Setting) -> Held:
    value = value_at(values, one.path)
    origin = _origin(loaded, one.path)
    if loaded.project is not None:
        origin = _with_project(loaded.project, one.path, value, value_at(own, one.path), origin)
    return Held(setting=one, value=value, origin=origin)


def _with_project(project: Overlay, path: tuple[str, ...], value: Any, own: Any, origin: Origin) -> Origin:
    """Return the origin of a value if a project is in force; ``origin`` is that of the user's own value."""
    at = next((p for p in (path, _general(path)) if p and value_at(project.stated, p) is not None), None)
    if value == own and at is None:
        return origin
    if value == own and value != value_at(project.stated, at or ()):
        return structs.replace(origin, kind="forced") if origin.path is not None else origin
    return Origin(kind="project", path=str(project.path), line=line_of(project.text, at or path))


def _general(path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the general setting that supplies what an agent's section leaves out: [stop] and [limits]."""
    return path[2:] if path[0] == "agents" else ()


def _origin(loaded: Loaded, path: tuple[str, ...]) -> Origin:
    over = loaded.profiles.get(loaded.profile, {}) if loaded.profile else {}
    stated = merged(loaded.stated, over) | {"profiles": loaded.profiles}
    at = next((p for p in (path, _general(path)) if p and value_at(stated, p) is not None), None)
    if at is None:
        return Origin()
    if value_at(over, at) is not None and path[0] != "profiles":
        line = line_of(loaded.text, ("profiles", loaded.profile or "", *at))
        return Origin(kind="profile", path=str(loaded.path), line=line, profile=loaded.profile)
    return Origin(kind="file", path=str(loaded.path), line=line_of(loaded.text, at))
