"""The files that an ask names, where they really are, and whether they are in a folder.

A path counts as the file that the kernel would open now: symbolic links are followed, also before ``..``.  A process
that changes a link after the check and before the use is not seen.
"""

import os
import posixpath
import re
import stat
from pathlib import Path

from msgspec import Struct

_URL = re.compile(r"(?:https?|ssh|git|ftps?)://", re.IGNORECASE)
LONGEST = 4_096
"""The most characters of a path that Linux opens (PATH_MAX); links are not searched for in a longer one."""

NOWHERE = ""
"""The place of a path that no file can have; it is in no folder."""


def resolved(path: str, cwd: str) -> str:
    """Return an absolute path without ``.`` and ``..``, as a text; a relative path begins at ``cwd``."""
    return "/" + posixpath.normpath(posixpath.join("/", cwd, path)).lstrip("/")


def real(path: str, cwd: str) -> str:
    """Return the place to which a path leads now, without links; :data:`NOWHERE` if no file can have the path.

    A part that does not exist stays as it is.  Agents read ``~`` as the home folder, and drop blanks around a path.
    """
    if path.startswith("~") or path != path.strip() or len(path) > LONGEST:
        return NOWHERE
    try:
        return "/" + os.path.realpath(posixpath.join("/", cwd, path)).lstrip("/")
    except (ValueError, OSError):
        return NOWHERE


def is_in(path: str, folder: str) -> bool:
    """Return whether an absolute path is the folder, or below it; both as texts."""
    place = resolved(folder, "/")
    return path == place or path.startswith(place.rstrip("/") + "/")


def is_folder(path: str | Path) -> bool:
    """Return whether a path leads to a folder; False if that cannot be found out."""
    try:
        return stat.S_ISDIR(Path(path).stat().st_mode)
    except (ValueError, OSError):
        return False


class Place(Struct, frozen=True):
    """The folder in which a command may act, and the folder in which it runs; both real."""

    folder: str
    cwd: str

    def has(self, path: str) -> bool:
        """Return whether a path leads into the folder, also if ``..`` is taken away before links are followed."""
        ways = (real(path, self.cwd), real(resolved(path, self.cwd), "/"))
        return all(is_in(way, self.folder) for way in ways)

    def has_file(self, path: str) -> bool:
        """Return whether a path leads to a file in the folder that is not a folder itself."""
        return self.has(path) and not is_folder(real(path, self.cwd))

    def below(self, path: str) -> "Place | None":
        """Return the same folder, with a folder in it as the one in which commands run.

        None if the path leads out of the folder, through a link, or to a file; a path that does not exist is taken.
        """
        found = real(path, self.cwd)
        inside = is_in(found, self.folder) and found == resolved(path, self.cwd)
        return Place(self.folder, found) if inside and (is_folder(found) or not os.path.lexists(found)) else None


def place_at(folder: str, cwd: str) -> Place | None:
    """Return the place of a command; None if it would run outside of the folder."""
    place = Place(real(folder, "/"), real(cwd, "/"))
    return place if place.folder and is_in(place.cwd, place.folder) else None


def paths_in(word: str) -> tuple[str, ...]:
    """Return every text in a word of a command that may be a path.

    A path can be a part of an option (``--output=/x``, ``-o/x``) or of a list (``a:/x``); most words name a file of
    the folder in which the command runs.  The address of a server is not a path.
    """
    if _URL.match(word):
        return ()
    parts = {word, word.partition("=")[2], word[2:] if word.startswith("-") else "", *re.split("[:,=]", word)}
    if word.startswith("-"):
        begin = word.find("/")
        parts |= {word[begin:]} if begin >= 0 else set()
    return tuple(sorted(part for part in parts if part))
