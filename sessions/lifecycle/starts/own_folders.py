"""agentdash's own files and the folder of an agent: an agent that writes in its folder must not reach them.

The settings name commands that agentdash runs outside any sandbox (``[notify] hook``, ``bin``), and the state folder
has the starts of later turns.  An agent that can write there is limited by nothing, whatever its mode says.
"""

import os
from pathlib import Path

from ...agents.base import Agent
from ...errors import UsageError
from ...text.sanitize import one_line
from ...values.turn_mode import TurnMode

ACCEPTED = "AGENTDASH_OWN_FILES"
"""The variable by which the user accepts that agents can change agentdash's own files: ``writable``."""


def within_reach(folder: str, home: Path, settings: Path) -> str | None:
    """Return which files of agentdash an agent can change that writes in a folder; None if it can change none.

    Args:
        folder: the folder of the agent.
        home: the state folder.
        settings: the settings file.
    """
    real = Path(os.path.realpath(folder))
    state, file = Path(os.path.realpath(home)), Path(os.path.realpath(settings))
    # A settings file that is a link can be replaced where its name is.
    named = Path(os.path.realpath(settings.parent)) / settings.name
    if real == state or real in state.parents or state in real.parents:
        return f"the state folder {one_line(str(state))}"
    if real in file.parents or real in named.parents:
        return f"the settings {one_line(str(named))}"
    return None


def writes(agent: Agent, mode: TurnMode | None) -> bool:
    """Return whether the mode lets an agent write in its folder without asking, and nowhere else.

    A mode without limits is not such a mode: the folder makes no difference to it.
    """
    return mode is not None and not mode.dangerous and mode.permissions in agent.writing


def check_reach(
    agent: Agent,
    mode: TurnMode | None,
    folder: str,
    home: Path,
    settings: Path,
    *,
    states_settings: bool,
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
