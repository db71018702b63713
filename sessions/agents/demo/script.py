"""Scripts of the demo agent: TOML files, a list of beats each."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from . import events

_FOLDER = Path(__file__).parent / "scripts"

SCRIPTS = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))
"""The names of all scripts."""


class Write(Struct, frozen=True, forbid_unknown_fields=True):
    """A file to be written, relative to the session's folder."""

    path: str
    content: str


class Leave(Struct, frozen=True, forbid_unknown_fields=True):
    """A process that is started and left alone; the word PYTHON stands for this interpreter."""

    argv: list[str]
    detached: bool = False


class Beat(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One moment of a script: a pause, then what happens."""

    pause: float = 0.4
    """Seconds at speed 1."""
    repeat: int = 1
    reasoning: str | None = None
    message: str | None = None
    plan: list[tuple[str, str]] | None = None
    run: str | None = None
    """A shell command, really run."""
    write: Write | None = None
    tool: events.ToolCall | None = None
    search: events.Search | None = None
    helper: events.Helper | None = None
    trouble: str | None = None
    retry: str | None = None
    leave: Leave | None = None
    end: events.Ended | None = None

    def events(self) -> Iterator[events.Event]:
        """What is printed as it stands; commands and files are printed by who makes them."""
        if self.reasoning is not None:
            yield events.Reasoning(text=self.reasoning)
        if self.message is not None:
            yield events.Message(text=self.message)
        if self.plan is not None:
            yield events.Plan(items=self.plan)
        if self.trouble is not None:
            yield events.Trouble(message=self.trouble)
        if self.retry is not None:
            yield events.Retry(message=self.retry)
        for whole in (self.tool, self.search, self.helper):
            if whole is not None:
                yield whole


class _Script(Struct, forbid_unknown_fields=True):
    beat: list[Beat]


def load_script(name: str) -> list[Beat]:
    """The beats of a script.

    Raises:
        OSError, tomllib.TOMLDecodeError, msgspec.ValidationError: it is not there, or not a script.
    """
    text = (_FOLDER / f"{name}.toml").read_text("utf-8")
    return msgspec.convert(_tagged(tomllib.loads(text)), _Script).beat


def _tagged(data: dict[str, list[dict[str, object]]]) -> dict[str, list[dict[str, object]]]:
    """Give the tables that are events the type that their name says."""
    tags = {"tool": "tool", "search": "search", "helper": "helper", "end": "ended"}
    for beat in data.get("beat", []):
        for key, tag in tags.items():
            table = beat.get(key)
            if isinstance(table, dict):
                table["type"] = tag
    return data
