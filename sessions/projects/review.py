"""The settings of a project as the user judges them: each value beside the user's own, and the change since the last
trust.
"""

import shlex
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, structs, to_builtins

from ..errors import ConfigError
from ..settings.config import Config, Loaded, Overlay, in_force, project_config
from ..settings.source import Source
from ..settings.toml_positions import dotted
from .file import ProjectFile, UnsafeFileError, read
from .overlay import overlaid
from .permitted import TABLES, refused, refused_tables
from .trust import Trusted, TrustStore

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
        own, now = (to_builtins(in_force(config, demo=True)) for config in (self.overlay.own, self.config))
        source = Source(self.path, self.overlay.text)
        for path, value in _leaves(self.overlay.stated):
            yield Value(
                key=dotted(path),
                line=source.line(path),
                value=value,
                own=_at(own, path),
                effective=_at(now, path),
            )


def review(path: Path, store: TrustStore, own: Loaded) -> Review:
    """Read the file of a project once, and judge exactly these bytes.

    Args:
        path: the file.
        store: the trusted files.
        own: the user's own settings.
    """
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
    source = Source(file.path, _text(file))
    unknown = list(refused_tables(source.data))
    source.data = {key: value for key, value in source.data.items() if key in TABLES}
    theirs = project_config(source, own.config.default_agent, demo=own.demo)
    _refuse(source, [*unknown, *refused(source.data, theirs, own.config)])
    overlay = Overlay(path=file.path, text=source.text, stated=source.data, own=own.config)
    return overlay, overlaid(own.config, theirs, source.data)


def _text(file: ProjectFile) -> str:
    try:
        return file.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = file.data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file.path}:{line}: the file is not UTF-8 text.", line) from None


def _refuse(source: Source, found: list[tuple[tuple[str, ...], str]]) -> None:
    errors = sorted((source.error(key, why) for key, why in found), key=lambda error: error.line or 0)
    if errors:
        raise ConfigError("\n".join(map(str, errors)), errors[0].line)


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


def _at(values: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        values = values.get(part) if isinstance(values, Mapping) else None
    return values
