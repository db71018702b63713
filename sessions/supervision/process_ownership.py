"""Which processes belong to a session.

Ours is what descends from this runner, carries the session's tag, is in the agent's process group, or was seen
below it earlier.  Another session's runner, what carries another session's tag, and everything below those is never
ours: without that rule, stopping an outer session would kill an inner one.
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
"""A runner that has just been sent does not hold its lock yet."""


class Kin:
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
        """Pid and start time of the agent, which is the leader of its own process group."""

    @classmethod
    def of_turn(cls, folder: SessionFolder, turn: Turn | None) -> Self:
        """The processes of a session, from its newest turn; the agent's pid counts only where it means something."""
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
        """All our living processes by identity; the runner itself is not among them."""
        processes = procs.scan()
        environments = self._environments(processes)
        marks = {pid: mark for pid, env in environments.items() if (mark := env.get(procs.RUNNER_MARK))}
        runners = {pid for pid, mark in marks.items() if mark == self._lock}
        strangers = {pid for pid, p in processes.items() if self._is_strangers(p, environments[pid])} - runners
        marked = {pid for pid, p in processes.items() if self._is_marked(p, environments[pid])} - strangers - runners
        below = procs.descendants(processes, runners | marked, lambda pid: pid in strangers)
        ours = marked | {p.pid for p in below} - runners
        looked = (procs.look(pid) for pid in sorted(ours) if not processes[pid].zombie)
        found = {p.key: p for p in looked if p is not None and p.start == processes[p.pid].start and not p.zombie}
        self._remembered |= set(found)
        return found

    def _environments(self, processes: dict[int, Process]) -> dict[int, dict[str, str]]:
        """What each process was started with; an old one without any of our marks is not read a second time."""
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

        A process that cleared its environment can be found by nothing else once its runner is dead.
        """
        tree = {process.key for process in procs.tree(os.getpid(), self._hides)}
        if self.agent is not None:
            tree |= {self.agent}
            tree |= {process.key for process in procs.tree(self.agent[0], self._hides)}
        self._remembered = {key for key in self._remembered | tree if procs.alive(*key)}
        if self._remembered != self._written:
            self.write()

    def used(self) -> dict[tuple[int, int], float]:
        """The processor time of each living process that the last :meth:`remember` or :meth:`find` saw, in seconds."""
        told = ((key, procs.cpu_seconds(key[0])) for key in self._remembered)
        return {key: seconds for key, seconds in told if seconds is not None}

    def spare(self, key: tuple[int, int]) -> None:
        """A process of the runner's that is none of the agent's: it and all below it are never ours.

        It is put on disk for whoever looks from outside.
        """
        self._spared = {spared for spared in self._spared if procs.alive(*spared)} | {key}
        self.write()

    def write(self) -> None:
        """Put the record on disk."""
        data = {"boot_id": self._boot, "processes": sorted(self._remembered), "spared": sorted(self._spared)}
        write_atomic(self._record, json.dumps(data).encode())
        self._written = set(self._remembered)

    def group_is_ours(self) -> bool:
        """Whether the agent's process group may be signalled: its leader has not been replaced."""
        if self.agent is None:
            return False
        leader = procs.look(self.agent[0])
        return leader is not None and leader.start == self.agent[1]

    def _is_strangers(self, process: Process, env: dict[str, str]) -> bool:
        """Whether it was spared, is another session's runner, or carries the tag of a session that is there.

        A runner inherits the orphans of another one that was started below it and killed: descent alone proves
        nothing against a tag.
        """
        if process.key in self._spared:
            return True
        mark = env.get(procs.RUNNER_MARK)
        if mark is not None and mark != self._lock and _serves(mark, process):
            return True
        tag = env.get(procs.SESSION_TAG)
        if tag is None or tag == self._session_id or SESSION_ID.fullmatch(tag) is None:
            return False  # what is no id of ours is no reason to spare anybody
        home = env.get(HOME) or str(Path(self._lock).parents[2])
        return os.path.isdir(os.path.join(home, "sessions", tag))  # noqa: PTH112, PTH118 - never raise

    def _hides(self, pid: int) -> bool:
        """Whether everything from this process on belongs to somebody else."""
        process = procs.look(pid)
        return process is None or self._is_strangers(process, procs.environment(pid))

    def _is_marked(self, process: Process, env: dict[str, str]) -> bool:
        return (
            env.get(procs.SESSION_TAG) == self._session_id
            or process.key in self._remembered
            or process.key == self.agent
            or self._is_in_group(process)
        )

    def _is_in_group(self, process: Process) -> bool:
        """While its leader lives the group is ours; without it the number may be anybody's."""
        return self.agent is not None and process.group == self.agent[0] and self.group_is_ours()

    def _load(self) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
        """The identities of what was seen below a runner, and of what is to be spared."""
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
    """Past the moment between fork and exec, in which a process still has its parent's environment."""
    age = procs.age_seconds(process)
    return age is not None and age > YOUNG_SECONDS


def _serves(mark: str, process: Process) -> bool:
    """Whether a process is the runner it says it is: an agent could set the mark to be spared."""
    lock = Path(mark)
    if not os.path.exists(SessionFolder(lock.parent).poke):  # noqa: PTH110 - never raises, whatever the text
        return False
    age = procs.age_seconds(process)
    return runner_lock.is_held(lock) or (age is not None and age < YOUNG_SECONDS)
