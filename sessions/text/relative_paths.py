"""Where a path leads that an agent names, by its text alone: following links could wake up a foreign file system."""

import os

from msgspec import Struct


class Place(Struct, frozen=True):
    """One file's two names."""

    shown: str
    absolute: str


def place_of(path: str, cwd: str) -> Place:
    """The file that an agent working in ``cwd`` calls ``path``; ``..`` is resolved, so that nothing looks nearer."""
    absolute = path if path.startswith("/") else f"{cwd}/{path}"
    if "\0" not in absolute:  # some versions of Python end the path there
        absolute = "/" + os.path.normpath(absolute).lstrip("/")
    inside = below(absolute, cwd)
    return Place(absolute if inside is None else inside, absolute)


def below(path: str, folder: str) -> str | None:
    """The path relative to a folder; None where it does not lie below it."""
    prefix = folder.rstrip("/") + "/"
    return path[len(prefix) :] if path.startswith(prefix) and path != prefix else None
