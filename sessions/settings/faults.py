"""All faults of a settings file: a check reports the first one, so it runs again without that key."""

import re
from collections.abc import Callable
from pathlib import Path

from ..errors import ConfigError
from .source import Source, read_text
from .tables import Path as Key
from .toml_positions import assigns

MOST = 100
"""Most faults that are reported."""

_COLUMN = re.compile(r"\(at line \d+, column (\d+)\)")


def faults(path: Path, check: Callable[[Source], object]) -> list[ConfigError]:
    """Return the faults of a file in the order of their lines.

    Args:
        path: the file.
        check: raises a ConfigError for the first fault.
    """
    found: list[ConfigError] = []
    source = _parsed(path, found)
    left_out: set[Key] = set()
    while source is not None and len(found) < MOST:
        try:
            check(source)
        except ConfigError as error:
            if not any(key[:-1] == error.key for key in left_out):
                found.append(error)  # else it only follows from a key that was left out of its table
            key = _cause(error.key)
            if key in left_out or not source.leave_out(key):
                break
            left_out.add(key)
        else:
            break
    return sorted(found, key=lambda error: error.line or 0)


def _parsed(path: Path, found: list[ConfigError]) -> Source | None:
    """Return the part of the file that is TOML, and add what is not to the faults; None if the file cannot be read."""
    try:
        text = read_text(path)
    except ConfigError as error:
        found.append(error)
        return None
    lines = text.split("\n")
    told = False
    for _ in range(MOST):
        try:
            return Source(path, "\n".join(lines))
        except ConfigError as error:
            if not told:
                found.append(error)
            at = min((error.line or 1), len(lines)) - 1
            if told or not _is_whole(lines[at], str(error)):
                told = True  # what is said about the rest of a torn file may only follow from its first error
                lines = lines[: max((n for n in range(at + 1) if lines[n].lstrip().startswith("[")), default=0)]
            else:
                lines[at] = ""
    return None


def _is_whole(line: str, error: str) -> bool:
    """Return whether an error is in the value that this line begins, so that the other lines can be read without it."""
    column = _COLUMN.search(error)
    return assigns(line) and column is not None and int(column[1]) > line.index("=") + 1


def _cause(key: Key) -> Key:
    """Return what to leave out: without its agent, the other settings of a preset cannot be judged."""
    return key[:-1] if len(key) > 2 and key[-3] == "presets" and key[-1] == "agent" else key
