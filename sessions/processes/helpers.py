"""agentdash's own processes in the tree below an agent: the runners of other sessions, and the processes that wait.

An agent can start sessions, so their runners descend from its own runner, and so does a process that waits for the
queue's sake.  A program chooses its own command line and environment, so neither proves anything.  The command line
only names a lock of the state folder; the proof is that the lock is held and that the process's identity is written in
it.  A program can lock a file that it can only read, but it cannot write there.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from ..storage.paths import SESSION_ID, SessionFolder
from . import processes, runner_lock
from .processes import Process

RUNNER_MODES = frozenset({"run", "adopt", "warm", "sweep"})
WAITER_MODE = "wait"

YOUNG_SECONDS = 10.0
"""Age below which such a process may not hold its lock yet."""


class Helpers:
    """The processes of agentdash that work for a state folder."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def lock_of(self, pid: int) -> Path | None:
        """Return the lock that a process should hold by its command line; None for any other program.

        The last arguments of agentdash's processes are the state folder, a session, a number, and what they do.
        """
        argv = processes.arguments(pid)
        if len(argv) < 5 or not SESSION_ID.fullmatch(argv[-3]) or not argv[-2].isdecimal():
            return None
        folder = SessionFolder(self._home / "sessions" / argv[-3])
        lock = folder.lock if argv[-1] in RUNNER_MODES else folder.waiter_lock if argv[-1] == WAITER_MODE else None
        return lock if lock is not None and _same(argv[-4], self._home) else None


def is_proven(lock: Path, process: Process) -> bool:
    """Return whether a process holds a lock of the state folder as its signer; on a full disk it signs none."""
    return runner_lock.is_held(lock) and runner_lock.signature(lock) in (runner_lock.identity(process), "")


def is_young(process: Process) -> bool:
    """Return whether a process may not have taken its lock yet."""
    age = processes.age_seconds(process)
    return age is not None and age < YOUNG_SECONDS


def arguments(home: Path, session_id: str, number: int, mode: str) -> Sequence[str]:
    """Return the last arguments of a process of agentdash, by which it is found."""
    return str(home), session_id, str(number), mode


def _same(given: str, home: Path) -> bool:
    try:
        return os.path.samefile(given, home)  # noqa: PTH121 - the text can be anything
    except (OSError, ValueError):
        return False
