"""Stop a session whose rows cannot be read: its runner is found by its lock, and its processes by their own evidence.

The runner needs no row to end its agent.  It goes on trying to record the end, and ``doctor --rebuild`` concludes it.
"""

import signal
import time

from ..clock import monotonic
from ..errors import AgentdashError, AmbiguousSessionError, StoreError
from ..launch import Ladder
from ..model import Ended, Receipt, Status, short_id
from ..processes import processes as procs
from ..processes.process_ownership import SessionProcesses
from ..processes.stop_ladder import KILL_PATIENCE
from ..storage.paths import SESSION_ID, Layout
from ..text.units import count
from .stop import continue_runner

POLL_SECONDS = 0.05
LEAST_ID = 4
"""Characters that a shortened id needs at least."""


def stop_unread(layout: Layout, ref: str, why: StoreError) -> Receipt:
    """Stop the session with this id, or with an id that begins so, and wait until its processes are gone.

    Args:
        layout: the state folder.
        ref: the id.
        why: the error that kept its rows from being read, which is raised again if the session has no runner.

    Raises:
        AmbiguousSessionError: several ids begin so.
        StoreError: no session has this id, or no runner of it lives.
        AgentdashError: its runner did not end its processes.
    """
    folder = layout.session(_found(layout, ref, why))
    living = SessionProcesses(folder.id, folder.lock, folder.procs)
    runner = living.runner()
    if runner is None:
        raise why
    before = living.find()
    continue_runner(layout, folder.id)
    procs.send(runner, signal.SIGUSR1)
    ladder = Ladder()
    deadline = monotonic() + ladder.interrupt + ladder.terminate + ladder.sweep + 2 * KILL_PATIENCE
    while left := living.find():
        if monotonic() > deadline:
            raise AgentdashError(f"{why} {count(len(left), 'process is', 'processes are')} left in {folder.id}.")
        time.sleep(POLL_SECONDS)
    ended = tuple(Ended(pid=p.pid, command=p.command, signal=None, observed=True) for p in before.values())
    return Receipt(session=folder.id, status=Status.STOPPED, ended=ended, note=f"not recorded: {why}")


def _found(layout: Layout, ref: str, why: StoreError) -> str:
    wanted = ref.strip().lower()
    if len(wanted) < LEAST_ID or not layout.sessions.is_dir():
        raise why
    ids = [entry.name for entry in layout.sessions.iterdir() if SESSION_ID.fullmatch(entry.name)]
    fits = [one for one in ids if one.startswith(wanted)]
    if not fits:
        raise why
    if len(fits) > 1:
        raise AmbiguousSessionError(f"Several session ids begin with {wanted}: {', '.join(map(short_id, fits[:5]))}.")
    return fits[0]
