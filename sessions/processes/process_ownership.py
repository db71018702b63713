"""Find the processes that belong to a session.

A process is ours if it descends from this runner, carries the session's tag, is in the agent's process group, or was
seen below the runner earlier.  Another session's runner, a process with another session's tag, and everything below
those are never ours: without that rule, stopping an outer session would kill an inner one.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from ..model import Turn
from ..storage.paths import SESSION_ID, SessionFolder, write_atomic
from . import processes as procs
from . import runner_lock
from .processes import HOME, Process

YOUNG_SECONDS = 10.0
"""Age below which a runner may not hold its lock yet."""


class SessionProcesses:
    """The processes of one session, as its runner finds them."""

    def __init__(self, session_id: str, lock: Path, record: Path) -> None:
        self._session_id = session_id
        self._lock = str(lock)
        self._record = record
        self._remembered, self._spared = self._load()
        self._written: set[tuple[int, int]] = set(self._remembered)
        self._boot = procs.boot_id()
        self._plain: set[tuple[int, int]] = set()
        self.agent: tuple[int, int] | None = None
        """Pid and start time of the agent, which leads its own process group."""

    @classmethod
    def of_turn(cls, folder: SessionFolder, turn: Turn | None) -> Self:
        """The processes of a session, from its newest turn; the agent's pid counts only in its boot and namespace."""
        kin = cls(folder.id, folder.lock, folder.procs)
        if (
            turn is not None
            and procs.is_here(turn.boot_id, turn.pid_ns)
            and turn.agent_pid is not None
            and turn.agent_start is not None
        ):
            kin.agent = (turn.agent_pid, turn.agent_start)
        return kin

    def find(self) -> dict[tuple[int, int], Process]:
        """Return all our living processes by identity, without the runner itself."""
        processes = procs.scan()
        environments = self._environments(processes)
        marks = {pid: mark for pid, env in environments.items() if (mark := env.get(procs.RUNNER_MARK))}
        runners = {pid for pid, mark in marks.items() if mark == self._lock}
        strangers = {pid for pid, p in processes.items() if self._is_strangers(p, environments[pid])} - runners
        marked = {pid for pid, p in processes.items() if self._is_marked(p, environments[pid])} - strangers - runners
        below = procs.descendants(processes, runners | marked, lambda pid: pid in strangers)
        ours = marked | {p.pid for p in below} - runners
        looked = (procs.by_pid(pid) for pid in sorted(ours) if not processes[pid].zombie)
        living = {p.key: p for p in looked if p is not None and p.start == processes[p.pid].start and not p.zombie}
        self._remembered |= set(living)
        return living

    def _environments(self, processes: dict[int, Process]) -> dict[int, dict[str, str]]:
        """The environment of each process; one of an old process without our marks is read only once."""
        environments = {}
        plain = set()
        for pid, process in processes.items():
            env = {} if process.key in self._plain else procs.environment(pid)
            environments[pid] = env
            if not env.keys() & _MARKS and (process.key in self._plain or _is_old(process)):
                plain.add(process.key)
        self._plain = plain
        return environments

    def remember(self) -> None:
        """Record the identities of everything below the runner.

        Only this record finds a process that cleared its environment, once its runner is dead.
        """
        tree = {process.key for process in procs.tree(os.getpid(), self._hides)}
        if self.agent is not None:
            tree |= {self.agent}
            tree |= {process.key for process in procs.tree(self.agent[0], self._hides)}
        self._remembered = {key for key in self._remembered | tree if procs.alive(*key)}
        if self._remembered != self._written:
            self.write()

    def has_seen(self, key: tuple[int, int]) -> bool:
        """Return whether a process was recorded as one below the session's runner."""
        return key in self._remembered

    def is_spared(self, key: tuple[int, int]) -> bool:
        """Return whether a process was recorded as one that the runner started for itself."""
        return key in self._spared

    def used(self) -> dict[tuple[int, int], float]:
        """Return the CPU time, in seconds, of each living process that :meth:`remember` or :meth:`find` saw last."""
        used = ((key, procs.cpu_seconds(key[0])) for key in self._remembered)
        return {key: seconds for key, seconds in used if seconds is not None}

    def spare(self, key: tuple[int, int]) -> None:
        """Exclude a process that the runner started for itself, with everything below it.

        It is recorded on disk for other processes that look for this session's processes.
        """
        self._spared = {spared for spared in self._spared if procs.alive(*spared)} | {key}
        self.write()

    def write(self) -> None:
        """Write the record to disk."""
        data = {"boot_id": self._boot, "processes": sorted(self._remembered), "spared": sorted(self._spared)}
        write_atomic(self._record, json.dumps(data).encode())
        self._written = set(self._remembered)

    def group_is_ours(self) -> bool:
        """Return whether the agent's process group may be signalled: its leader has not been replaced."""
        if self.agent is None:
            return False
        leader = procs.by_pid(self.agent[0])
        return leader is not None and leader.start == self.agent[1]

    def _is_strangers(self, process: Process, env: dict[str, str]) -> bool:
        """Return whether it was spared, is another session's runner, or carries the tag of an existing session.

        A runner inherits the orphans of another runner that was started below it and killed, so a tag outweighs
        descent.
        """
        if process.key in self._spared:
            return True
        mark = env.get(procs.RUNNER_MARK)
        if mark is not None and mark != self._lock and _serves(mark, process):
            return True
        tag = env.get(procs.SESSION_TAG)
        if tag is None or tag == self._session_id or SESSION_ID.fullmatch(tag) is None:
            return False  # a text that is not a session id does not spare a process
        home = env.get(HOME) or str(Path(self._lock).parents[2])
        return os.path.isdir(os.path.join(home, "sessions", tag))  # noqa: PTH112, PTH118 - never raise

    def _hides(self, pid: int) -> bool:
        """Return whether this process is gone, or belongs to another session with everything below it."""
        process = procs.by_pid(pid)
        return process is None or self._is_strangers(process, procs.environment(pid))

    def _is_marked(self, process: Process, env: dict[str, str]) -> bool:
        return (
            env.get(procs.SESSION_TAG) == self._session_id
            or process.key in self._remembered
            or process.key == self.agent
            or self._is_in_group(process)
        )

    def _is_in_group(self, process: Process) -> bool:
        """Return whether it is in the agent's group, which is ours only while its leader lives: numbers are reused."""
        return self.agent is not None and process.group == self.agent[0] and self.group_is_ours()

    def _load(self) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
        """Load the identities of the processes seen below a runner, and of those to be spared."""
        try:
            data = json.loads(self._record.read_bytes())
            if data["boot_id"] != procs.boot_id():
                return set(), set()
            return _keys(data["processes"]), _keys(data.get("spared", ()))
        except (OSError, ValueError, KeyError, TypeError):
            return set(), set()


def _keys(pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    return {(int(pid), int(start)) for pid, start in pairs}


_MARKS = frozenset({procs.SESSION_TAG, procs.RUNNER_MARK})


def _is_old(process: Process) -> bool:
    """Return whether it is past the time between fork and exec, when a process has its parent's environment."""
    age = procs.age_seconds(process)
    return age is not None and age > YOUNG_SECONDS


def _serves(mark: str, process: Process) -> bool:
    """Return whether a process is the runner that its mark names: an agent could set the mark to be spared."""
    lock = Path(mark)
    if not os.path.exists(SessionFolder(lock.parent).poke):  # noqa: PTH110 - never raises, whatever the text
        return False
    age = procs.age_seconds(process)
    return runner_lock.is_held(lock) or (age is not None and age < YOUNG_SECONDS)
