"""The living processes of sessions, and what they cost now: processor time, memory, and their number."""

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.session import Load, Turn
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.processes.process_ownership import SessionProcesses
from agentdash.sessions.storage.paths import SessionFolder


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
    return [
        ProcessInfo(
            pid=process.pid, parent=process.parent, command=process.command, age_s=processes.age_seconds(process),
            cpu_s=cpu_s, rss_bytes=rss_bytes, ports=ports.get(process.pid, ()),
        )
        for process in living
        for cpu_s, rss_bytes in [processes.usage(process.pid)]
    ]  # fmt: skip


class Loads:
    """Measures the processes of a few sessions on each call; keeps only the previous measurement."""

    def __init__(self, processes: Callable[[str], list[ProcessInfo]], clock: Callable[[], float] = monotonic) -> None:
        self._processes = processes
        self._clock = clock
        self._before: dict[str, tuple[float, dict[tuple[int, float | None], float]]] = {}

    def look(self, session_ids: Iterable[str]) -> Mapping[str, Load]:
        """Return the load of these sessions; a session without a process is left out."""
        loads, seen = {}, {}
        for session_id in session_ids:
            living, at = self._processes(session_id), self._clock()
            if not living:
                continue
            # Pids are reused: a process is its pid with its start time, rounded to seconds.
            times = {
                (one.pid, None if one.age_s is None else float(round(at - one.age_s))): one.cpu_s
                for one in living
                if one.cpu_s is not None
            }
            loads[session_id] = Load(
                processes=len(living),
                rss_bytes=sum(process.rss_bytes or 0 for process in living),
                cpu=self._spent(session_id, at, times),
            )
            seen[session_id] = (at, times)
        self._before = seen
        return loads

    def _spent(self, session_id: str, at: float, times: Mapping[tuple[int, float | None], float]) -> float | None:
        earlier, before = self._before.get(session_id, (at, {}))
        if at <= earlier:
            return None
        # A process that is new since the last measurement started at 0; the time of one that is gone is lost.
        return sum(max(0.0, spent - before.get(process, 0.0)) for process, spent in times.items()) / (at - earlier)
