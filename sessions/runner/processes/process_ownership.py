"""Find the processes that belong to a session.

A process is ours if it descends from this runner, carries the session's tag, is in the agent's process group, or was
seen below the runner earlier.  Another session's living runner and everything below it are never ours: without that
rule, stopping an outer session would kill an inner one.  Of a process's own environment only the tag is read, and it
can only name a session, because a program sets its environment as it likes: a process with another session's tag is
spared if a runner of that session has recorded it.

The agent's own process group can outlive the process that agentdash started.  An npm package starts the program proper
as a child (codex 0.169): if only the launcher is killed, the program goes on with the turn, unsupervised, and may write
the prompt into the conversation later.  The commands that an agent runs have groups of their own.
"""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Self

from agentdash.sessions.model.session import Turn
from agentdash.sessions.runner.processes import processes as procs
from agentdash.sessions.runner.processes import runner_lock
from agentdash.sessions.runner.processes.processes import RUN_TAG, Process
from agentdash.sessions.runner.processes.runner_lock import YOUNG_SECONDS, is_proven, is_young, lock_of
from agentdash.sessions.storage.paths import SESSION_ID, SessionFolder, write_atomic


class SessionProcesses:
    """The processes of one session, as its runner finds them."""

    def __init__(self, session_id: str, lock: Path, record: Path) -> None:
        self._session_id = session_id
        self._lock = lock
        self._home = lock.parent.parent.parent
        self._record = record
        self._remembered, self._spared = _load(record)
        self._written: set[tuple[int, int]] = set(self._remembered)
        self._boot = procs.boot_id()
        self._plain: set[tuple[int, int]] = set()
        self.agent: tuple[int, int] | None = None
        """Pid and start time of the agent, which leads its own process group."""
        self.undecided: set[tuple[int, int]] = set()
        """Processes that the last :meth:`find` left out: each may be ours, or a runner that has no lock yet."""

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

    def find(self, *, patient: bool = True) -> dict[tuple[int, int], Process]:
        """Return all our living processes by identity, without the runner itself.

        ``patient`` leaves out what may be another session's runner that has just been started (:attr:`undecided`).
        """
        self.undecided = set()
        processes = procs.scan()
        tags = self._tags(processes)
        runners = self._runners(processes)

        @cache
        def hides(pid: int) -> bool:
            return pid in runners or self._is_strangers(processes[pid], tags[pid], patient)

        marked = {pid for pid, process in processes.items() if self._is_marked(process, tags[pid]) and not hides(pid)}
        ours = marked | {process.pid for process in procs.descendants(processes, runners | marked, hides)}
        looked = (procs.by_pid(pid) for pid in sorted(ours) if not processes[pid].zombie)
        living = {p.key: p for p in looked if p is not None and p.start == processes[p.pid].start and not p.zombie}
        self._remembered |= set(living)
        return living

    def runner(self) -> Process | None:
        """Return the session's runner, if it lives."""
        pids = self._runners(procs.scan())
        return procs.by_pid(pids.pop()) if len(pids) == 1 else None

    def _runners(self, processes: dict[int, Process]) -> set[int]:
        """Return the pid of our runner, if it lives."""
        signer = runner_lock.signer(self._lock)
        if signer is not None:
            return {signer[0]} if signer[0] in processes and processes[signer[0]].key == signer else set()
        if runner_lock.signature(self._lock) != "" or not runner_lock.is_held(self._lock):
            return set()
        # On a full disk a runner cannot sign its lock.
        return {pid for pid in processes if lock_of(self._home, pid) == self._lock}

    def _tags(self, processes: dict[int, Process]) -> dict[int, str | None]:
        """Return the tag of each process; the environment of an old process without one is read only once."""
        tags = {}
        plain = set()
        for pid, process in processes.items():
            tag = None if process.key in self._plain else procs.environment(pid).get(procs.SESSION_TAG)
            tags[pid] = tag
            # Between fork and exec a process has its parent's environment: one that is older keeps its own.
            age = procs.age_seconds(process) if tag is None and process.key not in self._plain else None
            if tag is None and (process.key in self._plain or (age is not None and age > YOUNG_SECONDS)):
                plain.add(process.key)
        self._plain = plain
        return tags

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

    def _is_strangers(self, process: Process, tag: str | None, patient: bool = True) -> bool:
        """Return whether it was spared, is another session's runner, or was recorded by the session of its tag.

        A runner inherits the orphans of another runner that was started below it and killed: they have the tag of the
        other session, whose record names them.
        """
        if process.key in self._spared:
            return True
        lock = lock_of(self._home, process.pid)
        if lock is not None:
            if lock != self._lock and is_proven(lock, process):
                return True
            if patient and is_young(process):
                self.undecided.add(process.key)
                return True
        if tag is None or tag == self._session_id or not SESSION_ID.fullmatch(tag):
            return False
        recorded, _ = _load(SessionFolder(self._lock.parent.parent / tag).procs)
        return process.key in recorded

    def _hides(self, pid: int) -> bool:
        """Return whether this process is gone, or belongs to another session with everything below it."""
        process = procs.by_pid(pid)
        return process is None or self._is_strangers(process, procs.environment(pid).get(procs.SESSION_TAG))

    def _is_marked(self, process: Process, tag: str | None) -> bool:
        if tag == self._session_id or process.key in self._remembered or process.key == self.agent:
            return True
        # The agent's group is ours only while its leader lives: numbers are reused.
        return self.agent is not None and process.group == self.agent[0] and self.group_is_ours()


def _load(record: Path) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Load the identities of the processes seen below a runner, and of those to be spared."""
    try:
        data = json.loads(record.read_bytes())
        if data["boot_id"] != procs.boot_id():
            return set(), set()
        return _keys(data["processes"]), _keys(data.get("spared", ()))
    except (OSError, ValueError, KeyError, TypeError):
        return set(), set()


def _keys(pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    return {(int(pid), int(start)) for pid, start in pairs}


def group_members(run_id: str, leader: int | None) -> list[Process]:
    """Return the living processes of a turn in its agent's group; all of the turn if the leader is not known."""
    return [
        process
        for process in procs.scan().values()
        if not process.zombie
        and leader in (None, process.group)
        and procs.environment(process.pid).get(RUN_TAG) == run_id
    ]


def kill_group(run_id: str, leader: tuple[int, int] | None) -> bool:
    """Kill the members that live; False if none does.  ``leader``: pid and start time of the agent's first process."""
    sent = []
    for process in group_members(run_id, leader[0] if leader is not None else None):
        with suppress(PermissionError):  # of another user: it stays, and is shown as left
            sent.append(procs.send_kill(process))
    return any(sent)
