"""The state folder of a project, if the user's own settings ask for one: ``state = true`` in ``[projects]``.

It is below the user's own state folder and never in the project, whose files others may write.
"""

import os
import re
import tomllib
from pathlib import Path
from zlib import crc32

from agentdash.sessions.service.projects import file
from agentdash.sessions.settings.place import config_path
from agentdash.sessions.storage.paths import usual_home

HOME = "AGENTDASH_HOME"
"""The variable that names the state folder to this process and to all that it starts."""

_NAME_CHARACTERS = 40


def choose() -> None:
    """Let this process and all that it starts use the state folder of the project around the current folder.

    A state folder that the user names wins.  Outside of a project the usual one is used.  Settings that cannot be read
    are left to the command, which reports the error.
    """
    if os.environ.get(HOME) or not _is_asked_for(config_path()):
        return
    try:
        root = root_of(Path.cwd())
    except OSError:  # the current folder was deleted
        return
    if root is not None:
        os.environ[HOME] = str(usual_home() / "projects" / name_of(root))


def root_of(folder: Path) -> Path | None:
    """Return the folder of the project: with its settings file, else the root of its git repository; None if neither.

    Symbolic links are resolved.
    """
    settings = file.find(folder)
    if settings is not None:
        return settings.parent
    return next((place for place in file.upwards(folder) if os.path.lexists(place / ".git")), None)


def name_of(root: Path) -> str:
    """Return the name of a project's state folder: readable, and another one for each path."""
    readable = re.sub(r"[^A-Za-z0-9_.-]+", "-", root.name)[:_NAME_CHARACTERS]
    return f"{readable}-{crc32(os.fsencode(root)):08x}"


def _is_asked_for(settings: Path) -> bool:
    try:
        data = settings.read_bytes()
        projects = tomllib.loads(data.decode()).get("projects") if b"state" in data else None
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(projects, dict) and projects.get("state") is True
