"""The settings of a project as the user judges them, and those of a start in its folder if the user trusted them.

Each value is beside the user's own, and the change since the last trust is shown.
"""

import os
import shlex
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, structs, to_builtins

from agentdash.sessions.model.errors import ConfigError
from agentdash.sessions.service.projects.file import ProjectFile, UnsafeFileError, find, read
from agentdash.sessions.service.projects.overlay import TABLES, overlaid, refused, refused_tables
from agentdash.sessions.service.projects.trust import Trusted, TrustStore
from agentdash.sessions.settings.config import Config, Loaded, Overlay, in_force, project_config
from agentdash.sessions.settings.source import Source, as_text
from agentdash.sessions.settings.toml_keys import dotted, value_at

State = Literal["trusted", "untrusted", "changed", "refused", "unsafe"]
"""The state of a project's file; it is in force only if it is ``trusted``.

``changed`` and ``untrusted`` can be trusted.  ``refused`` sets what no project may set, and ``unsafe`` was not read.
"""


class Value(Struct, frozen=True, kw_only=True):
    """One setting of a project."""

    key: str
    line: int
    value: Any
    """The value that the project states."""
    own: Any
    """The user's own value; None if it is not set."""
    effective: Any
    """The value in force with the project: the user's own, if the project's would widen it."""


class Review(Struct, frozen=True, kw_only=True):
    """The file of a project, and what it would set."""

    path: Path
    state: State
    why: str = ""
    """The reason, if the file is unsafe; or the lines with the refused keys."""
    file: ProjectFile | None = None
    """The contents that the user sees; exactly these are trusted."""
    trusted: Trusted | None = None
    """The contents that the user trusted last."""
    overlay: Overlay | None = None
    config: Config | None = None
    """The settings with those of the project; None if they cannot be in force."""

    @property
    def note(self) -> str:
        """A sentence if the settings of the project are not in force."""
        if self.state == "trusted":
            return ""
        act = f"Review it: agentdash trust {shlex.quote(str(self.path.parent))}"
        reason = {
            "untrusted": f"is not trusted, so it is not in force. {act}",
            "changed": f"changed since you trusted it, so it is not in force. {act}",
            "unsafe": f"is not in force: {self.why}.",
            "refused": "",
        }[self.state]
        return f"{self.path} {reason}" if reason else f"{self.why.partition(chr(10))[0]} The file is not in force."

    @property
    def diff(self) -> str:
        """The change since the contents that were trusted last, as a unified diff; empty if there is none."""
        if self.trusted is None or self.file is None:
            return ""
        before, after = (text.splitlines(keepends=True) for text in (self.trusted.content, self.file.text))
        lines = unified_diff(before, after, "trusted", "current")
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def values(self) -> Iterator[Value]:
        """Yield every setting of the file with its effect."""
        if self.overlay is None or self.config is None:
            return
        own, now = (to_builtins(in_force(config)) for config in (self.overlay.own, self.config))
        source = Source(self.path, self.overlay.text)
        for path, value in _leaves(self.overlay.stated):
            key, line = dotted(path), source.line(path)
            yield Value(key=key, line=line, value=value, own=value_at(own, path), effective=value_at(now, path))


def review(path: Path, store: TrustStore, own: Loaded) -> Review:
    """Read the file of a project once, and judge exactly these bytes."""
    trusted = store.get(path)
    try:
        file = read(path)
    except UnsafeFileError as error:
        return Review(path=path, state="unsafe", why=str(error), trusted=trusted)
    state: State = "untrusted" if trusted is None else "trusted" if trusted.sha256 == file.sha256 else "changed"
    return _judged(Review(path=path, state=state, file=file, trusted=trusted), file, own)


def review_trusted(trusted: Trusted, own: Loaded) -> Review:
    """Judge the contents that the user trusted, whatever the file has now."""
    path = Path(trusted.path)
    file = ProjectFile(path=path, data=trusted.content.encode(), sha256=trusted.sha256)
    return _judged(Review(path=path, state="trusted", file=file, trusted=trusted), file, own)


