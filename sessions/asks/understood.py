"""The commands that are understood: they only read files in a folder.

The list is short, and everything else is left to the user: a program that is not in it, an option that is not in its
form, a shortened option, a path that leads out of the folder, a folder that git could take for a repository with
settings of its own.  Aliases and functions of the user's shell, the variables and the settings of the user, and what
another process changes between the check and the use are not known here.
"""

import os
import re
from collections.abc import Iterator, Sequence

from . import git_forms, reader_forms
from .places import Place, is_folder, place_at
from .simple_command import Simple, commands

NO_LIST = "it is not a list of simple commands"
OUTSIDE = "it runs outside the folder"
LEAVES = "it changes to an unknown folder"
NOT_READING = "it is not known only to read files of the folder"

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_SYSTEM = ("/bin", "/usr/bin", "/usr/local/bin")


def not_understood(line: str, folder: str, cwd: str) -> str:
    """Return the reason why a line is not known only to read files of a folder, as a clause; empty if it is.

    Args:
        line: the line, as the agent would give it to a shell.
        folder: the folder; an absolute path.
        cwd: the folder in which it would run; an absolute path.
    """
    place, found = place_at(folder, cwd), commands(line)
    if found is None or place is None:
        return NO_LIST if found is None else OUTSIDE
    for one, there in at_their_places(found, place):
        if there is None:
            return LEAVES
        if not is_reading(one.words, there):
            return NOT_READING
    return ""


def at_their_places(found: Sequence[Simple], place: Place) -> Iterator[tuple[Simple, Place | None]]:
    """Yield each command with every place at which it may run; None, and no more, if they are not known.

    Only a ``cd`` before all others moves them; it is left out.  If it may fail, those behind ``;`` or ``||`` then run
    at the first place.
    """
    places = [place]
    for number, one in enumerate(found):
        if one.words[0] != "cd":
            yield from ((one, there) for there in places)
            continue
        moved = _moved(one.words[1:], place, then=found[1].after) if number == 0 and len(found) > 1 else None
        if moved is None:
            yield one, None
            return
        all_or_none = {later.after for later in found[1:]} <= {"&&", "|"}
        places = [moved] if all_or_none or _can_enter(moved.cwd) else [place, moved]


def _moved(words: Sequence[str], place: Place, *, then: str) -> Place | None:
    """Return the place to which ``cd`` moves the commands behind the operator ``then``; None if that is not certain."""
    if then not in ("&&", ";", "\n") or len(words) != 1 or not words[0] or words[0].startswith("-"):
        return None
    if os.environ.get("CDPATH") and words[0][0] not in "./":
        return None
    moved = place.below(words[0])
    return moved if moved is not None and (then == "&&" or _can_enter(moved.cwd)) else None


def _can_enter(folder: str) -> bool:
    return is_folder(folder) and os.access(folder, os.X_OK)


def is_reading(words: Sequence[str], place: Place) -> bool:
    """Return whether a command only reads files of the folder."""
    name = known_name(words[0])
    if name == "git":
        return git_forms.is_understood(words[1:], place, acts=False)
    return bool(name) and reader_forms.is_reading(name, words[1:], place)


def known_name(program: str) -> str:
    """Return the name of a program of the system in ``PATH``, or in one of the usual folders; empty for another."""
    folder, slash, name = program.rpartition("/")
    return name if _NAME.fullmatch(name) and (not slash or folder in _SYSTEM) else ""


def has_forms(name: str) -> bool:
    """Return whether a program is one of those of which forms are understood."""
    return name == "git" or name in reader_forms.FORMS or name in reader_forms.CHECKS
