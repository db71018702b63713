"""A limited agent must not write where agentdash keeps its state and its settings: there its limits would be void.

The settings hold commands that agentdash runs outside any sandbox, and the state the starts of the next turns.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from ..agents.base import Agent, AgentSettings
from ..errors import UsageError
from ..settings.place import config_path
from ..text.sanitize import one_line
from ..values.turn_mode import TurnMode
from .permissions import FULL, rank


def check_own_folders(agent: Agent, settings: AgentSettings, mode: TurnMode | None, cwd: str, home: Path) -> None:
    """Refuse a limited mode that may change files in a folder with the state folder or the settings file in it.

    Args:
        agent: the agent that is to run.
        settings: its section of the settings.
        mode: its mode; one without limits can write everywhere, as its user knows.
        cwd: its folder.
        home: the state folder.

    Raises:
        UsageError: it is so.
    """
    limits = rank(agent, mode)
    if mode is None or limits is None or not 0 < limits < FULL:
        return
    found = exposed((cwd, *(str(Path(cwd) / folder) for folder in agent.writable_folders(settings))), home)
    if found is not None:
        folder, what = found
        readers = " or ".join(name for name, own in agent.ranks.items() if own == 0)
        raise UsageError(
            f"{agent.title} could change {what}, which {one_line(str(folder))} contains, and so lift its own limits:"
            f" the mode {mode.permissions} lets it write there. Choose a folder that does not contain it (-C FOLDER)"
            f"{f', or the mode {readers}' if readers else ''}."
        )


def exposed(folders: Iterable[str], home: Path) -> tuple[Path, str] | None:
    """Return the first folder in which a part of agentdash is, and that part in words; None if none is."""
    parts = ((home, f"agentdash's state ({home})"), (config_path(), f"agentdash's settings ({config_path()})"))
    for folder in map(Path, folders):
        real = os.path.realpath(folder)
        for path, words in parts:
            if Path(os.path.realpath(path)).is_relative_to(real):
                return folder, one_line(words)
    return None