def _judged(found: Review, file: ProjectFile, own: Loaded) -> Review:
    try:
        overlay, config = _checked(file, own)
    except ConfigError as error:
        return structs.replace(found, state="refused", why=str(error))
    return structs.replace(found, overlay=overlay, config=config)


def _checked(file: ProjectFile, own: Loaded) -> tuple[Overlay, Config]:
    """Convert the file and lay it over the user's own settings.

    Raises:
        ConfigError: it is not valid, or sets what no project may set; has a line for each key.
    """
    source = Source(file.path, as_text(file.path, file.data))
    unknown = list(refused_tables(source.data))
    source.data = {key: value for key, value in source.data.items() if key in TABLES}
    theirs = project_config(source, own.config.default_agent)
    found = [*unknown, *refused(source.data, theirs, own.config)]
    if found:
        errors = sorted((source.error(key, why) for key, why in found), key=lambda error: error.line or 0)
        raise ConfigError("\n".join(map(str, errors)), errors[0].line)
    overlay = Overlay(path=file.path, text=source.text, stated=source.data, own=own.config)
    return overlay, overlaid(own.config, theirs, source.data)


def _leaves(stated: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the settings of a file: tables of limits and options are single settings, other values are whole."""
    for key, value in stated.items():
        at = (*path, key)
        is_table = len(at) < _DEPTH.get(at[0], 1) or key in ("limits", "options")
        if isinstance(value, Mapping) and is_table:
            yield from _leaves(value, at)
        else:
            yield at, value


_DEPTH = {"agents": 3, "presets": 3, "templates": 3, "limits": 2, "budgets": 2}
"""The number of names in the key of a plain setting of a table."""


def in_folder(own: Loaded, folder: str, home: Path, *, later: bool = False, by_agent: bool = False) -> Loaded:
    """Return the settings of a start in a folder.

    A project that is not in force changes nothing, and is named in ``notes``.

    Args:
        folder: the folder; "" for the current one.
        home: the state folder, with the record of the trusted files.
        later: True for a later turn of a session, which reports only a project that was in force once.
        by_agent: True if an agent asks: it can change the file, hide it behind another one or a repository of its own,
            and so lift the limits of the project.  The contents that the user trusted last then stay in force.
    """
    found = project_of(own, folder, home)
    kept = _kept(own, folder, home) if by_agent else None
    same = found is not None and found.state == "trusted" and kept is not None and found.path == kept.path
    if kept is not None and not same:
        note = f"{kept.path} is not in force as you trusted it; what an agent starts keeps the trusted settings."
        return structs.replace(own, config=kept.config or own.config, project=kept.overlay, notes=(note,))
    if found is None:
        return own
    if found.state != "trusted" or found.config is None:
        return structs.replace(own, notes=(found.note,) if found.trusted is not None or not later else ())
    return structs.replace(own, config=found.config, project=found.overlay)


def _kept(own: Loaded, folder: str, home: Path) -> Review | None:
    """Return the nearest trusted settings around a folder, with the contents that the user trusted."""
    if not own.config.projects.read:
        return None
    real = Path(os.path.realpath(folder or "."))
    around = [one for one in TrustStore(home).all() if Path(one.path).parent in (real, *real.parents)]
    return review_trusted(max(around, key=lambda one: len(Path(one.path).parts)), own) if around else None


def project_of(own: Loaded, folder: str, home: Path) -> Review | None:
    """Return the project of a folder; None if it has none, or if the user's own settings read none."""
    if not own.config.projects.read:
        return None
    try:
        path = find(folder or os.getcwd())  # noqa: PTH109 - the folder can be gone
    except (OSError, RuntimeError, ValueError):  # no current folder, an unknown ~user, a NUL byte
        return None
    return review(path, TrustStore(home), own) if path is not None else None
