"""The formats of an export: what each is called, and which file names ask for it."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from ..errors import UsageError
from ..model import Session, Step
from .as_json import as_json
from .html import html
from .markdown import markdown

Writer = Callable[[Session, Iterable[Step]], Iterator[str]]
"""From a session and its steps, each in its last form and in order, to the pieces of a document."""


class Format(Struct, frozen=True):
    """One way to write a session down."""

    name: str
    title: str
    suffixes: tuple[str, ...]
    write: Writer


FORMATS = (
    Format("md", "Markdown", (".md", ".markdown"), markdown),
    Format("html", "HTML", (".html", ".htm"), html),
    Format("json", "JSON", (".json",), as_json),
)
"""All formats; the first is taken where nothing else is asked for."""


def format_named(name: str) -> Format:
    """The format of this name.

    Raises:
        UsageError: there is none.
    """
    for found in FORMATS:
        if found.name == name:
            return found
    raise UsageError(f"There is no format {name!r}. Choose one of: {', '.join(found.name for found in FORMATS)}.")


def format_of(path: Path) -> Format:
    """The format that a file's suffix asks for; the first one where it has no suffix.

    Raises:
        UsageError: the suffix says nothing.
    """
    suffix = path.suffix.lower()
    for found in FORMATS:
        if suffix in found.suffixes or not suffix:
            return found
    known = ", ".join(suffix for found in FORMATS for suffix in found.suffixes)
    raise UsageError(f"{path}: the suffix {path.suffix} says nothing about the format. Known: {known}.")
