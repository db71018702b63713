"""The tools that a session can use: at ``orchestration.max_depth`` ``delegate`` is not listed.

A tool that is not there costs a model less than one that refuses.  Outside any session nothing is read, so a server
whose tools are only listed never touches the state folder there.
"""

import os
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from ..orchestration.tool import Tool

STARTS_WORKERS = "delegate"

_SECONDS = 0.2
"""Time in which a locked database must answer: codex (0.169.0) waits one second for the tools."""

_LEADS = """
WITH RECURSIVE every (id, parent, lead) AS (
    SELECT id, parent, lead FROM sessions UNION ALL SELECT session, parent, lead FROM tombstones),
line (parent, lead, n) AS (
    SELECT parent, lead, 1 FROM every WHERE id = ?
    UNION ALL SELECT every.parent, every.lead, n + 1 FROM line JOIN every ON every.id = line.parent WHERE n < 64)
SELECT n + (parent IS NULL AND lead IS NOT NULL) FROM line ORDER BY n DESC LIMIT 1
"""
"""The number of leads above a worker of a session, as the admission counts them."""

_MOST = "SELECT value FROM settings WHERE name = 'max_depth'"


def usable(tools: Sequence[Tool]) -> list[Tool]:
    """Return the tools that the caller can use; all of them if its place is not known."""
    if all(tool.name != STARTS_WORKERS for tool in tools) or not _is_deepest():
        return list(tools)
    return [tool for tool in tools if tool.name != STARTS_WORKERS]


def _is_deepest() -> bool:
    """Return whether the session from inside which the server runs can start no worker, whatever it costs."""
    from ..families.caller import find_caller  # a server of tools that are not ours needs no caller
    from ..processes import processes

    env = dict(os.environ)
    session, home = find_caller(env).session, env.get(processes.HOME)
    return bool(session and home) and _reached(Path(str(home)).expanduser().absolute(), str(session))


def _reached(home: Path, session: str) -> bool:
    import sqlite3  # only a server inside a session needs it

    from ..storage.paths import Layout

    address = f"{Layout(home).database.as_uri()}?mode=ro"
    with suppress(sqlite3.Error), closing(sqlite3.connect(address, uri=True, timeout=_SECONDS)) as database:
        leads = database.execute(_LEADS, (session,)).fetchone()
        most = database.execute(_MOST).fetchone()
        return leads is not None and most is not None and leads[0] > most[0]
    return False
