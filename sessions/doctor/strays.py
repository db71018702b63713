"""Processes that carry the tag of a session of this state folder which nobody knows any more."""

import os
from collections.abc import Iterator

from ..storage.paths import Layout
from ..supervision import processes
from ..supervision.processes import Process
from ..text.sanitize import one_line
from .model import Finding, Subject, ok, warn
from .records import session_folders, session_rows

_SHOWN = 5
"""Processes that are named; of more there is the number."""


def strays(subject: Subject) -> Iterator[Finding]:
    """What no stop can reach, because its session is gone."""
    found = unknown_processes(subject.layout)
    if not found:
        yield ok("strays", "no process of a forgotten session")
        return
    names = ", ".join(f"{one_line(process.command, 60)} {process.pid}" for process in found[:_SHOWN])
    more = ", ..." if len(found) > _SHOWN else ""
    pids = " ".join(str(process.pid) for process in found)
    yield warn("strays", f"{len(found)} of sessions that are gone: {names}{more}", f"kill {pids}")


def unknown_processes(layout: Layout) -> list[Process]:
    """The living processes of sessions that have neither row nor folder, oldest first."""
    tagged = [(process, session) for process in _others() if (session := _session(process, layout))]
    # Read after the scan: what was just started has its row and its folder by now.
    known = session_folders(layout) | (session_rows(layout) or set())
    return sorted((process for process, session in tagged if session not in known), key=lambda p: p.start)


def _others() -> list[Process]:
    found = (processes.look(pid) for pid in processes.scan() if pid != os.getpid())
    return [process for process in found if process is not None and not process.zombie]


def _session(process: Process, layout: Layout) -> str | None:
    """The session a process is tagged with, if that belongs to this state folder."""
    env = processes.environment(process.pid)
    session, home = env.get(processes.SESSION_TAG), env.get(processes.HOME)
    if not session or not home:
        return None
    return session if os.path.realpath(home) == os.path.realpath(layout.home) else None
