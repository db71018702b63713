"""The user's layout of the dashboard, in a file of its own, never in the user's settings."""

import fcntl
import os
import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field, to_builtins

from agentdash.sessions.model import typed
from agentdash.sessions.storage.paths import write_atomic
from agentdash.sessions.text.sanitize import one_line
from agentdash.tui.state.table_views import View
from agentdash.widgets.table.columns import COLUMNS, USUAL, Choice
from agentdash.widgets.table.row_model import Density

FILE = "dashboard.toml"

LEAST_SHARE, MOST_SHARE = 15, 85
"""Percent of the screen: between these limits both the table and the steps are usable."""

_Kind = TypeVar("_Kind", bound=Struct)

_HEADER = "# Written by the dashboard: columns, order, views and sizes. Your settings are in config.toml.\n\n"


class LastStart(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The choices of the last start by the new-session dialog; an empty text leaves the choice to the settings."""

    agent: str = ""
    mode: str = ""
    """Never one that puts no restriction on the agent: that is chosen each time."""
    model: str = ""


class Remembered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The last state of the table, and the views that the user saved."""

    view: View = field(default_factory=View)
    columns: tuple[str, ...] = USUAL.names
    widths: dict[str, int] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    density: Density = Density.MIXED
    shares: dict[str, int] = field(default_factory=dict)
    """The table's share of the screen in percent: ``wide`` beside the steps, ``tall`` above them."""
    start: LastStart = field(default_factory=LastStart)

    @property
    def choice(self) -> Choice:
        """The choice of columns for the table."""
        widths = tuple((name, width) for name, width in sorted(self.widths.items()) if 1 <= width <= 60)
        return Choice(tuple(dict.fromkeys(name for name in self.columns if name in COLUMNS)), widths)


class UiState:
    """Reads the file once; saves the user's choices to it, and keeps those that another dashboard wrote.

    An unusable value is ignored, and stays in the file until the user changes that field.  A file that is not valid
    TOML is kept as ``dashboard.toml.bad`` at the next save.
    """

    def __init__(self, home: Path) -> None:
        self.path = home / FILE
        self.problem = ""
        """The error in the file, for the user; empty without one."""
        self._chosen: frozenset[str] = frozenset()
        """The fields that were set here since the last save."""
        self._named: frozenset[str] = frozenset()
        """The views that were saved or deleted here since the last save."""
        self._choosing = Lock()
        self.now = self._load()

    def set(self, **changes: Any) -> None:
        """Set these fields while the dashboard runs; :meth:`save` writes them."""
        with self._choosing:
            before, self.now = self.now.views, msgspec.structs.replace(self.now, **changes)
            names = before.keys() | self.now.views.keys()
            self._named |= {name for name in names if before.get(name) != self.now.views.get(name)}
            self._chosen |= changes.keys() - {"views"}

    def _load(self) -> Remembered:
        try:
            now, odd = understood(tomllib.loads(self.path.read_text("utf-8")))
        except FileNotFoundError:
            return Remembered()
        except (OSError, ValueError, RecursionError) as error:
            self.problem = f"{self.path} cannot be used; choices are not saved: {error}"
            return Remembered()
        if odd:
            self.problem = f"{self.path}: {', '.join(odd)} ignored: not valid."
        return now

    def save(self) -> None:
        """Merge the fields and views set here into the present file; one dashboard and one save at a time.

        Raises:
            OSError: the file cannot be read or written.
        """
        with _alone(self.path.with_name(f"{FILE}.lock")):
            with self._choosing:
                now, chosen, named = self.now, self._chosen, self._named
                self._chosen = self._named = frozenset()
            try:
                self._write(to_builtins(now), chosen, named)
            except OSError:
                with self._choosing:
                    self._chosen |= chosen
                    self._named |= named
                raise

    def _write(self, now: dict[str, Any], chosen: Collection[str], named: Collection[str]) -> None:
        import tomli_w

        written = self._written()
        kept = now if written is None else _merged(written, now, chosen, named)
        write_atomic(self.path, (_HEADER + tomli_w.dumps(kept)).encode())

    def _written(self) -> dict[str, Any] | None:
        """Return the content of the file; None if it does not exist, or is unreadable and therefore renamed."""
        try:
            return tomllib.loads(self.path.read_text("utf-8"))
        except FileNotFoundError:
            return None
        except (ValueError, RecursionError):
            self.path.replace(self.path.with_name(f"{FILE}.bad"))
            return None


def understood(raw: Mapping[str, Any]) -> tuple[Remembered, list[str]]:
    """Return the usable values of a file, field by field, and the names of the unusable ones.

    Unusable values come from another version of agentdash, or from an edit by hand.
    """
    odd: list[str] = []
    plain = {name: value for name, value in raw.items() if name not in ("view", "views")}
    remembered = _fields(Remembered, plain, "", odd)
    views = _table(raw, "views", odd)
    odd += [f"views.{name}" for name, saved in views.items() if not isinstance(saved, dict)]
    tables = {name: saved for name, saved in views.items() if isinstance(saved, dict)}
    named = {one_line(name): _fields(View, saved, f"views.{name}.", odd) for name, saved in tables.items()}
    shares = {name: max(LEAST_SHARE, min(MOST_SHARE, share)) for name, share in remembered.shares.items()}
    view = _fields(View, _table(raw, "view", odd), "view.", odd)
    named.pop("", None)
    return msgspec.structs.replace(remembered, view=view, views=named, shares=shares), [one_line(name) for name in odd]


def _table(raw: Mapping[str, Any], name: str, odd: list[str]) -> dict[str, Any]:
    table = raw.get(name, {})
    if isinstance(table, dict):
        return table
    odd.append(name)
    return {}


def _fields(kind: type[_Kind], raw: Mapping[str, Any], where: str, odd: list[str]) -> _Kind:
    """Return a struct of the usable values, with defaults for the others; append the unusable names to ``odd``."""
    values = {}
    for each in msgspec.structs.fields(kind):
        try:
            if each.name in raw:
                values[each.name] = typed.convert(raw[each.name], each.type)
        except msgspec.ValidationError:
            odd.append(where + each.name)
    return kind(**values)


def _merged(
    written: Mapping[str, Any], now: Mapping[str, Any], chosen: Collection[str], named: Collection[str]
) -> dict[str, Any]:
    """Return the content of the file, updated with the fields and views that were set here."""
    kept = {name: value for name, value in written.items() if name not in chosen}
    views = {name: view for name, view in _table(written, "views", []).items() if one_line(name) not in named}
    views |= {name: view for name, view in now.get("views", {}).items() if name in named}
    return kept | {name: now[name] for name in chosen if name in now} | {"views": views}


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock that all dashboards of this store share; waits for it.

    Raises:
        OSError: the lock file cannot be created.
    """
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
