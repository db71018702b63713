"""The paths that an ask names, and the folder in which they lie; pure.

``..`` is resolved, symbolic links are not: a link in the folder can lead out of it.
"""

import posixpath
import re

_URL = re.compile(r"(?:https?|ssh|git|ftps?)://", re.IGNORECASE)


def resolved(path: str, cwd: str) -> str:
    """Return an absolute path without ``.`` and ``..``; a relative path begins at ``cwd``."""
    return "/" + posixpath.normpath(posixpath.join("/", cwd, path)).lstrip("/")


def is_in(path: str, folder: str) -> bool:
    """Return whether an absolute path is the folder, or lies below it."""
    place = resolved(folder, "/")
    return path == place or path.startswith(place.rstrip("/") + "/")


def has_git_folder(path: str) -> bool:
    """Return whether a path lies in a repository's own folder: git runs commands that are named there."""
    return ".git" in path.casefold().split("/")


def paths_of(word: str, cwd: str) -> tuple[str, ...]:
    """Return every path that a word of a command may name, resolved.

    A path can be a part of an option (``--output=/x``, ``-o/x``) or of a list (``a:/x``); most words name a file of
    ``cwd``.  The address of a server is not a path.
    """
    if _URL.match(word):
        return ()
    parts = {word, word.partition("=")[2], word[2:] if word.startswith("-") else "", *re.split("[:,=]", word)}
    if word.startswith("-"):
        begin = word.find("/")
        parts |= {word[begin:]} if begin >= 0 else set()
    return tuple(sorted({resolved(part, cwd) for part in parts if part}))
