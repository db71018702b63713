"""The process that waits for a time, and then serves the queue.

The ends of workers are gathered until then, a budget begins again, or a prompt is due.

``python -P -m agentdash.sessions.runner.queue.wake_process HOME LEAD MILLISECONDS wait``.  It holds no state: if
it is killed, the next process that serves the queue does the same.  It signs a lock in the folder of the lead, so that
no runner takes it for a process of its agent.
"""

import sys
import time
from contextlib import suppress
from pathlib import Path

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.runner.base_environment import serves
from agentdash.sessions.runner.own_code import keep
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.runner.queue.pump import pump
from agentdash.sessions.runner.spawn import clean_signals
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store

LONGEST_SLEEP_SECONDS = 60.0
"""A process that sleeps until midnight checks this often whether the machine slept, and the state folder is there."""


def main(argv: list[str]) -> int:
    """Wait, and serve the queue; the arguments are described at the top of this module."""
    home, lead, milliseconds = argv[:3]
    clean_signals()
    keep()
    layout = Layout(Path(home))
    with suppress(OSError, AgentdashError):  # the lead was deleted
        lock = runner_lock.hold(layout.session(lead).waiter_lock)
        if lock is not None:
            lock.sign()
    try:
        if not _wait(layout, now_ms() + int(milliseconds)):
            return 0
        store = Store(layout.database)
        serves(store, lead)
        pump(layout, store)
        store.close()
    except AgentdashError as error:
        print(error, file=sys.stderr)  # noqa: T201 - the runner's log of the lead
        return 1
    return 0


def _wait(layout: Layout, due_at: int) -> bool:
    """Wait until ``due_at`` (UTC ms) of the wall clock, or until a prompt is due; False if the state folder is gone."""
    host, lock = processes.host_name(), None
    while (rest := due_at - now_ms()) > 0:
        if not layout.database.exists():
            return False
        if rest > LONGEST_SLEEP_SECONDS * 1000 and _is_due(layout, host):
            return True
        with suppress(OSError):
            lock = lock or runner_lock.hold(layout.waiters(host))  # one of those that wait shows that they live
        time.sleep(min(rest / 1000, LONGEST_SLEEP_SECONDS))
    return True


def _is_due(layout: Layout, host: str) -> bool:
    """Return whether a prompt is due: the process that waits for its time may have been killed."""
    store = Store(layout.database)
    try:
        at = store.timed.next_at(host)
    finally:
        store.close()
    return at is not None and at <= now_ms()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
