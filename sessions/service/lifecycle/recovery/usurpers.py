"""The processes of a session that hold the lock of its runner, although they are not the runner.

A program may lock a file that it can only read.  An agent that kills its runner and takes the lock would run on without
limits: no other runner could take the session over, and none could stop it.
"""

import time
from contextlib import suppress

from agentdash.sessions.model.session import Turn
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.runner.processes.process_ownership import SessionProcesses
from agentdash.sessions.runner.processes.processes import Process
from agentdash.sessions.storage.paths import SessionFolder

SURE_SECONDS = 0.3
"""A command of agentdash inside a session that concludes a turn holds the lock for a shorter time."""


def runner_is_gone(folder: SessionFolder) -> bool:
    """Return whether the runner that signed the lock is dead.

    False for a runner that is in another pid namespace, or that could not sign (a full disk).
    """
    words = (runner_lock.signature(folder.lock) or "").split()
    if len(words) < 4 or not words[0].isdecimal() or not processes.is_here(words[2], words[3]):
        return False
    process = processes.by_pid(int(words[0]), commands=False)
    return process is None or process.zombie or str(process.start) != words[1]


def end_usurpers(folder: SessionFolder, turn: Turn) -> bool:
    """Kill the processes of a session that hold its lock in the place of a dead runner; return whether there were any.

    A holder that is not one of the session's processes, such as the command that concludes its turn, is left alone.
    """
    found = _usurpers(folder, turn)
    if not found:
        return False
    time.sleep(SURE_SECONDS)
    still = _usurpers(folder, turn)
    ended = [one for key, one in found.items() if key in still and processes.send_kill(one)]
    with suppress(OSError), folder.runner_log.open("a") as log:
        log.writelines(f"process {one.pid} was killed: it held the lock of the runner\n" for one in ended)
    return bool(ended)


def _usurpers(folder: SessionFolder, turn: Turn) -> dict[tuple[int, int], Process]:
    if not runner_is_gone(folder):
        return {}
    own = SessionProcesses.of_turn(folder, turn).find(patient=False)
    return {one.key: one for one in processes.lock_holders(folder.lock) if one.key in own}
