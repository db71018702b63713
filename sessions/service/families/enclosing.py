"""The session that a caller is inside of, by what the state folder recorded about processes.

A tag in an environment is a claim of the process that chose that environment.  A process that a turn of a session
recorded, its runner, its agent or what was seen below them, is a fact: the nearest one decides, whatever is claimed
below it.  A claim can then only narrow: it counts if nothing is recorded, or if it names a session below the recorded
one.  Without rows each claim counts (:func:`check_user`).
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentdash.sessions.runner.caller import Link, find_caller
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.processes.process_ownership import SessionProcesses
from agentdash.sessions.service.families.rights import only_the_user
from agentdash.sessions.storage.paths import SESSION_ID, Layout, default_home

if TYPE_CHECKING:
    from agentdash.sessions.storage.families.families import Families

HOOK_SESSION = "AGENTDASH_SESSION"
"""Variable of the command of a hook: the session that the hook is about."""


def enclosing(
    line: Sequence[Link], layout: Layout, families: "Families", is_known: Callable[[str], bool]
) -> str | None:
    """Return the session that a caller is inside of; None for the user, and for a session of another state folder.

    Args:
        line: the processes from the caller up.
        is_known: whether the state folder has, or had, a session.
    """
    session, place = _recorded(line, layout, families)
    claimed = next((link.session for link in reversed(line[:place]) if link.session and is_known(link.session)), None)
    if session is None or claimed is None:
        return session or claimed
    return claimed if families.is_below(claimed, session) else session


def is_of_hook(line: Sequence[Link], layout: Layout) -> bool:
    """Return whether the command of a hook is nearer than any session, so that the user calls."""
    place = next((n for n, link in enumerate(line) if _keeps_hook(link, line[n:], layout)), len(line))
    return place < len(line) and not any(link.session for link in line[:place])


def _recorded(line: Sequence[Link], layout: Layout, families: "Families") -> tuple[str | None, int]:
    """Return the session of the nearest recorded process, and its place in the line.

    There is no session if the process is the keeper of a hook, or nothing is recorded; the place is then the end.
    """
    boot, namespace = processes.boot_id(), processes.pid_namespace()
    for n, link in enumerate(line):
        if _keeps_hook(link, line[n:], layout):
            return None, n
        # A claim is believed only if the rows have this very process for the session that it names.
        for claimed in filter(None, (link.session, link.runs)):
            if families.has_run(claimed, link.key, boot, namespace):
                return claimed, n
    return _seen_below_a_runner(line, layout, families)


def _seen_below_a_runner(line: Sequence[Link], layout: Layout, families: "Families") -> tuple[str | None, int]:
    """Find the session of a process whose runner was killed, and whose environment claims nothing or something else."""
    for session in families.with_processes():
        folder = layout.session(session)
        seen = SessionProcesses(session, folder.lock, folder.procs)
        place = next((n for n, link in enumerate(line) if seen.has_seen(link.key)), None)
        if place is not None:
            return session, place
    return None, len(line)


def _keeps_hook(link: Link, above: Sequence[Link], layout: Layout) -> bool:
    """Return whether a process runs the user's hook: its runner recorded that before the command could begin."""
    if processes.HOOK_TAG not in link.env:
        return False
    runner = next((one.runs for one in above if one.runs), None)
    for session in (runner, link.env.get(HOOK_SESSION)):
        if session and SESSION_ID.fullmatch(session):
            folder = layout.session(session)
            if SessionProcesses(session, folder.lock, folder.procs).is_spared(link.key):
                return True
    return False


def check_user(what: str, home: Path | None = None) -> None:
    """Refuse a command that comes from inside a session; without rows, each claim of a session counts.

    Args:
        what: the act in the text of the refusal.
        home: the state folder; None for that of the environment.

    Raises:
        NotAllowedError: it comes from inside a session.
    """
    caller = find_caller()
    if caller.session is not None and not is_of_hook(caller.line, Layout(home or default_home())):
        raise only_the_user(what)
