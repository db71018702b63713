"""Find processes with the tag of a session that no longer exists in this state folder."""

import os
from collections.abc import Container, Iterator

from ...processes import processes
from ...processes.processes import Process
from ...storage.paths import Layout
from ...text.sanitize import one_line
from ...text.units import count
from ..model import Finding, Subject, ok, warn
from .database import rows
from .records import session_folders, session_rows

_SHOWN = 5
"""Number of processes listed by name; the others are only counted."""


def strays(subject: Subject) -> Iterator[Finding]:
    """Report the processes that no stop can reach, because their session is gone."""
    unknown = unknown_processes(subject.layout)
    if not unknown:
        yield ok("strays", "no processes of deleted sessions")
        return
    names = ", ".join(f"{one_line(process.command, 60)} {process.pid}" for process in unknown[:_SHOWN])
    more = ", ..." if len(unknown) > _SHOWN else ""
    pids = " ".join(str(process.pid) for process in unknown)
    yield warn(
        "strays", f"{count(len(unknown), 'process', 'processes')} of deleted sessions: {names}{more}", f"kill {pids}"
    )


def unknown_processes(layout: Layout) -> list[Process]:
    """Return the living processes of sessions that have neither row nor folder, oldest first."""
    deleted = {row["session"] for row in rows(layout.database, "SELECT session FROM tombstones") or ()}
    tagged = [(process, session) for process in _others() if (session := _session(process, layout, deleted))]
    # Read after the scan: a session that was just started has its row and its folder by now.
    known = session_folders(layout) | (session_rows(layout) or set())
    return sorted((process for process, session in tagged if session not in known), key=lambda p: p.start)


def _others() -> list[Process]:
    living = (processes.by_pid(pid) for pid in processes.scan() if pid != os.getpid())
    return [process for process in living if process is not None and not process.zombie]


def _session(process: Process, layout: Layout, deleted: Container[str]) -> str | None:
    """Return the session in a process's tag, if the session belongs to this state folder.

    A session that was deleted here does, whatever folder the process names: it chooses its own environment.
    """
    env = processes.environment(process.pid)
    session, home = env.get(processes.SESSION_TAG), env.get(processes.HOME)
    if not session or session in deleted:
        return session or None
    return session if home and os.path.realpath(home) == os.path.realpath(layout.home) else None
