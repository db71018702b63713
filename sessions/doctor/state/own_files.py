"""Find the sessions whose agents can change agentdash's own files, and with them what runs outside their limits."""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ...agents.registry import agent_named, agent_names
from ...lifecycle.starts.own_folders import within_reach
from ..model import Finding, Subject, ok, warn
from .database import rows
from .records import named

_MODES = """
    SELECT sessions.id, sessions.agent, sessions.cwd,
        coalesce(sessions.mode, json_extract(turns.launch, '$.mode.permissions')) AS mode
    FROM sessions JOIN turns ON turns.session = sessions.id AND turns.n = sessions.turn
    WHERE sessions.archived_at IS NULL
"""


def own_files(subject: Subject) -> Iterator[Finding]:
    """Report such sessions, and whether an agent that is started in the current folder could do so."""
    home, settings = subject.layout.home, subject.config_path

    @cache
    def reached(folder: str) -> str | None:
        return within_reach(folder, home, settings)

    modes = {name: agent_named(name).modes for name in agent_names(demo=True)}
    writing = {name: of.writing for name, of in modes.items() if of is not None}
    found = rows(subject.layout.database, _MODES) or []
    sessions = {row["id"] for row in found if row["mode"] in writing.get(row["agent"], ()) and reached(row["cwd"])}
    remedy = "start agents in the folder of a project, or set AGENTDASH_HOME and AGENTDASH_CONFIG to other folders"
    if sessions:
        yield warn("own files", f"agents can change the state folder or the settings: {named(sessions)}", remedy)
    here = reached(_here())
    if here is not None:
        yield warn("own files", f"an agent that writes in the current folder can change {here}", remedy)
    if not sessions and here is None:
        yield ok("own files", "in the folder of no agent that writes there")


def _here() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # it is gone
        return os.devnull
