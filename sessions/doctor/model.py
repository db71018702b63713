"""What the doctor says: one finding for each thing it looked at."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from ..settings.config import Loaded
from ..storage.paths import Layout
from ..text.sanitize import one_line

State = Literal["ok", "warn", "fail"]


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    state: State
    found: str
    """What is there, on one line; what a command printed is cleaned."""
    remedy: str | None = None
    """What to do about it, on one line; None where nothing has to be done."""


class Subject(Struct, frozen=True, kw_only=True):
    """What is examined: one user's agentdash on one machine."""

    layout: Layout
    config_path: Path
    env: Mapping[str, str]
    user: str
    """The name under which logind knows the user."""
    root: Path = Path("/")
    """Where the machine's own files begin."""
    check: Callable[[Loaded], None] = lambda _: None
    """What the front end asks of the settings beyond what they ask themselves; raises ConfigError."""

    def text(self, path: str) -> str:
        """A file of the machine, named from its root; empty where it is missing or may not be read."""
        try:
            return (self.root / path).read_text("utf-8", "replace")
        except OSError:
            return ""


Check = Callable[[Subject], Iterable[Finding]]
"""Looks at one thing.  What it raises is reported as a finding of its own."""


def ok(name: str, found: str) -> Finding:
    """Nothing has to be done."""
    return Finding(name=name, state="ok", found=one_line(found))


def warn(name: str, found: str, remedy: str) -> Finding:
    """It works, but something is in the way."""
    return Finding(name=name, state="warn", found=one_line(found), remedy=remedy)


def fail(name: str, found: str, remedy: str) -> Finding:
    """Something does not work."""
    return Finding(name=name, state="fail", found=one_line(found), remedy=remedy)
