"""The formats of an export: their names, and the suffixes of their files; the JSON one is written here."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import Session, Step, Turn
from agentdash.sessions.rules.conversation.shown import IsCut, none_cut
from agentdash.sessions.rules.json_schema import dump, mode_json, session_json, step_json
from agentdash.sessions.transcript.export.html import html
from agentdash.sessions.transcript.export.markdown import markdown


def as_json(
    session: Session, steps: Iterable[Step], turns: Sequence[Turn] = (), is_cut: IsCut = none_cut
) -> Iterator[str]:
    """Yield ``{"session": …, "turns": […], "steps": […]}`` in pieces, each step on a line of its own.

    A step that was cut by going back has ``"cut": true``.
    """
    modes = dump([mode_json(turn) for turn in turns]).decode().rstrip("\n")
    yield f'{{"session": {_encoded(session_json(session))}, "turns": {modes}, "steps": ['
    separator = "\n"
    for step in steps:
        yield separator + _encoded(step_json(step, cut=is_cut(step)))
        separator = ",\n"
    yield "\n]}\n"


def _encoded(value: dict[str, Any]) -> str:
    return dump(value).decode().rstrip("\n")


class Writer(Protocol):
    """Makes the pieces of a document."""

    def __call__(
        self, session: Session, steps: Iterable[Step], turns: Sequence[Turn] = (), is_cut: IsCut = none_cut
    ) -> Iterator[str]:
        """Yield the pieces from a session, its steps, each in its last form and in order, and all its turns.

        The steps are never all in memory.  The turns show their changes of settings.  The steps that ``is_cut`` names
        are marked: the conversation went on without them.
        """


class Format(Struct, frozen=True):
    """One format of an exported session."""

    name: str
    title: str
    suffixes: tuple[str, ...]
    write: Writer


FORMATS = (
    Format("md", "Markdown", (".md", ".markdown"), markdown),
    Format("html", "HTML", (".html", ".htm"), html),
    Format("json", "JSON", (".json",), as_json),
)
"""All formats; the first is the default."""


def format_named(name: str) -> Format:
    """Return the format of this name.

    Raises:
        UsageError: there is no such format.
    """
    for one in FORMATS:
        if one.name == name:
            return one
    raise UsageError(f"Unknown format {name!r}. Choose one of: {', '.join(one.name for one in FORMATS)}.")


def format_of(path: Path) -> Format:
    """Return the format of a file's suffix; the default if it has none.

    Raises:
        UsageError: the suffix belongs to no format.
    """
    suffix = path.suffix.lower()
    for one in FORMATS:
        if suffix in one.suffixes or not suffix:
            return one
    known = ", ".join(suffix for one in FORMATS for suffix in one.suffixes)
    raise UsageError(f"{path}: unknown file extension {path.suffix}. Choose one of: {known}.")
