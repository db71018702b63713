"""Scripts of the demo agent: TOML files, each a list of beats."""

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
    """A file to write; its path is relative to the session's folder."""

    path: str
    content: str


class Leave(Struct, frozen=True, forbid_unknown_fields=True):
    """A process that is started and left running; the word PYTHON is replaced by this interpreter."""

    argv: list[str]
    detached: bool = False


class Beat(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One moment of a script: a pause, then its actions."""

    pause: float = 0.4
    """Seconds at speed 1."""
    repeat: int = 1
    reasoning: str | None = None
    message: str | None = None
    plan: list[tuple[str, str]] | None = None
    run: str | None = None
    """A shell command, which is really run."""
    write: Write | None = None
    tool: events.ToolCall | None = None
    search: events.Search | None = None
    helper: events.Helper | None = None
    trouble: str | None = None
    retry: str | None = None
    leave: Leave | None = None
    end: events.Ended | None = None

    def events(self) -> Iterator[events.Event]:
        """Yield the events to print as they are; the player makes those of commands and files."""
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
    """Return the beats of a script.

    Raises:
        OSError, tomllib.TOMLDecodeError, msgspec.ValidationError: the file is missing, or not a script.
    """
    text = (_FOLDER / f"{name}.toml").read_text("utf-8")
    return msgspec.convert(_tagged(tomllib.loads(text)), _Script).beat


def _tagged(data: dict[str, list[dict[str, object]]]) -> dict[str, list[dict[str, object]]]:
    """Set the type of each table that is an event, from the table's name."""
    tags = {"tool": "tool", "search": "search", "helper": "helper", "end": "ended"}
    for beat in data.get("beat", []):
        for key, tag in tags.items():
            table = beat.get(key)
            if isinstance(table, dict):
                table["type"] = tag
    return data
