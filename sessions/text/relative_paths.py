"""Agents' paths made absolute and relative, by their text alone: following links could mount a remote file system."""

import os

from msgspec import Struct


class Place(Struct, frozen=True):
    """The two names of one file."""

    shown: str
    absolute: str


def place_of(path: str, cwd: str) -> Place:
    """Return the file that ``path`` names in ``cwd``; ``..`` is resolved, so that no path seems to be below ``cwd``."""
    absolute = path if path.startswith("/") else f"{cwd}/{path}"
    if "\0" not in absolute:  # some versions of Python end the path at a NUL
        absolute = "/" + os.path.normpath(absolute).lstrip("/")
    inside = below(absolute, cwd)
    return Place(absolute if inside is None else inside, absolute)


def below(path: str, folder: str) -> str | None:
    """Return the path relative to a folder; None if it is not below it."""
    prefix = folder.rstrip("/") + "/"
    return path[len(prefix) :] if path.startswith(prefix) and path != prefix else None
