"""The living processes of a session, as the user inspects them before a stop."""

from msgspec import Struct

from ..model import Turn
from ..processes import processes
from ..processes.process_ownership import SessionProcesses
from ..storage.paths import SessionFolder


class ProcessInfo(Struct, frozen=True, kw_only=True):
    """One process of a session."""

    pid: int
    parent: int
    command: str
    age_s: float | None
    cpu_s: float | None = None
    """Seconds of processor time so far, user and system."""
    rss_bytes: int | None = None
    ports: tuple[int, ...] = ()
    """TCP ports on which it listens."""


def process_list(folder: SessionFolder, turn: Turn) -> list[ProcessInfo]:
    """List all processes of the session, parents before children: scanned now, recorded nowhere.

    Another session's runner is among them for a moment, until it holds its lock: nothing may pretend to be one.
    """
    found = SessionProcesses.of_turn(folder, turn).find(patient=False)
    living = sorted(found.values(), key=lambda process: process.start)
    ports = processes.listening_ports([process.pid for process in living])
    return [_info(process, ports.get(process.pid, ())) for process in living]


def _info(process: processes.Process, ports: tuple[int, ...]) -> ProcessInfo:
    cpu_s, rss_bytes = processes.usage(process.pid)
    return ProcessInfo(
        pid=process.pid,
        parent=process.parent,
        command=process.command,
        age_s=processes.age_seconds(process),
        cpu_s=cpu_s,
        rss_bytes=rss_bytes,
        ports=ports,
    )
