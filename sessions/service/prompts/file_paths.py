"""The paths that complete ``@`` in a prompt: files of the session's folder, the likeliest first.

Hidden files and those that git ignores are left out.  Both functions block, so a front end calls them in a thread.
"""

import heapq
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice

from agentdash.sessions.runner.git.git_process import files_of
from agentdash.sessions.text.sanitize import one_line

MOST_FILES = 20_000
"""Maximum number of files; the others are never offered."""

MOST_FOLDERS = 2_000
"""Maximum number of folders that are read if the folder is not in a git repository."""


def paths_below(folder: str) -> list[str]:
    """Return the files below a folder, relative to it; none if it cannot be read.

    The list is git's if the folder is in a repository.  Else the folder is walked, the nearest files first.
    """
    listed = files_of(folder) if os.path.isdir(folder) else []  # noqa: PTH112 - a text that may be no path at all
    # Git also lists files that were deleted, if that is not committed.
    there = (path for path in listed or () if os.path.lexists(os.path.join(folder, path)))  # noqa: PTH118 - texts
    # A prompt can have a path as it is only without control characters and runs of blanks.
    plain = (path for path in (_walked(folder) if listed is None else there) if one_line(path) == path)
    return list(islice((path for path in plain if not _hidden(path)), MOST_FILES))


def best_paths(paths: Sequence[str], word: str, limit: int) -> list[str]:
    """Return the paths that match the letters after ``@``, the best first; the shortest ones for no letters.

    A file's name that begins so comes before a path that begins so, then the names and the paths that contain them.
    """
    wanted = word.casefold()
    ranked = ((rank, len(path), path) for path in paths if (rank := _rank(path.casefold(), wanted)) is not None)
    return [path for *_, path in heapq.nsmallest(limit, ranked)]


def _rank(path: str, wanted: str) -> int | None:
    name = path.rpartition("/")[2]
    if name.startswith(wanted):
        return 0
    if path.startswith(wanted):
        return 1
    if wanted in name:
        return 2
    return 3 if wanted in path else None


def _walked(folder: str) -> Iterator[str]:
    """Yield the files below a folder, level by level; symbolic links to folders are not followed."""
    waiting, read = [""], 0
    while waiting and read < MOST_FOLDERS:
        below: list[str] = []
        for parent in waiting[: MOST_FOLDERS - read]:
            read += 1
            for entry in _entries(os.path.join(folder, parent)):  # noqa: PTH118 - a text
                path = f"{parent}{entry.name}"
                if _hidden(entry.name):
                    continue
                if _is_folder(entry):
                    below.append(f"{path}/")
                else:
                    yield path
        waiting = below


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return heapq.nsmallest(MOST_FILES, entries, key=lambda entry: entry.name)
    except (OSError, ValueError):
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        return entry.is_dir(follow_symlinks=False)
    return False


def _hidden(path: str) -> bool:
    return path.startswith(".") or "/." in path
