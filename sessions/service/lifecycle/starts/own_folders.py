"""agentdash's own files and the folder of an agent: an agent that writes in its folder must not reach them.

The settings name commands that agentdash runs outside any sandbox (``[notify] hook``, ``bin``), and the state folder
has the starts of later turns.  An agent that can write there is limited by nothing, whatever its mode says.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.turn_mode import TurnMode
from agentdash.sessions.text.sanitize import one_line

_MOST_LINKS = 40
"""Links that the kernel follows in one path (path_resolution(7))."""

ACCEPTED = "AGENTDASH_OWN_FILES"
"""The variable by which the user accepts that agents can change agentdash's own files: ``writable``."""


def within_reach(folder: str, home: Path, settings: Path) -> str | None:
    """Return which files of agentdash an agent can change that writes in a folder; None if it can change none."""
    real = Path(os.path.realpath(folder))
    state = Path(os.path.realpath(home))
    if real == state or state in real.parents or _decides(real, home):
        return f"the state folder {one_line(str(state))}"
    if _decides(real, settings):
        return f"the settings {one_line(str(Path(os.path.realpath(settings.parent)) / settings.name))}"
    return None


def _decides(folder: Path, path: Path) -> bool:
    """Return whether something in a folder, such as a link, decides where a path leads."""
    return any(folder in entry.parents for entry in _entries(path))


def _entries(path: Path) -> Iterator[Path]:
    """Yield each entry on the way to a file, by its place without links: a link and what it leads to are two."""
    here, rest, links = Path("/"), list(reversed(path.absolute().parts[1:])), 0
    while rest:
        name = rest.pop()
        entry = here.parent if name == ".." else here / name
        yield entry
        if name == ".." or not entry.is_symlink() or links >= _MOST_LINKS:
            here = entry
            continue
        target = entry.readlink()
        links += 1
        if target.is_absolute():
            here = Path("/")
        rest += reversed(target.parts[1:] if target.is_absolute() else target.parts)


def writes(agent: Agent, mode: TurnMode | None) -> bool:
    """Return whether the mode lets an agent write in its folder without asking, and nowhere else.

    A mode without limits is not such a mode: the folder makes no difference to it.
    """
    if mode is None or mode.dangerous or agent.modes is None:
        return False
    return mode.permissions in agent.modes.writing


def check_reach(
    agent: Agent, mode: TurnMode | None, folder: str, home: Path, settings: Path, *, states_settings: bool
) -> None:
    """Refuse a mode in which an agent could change agentdash's own files, unless the user accepts it.

    ``states_settings`` is false for a caller that is an agent, whose environment accepts nothing.

    Raises:
        UsageError: the folder and those files overlap.
    """
    accepted = states_settings and os.environ.get(ACCEPTED) == "writable"
    if mode is None or not writes(agent, mode) or accepted:
        return
    reached = within_reach(folder, home, settings)
    if reached is not None:
        raise UsageError(
            f"{agent.title} with {mode.setting} {mode.permissions} can write in {one_line(folder)}, and so change"
            f" {reached} of agentdash, which decides what runs outside its limits. Start it in the folder of a project"
            " (-C FOLDER) or in a mode that only reads, or keep agentdash's files elsewhere (AGENTDASH_HOME,"
            f" AGENTDASH_CONFIG). To accept it: {ACCEPTED}=writable"
        )
