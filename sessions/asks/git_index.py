"""The entries of git's index, read without git (the format of ``gitformat-index``, versions 2 and 3)."""

import os
import struct
from collections.abc import Iterator
from pathlib import Path

_MOST_BYTES = 64 * 1024 * 1024
_SUBMODULE = 0o160000
_EXTENDED = 0x4000
_SPLIT = b"link"
"""The first extension of an index of which other entries are in another file."""


def may_leave(git: Path, top: Path) -> bool:
    """Return whether git may read outside of its repository while it walks through the files of the index.

    A submodule has settings of its own, and a link in the place of a folder leads to another (git 2.39 greps there).

    Args:
        git: the git folder.
        top: the folder of the files.
    """
    path = git / "index"
    if not os.path.lexists(path):
        return False
    found = _entries(path)
    if found is None or any(mode & 0o170000 == _SUBMODULE for mode, _ in found):
        return True
    folders = {name.rpartition(b"/")[0] for _, name in found}
    above = {part for folder in folders for part in _with_parents(folder)}
    return any(_is_link(top / os.fsdecode(folder)) for folder in above)


def _is_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except OSError:
        return True


def _with_parents(folder: bytes) -> Iterator[bytes]:
    while folder:
        yield folder
        folder = folder.rpartition(b"/")[0]


def _entries(path: Path) -> list[tuple[int, bytes]] | None:
    """Return the mode and the name of each entry; None if the file is not one that is understood."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        magic, version, number = struct.unpack_from(">4sLL", data)
        if magic != b"DIRC" or version not in (2, 3) or len(data) > _MOST_BYTES:
            return None
        found, at = [], 12
        for _ in range(number):
            mode, flags = struct.unpack_from(">24xL32xH", data, at)
            begin = at + (64 if flags & _EXTENDED else 62)
            end = data.index(b"\0", begin)
            found.append((mode, data[begin:end]))
            at += (end - at + 8) // 8 * 8
        if data[at : at + 4] == _SPLIT:
            return None
    except (OSError, struct.error, ValueError):
        return None
    return found
