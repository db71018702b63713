"""Start the runner of a turn, and wake a running one."""

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from agentdash.sessions.runner.base_environment import base_for, overridden
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.processes.processes import RUNNER_MARK
from agentdash.sessions.runner.processes.runner_lock import arguments
from agentdash.sessions.storage.paths import Layout

RUNNER = "agentdash.sessions.runner.runner"


def send_runner(layout: Layout, session_id: str, turn: int, mode: str, env: Mapping[str, str | None]) -> None:
    """Start the runner of a turn in a process session of its own, so that it outlives the caller.

    ``env`` holds the values of the adapter's ``env_keys``, recorded when the session began (None: it was not set).
    The rest is the caller's environment, without the tags of a session that the caller may be part of; of a caller
    inside a session only what the session began with (:mod:`.base_environment`).
    """
    folder = layout.session(session_id)
    if not folder.path.is_dir():
        folder.create()  # it was removed, but the runner that ends its processes needs a lock to hold
    log = os.open(folder.runner_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", RUNNER, *arguments(layout.home, session_id, turn, mode)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=overridden(base_for(folder), env) | {RUNNER_MARK: str(folder.lock)},
            start_new_session=True,
        )
    finally:
        os.close(log)
    # A long-lived front end must not collect zombies; a short-lived one leaves the runner to init.
    threading.Thread(target=process.wait, name=f"reap runner {process.pid}", daemon=True).start()


def living_runners() -> frozenset[Path]:
    """Return the locks of the sessions whose runner's process lives, even if it is too young to hold the lock."""
    marks = {pid: mark for pid in processes.scan() if (mark := processes.environment(pid).get(RUNNER_MARK))}
    found = ((processes.by_pid(pid), mark) for pid, mark in marks.items())
    return frozenset(Path(mark) for process, mark in found if process is not None and RUNNER in process.command)


def poke(fifo: Path) -> bool:
    """Wake the session's runner; False if there is none."""
    try:
        descriptor = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENXIO, errno.ENOENT):
            return False
        raise
    try:
        os.write(descriptor, b"!")
    except BlockingIOError:
        pass  # it is full of pokes already
    except BrokenPipeError:
        return False  # it ended between the two calls
    finally:
        os.close(descriptor)
    return True
