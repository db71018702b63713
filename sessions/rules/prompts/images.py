"""Images in a prompt: the mark that stands for one in the text, and what makes a file an image.  Pure.

The text of a prompt carries a mark for each of its images, ``[image shot.png 12 kB]``, and the session's folder a copy
of that name.  So a prompt that waits, is edited, retried or exported has its images, whatever becomes of the file.
"""

import re

from msgspec import Struct

from agentdash.sessions.text.units import size

MOST_IMAGES = 20
"""Images of one prompt."""

MOST_BYTES = 5_000_000
"""Bytes of one image; the models take no larger ones."""

IMAGE = "[image "
"""The beginning of a mark."""

_NAME_CHARACTERS = 60
_HEADS = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
_MARK = re.compile(r"\[image ([\w.-]{1,80}) [\d.,]+ (?:B|kB|MB)\]")
_TYPED = re.compile(r"(?<![\w\\])@([^\s@]+\.(?:png|jpe?g|gif|webp))(?![\w/.-])", re.IGNORECASE)
"""A file of an image behind ``@``, which no backslash makes inert."""


class Picture(Struct, frozen=True):
    """An image for an agent."""

    name: str
    path: str
    """The copy in the session's folder."""
    media_type: str
    data: bytes


def media_type(data: bytes) -> str | None:
    """Return the type of an image by its first bytes; None if it is not an image that the models take."""
    return next((name for name, head in _HEADS.items() if head.match(data)), None)


def mark(name: str, length: int) -> str:
    """Return the mark that stands for an image in the text."""
    return f"[image {name} {size(length)}]"


def marked(text: str) -> list[str]:
    """Return the names in the marks of a text, each once."""
    return list(dict.fromkeys(_MARK.findall(text)))


def plain_name(name: str, taken: set[str]) -> str:
    """Return a file name without characters that a mark cannot have, and other than those that are taken."""
    stem, dot, ending = re.sub(r"[^\w.-]", "_", name).rpartition(".")
    stem = (stem or "image")[:_NAME_CHARACTERS].lstrip(".") or "image"
    names = (f"{stem}{f'-{number}' if number > 1 else ''}{dot}{ending[:5]}" for number in range(1, MOST_IMAGES * 1000))
    return next(one for one in names if one not in taken)


def typed(text: str) -> list[str]:
    """Return the image files that a text names as ``@shot.png``, each once."""
    return list(dict.fromkeys(_TYPED.findall(text)))


def replaced(text: str, marks: dict[str, str]) -> str:
    """Return a text with marks in place of ``@shot.png``, by the file."""
    return _TYPED.sub(lambda found: marks.get(found[1], found[0]), text)
