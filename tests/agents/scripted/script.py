"""Scripts of the scripted agent: TOML files, each a list of beats."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from agentdash.sessions.rules.asks.model import AskKind, Question
from scripted import events

_MARKER = re.compile(r"\[\[script:([a-z0-9_-]+)\]\]")
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


class AskFor(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question for the user: see :class:`...rules.asks.model.Ask`."""

    kind: AskKind
    title: str
    tool: str = ""
    body: str = ""
    why: str = ""
    always: str = ""
    paths: tuple[str, ...] = ()
    """Relative to the session's folder."""
    questions: tuple[Question, ...] = ()
    allowed: "list[Beat]" = []
    """Follows an approval or answers.  The first command, file or tool in it is what was asked for."""
    denied: "list[Beat]" = []


class Wake(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A turn that a live agent begins by itself."""

    after: float = 3.0
    """Seconds after the end of the turn, at speed 1."""
    beat: "list[Beat]"


class Beat(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One moment of a script: a pause, then its actions."""

    pause: float = 0.4
    """Seconds at speed 1."""
    repeat: int = 1
    unless: str | None = None
    """A variable of the environment: a process that has it leaves the moment out."""
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
    ask: AskFor | None = None
    say_steered: str | None = None
    """A message if prompts arrived since the last one; ``{steered}`` is replaced by them."""
    wake: Wake | None = None
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


def named_script(prompt: str) -> str | None:
    """Return the script that a prompt names by ``[[script:NAME]]``, which may not exist; None if it names none."""
    marker = _MARKER.search(prompt)
    return marker[1] if marker else None


def unknown_script(name: str) -> str:
    """Return the message for a script that does not exist."""
    return f"Unknown script {name!r}. Choose one of: {', '.join(SCRIPTS)}."


_TAGS = {"tool": "tool", "search": "search", "helper": "helper", "end": "ended"}


def _tagged(value: Any) -> Any:
    """Set the type of each table that is an event, from the table's name, at any depth."""
    if isinstance(value, list):
        return [_tagged(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    return {
        key: {**inner, "type": _TAGS[key]} if key in _TAGS and isinstance(inner, dict) else _tagged(inner)
        for key, inner in value.items()
    }
