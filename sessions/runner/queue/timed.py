"""Send the prompts whose time has come, and have a process wait for the next time.

Each process that serves the launch queue does this first (:mod:`.pump`).  Times are those of the wall clock, and a
process that waits checks it again each minute: a machine that slept, and a clock that was set, delay a prompt by a
minute at most.  After a restart of the machine the next command sends what is due.
"""

from contextlib import suppress

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.model.session import Status
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.queue.next_turn import builder
from agentdash.sessions.runner.runner_process import poke, send_waiter
from agentdash.sessions.storage.files.session_record import write_identity
from agentdash.sessions.storage.paths import Layout, is_held
from agentdash.sessions.storage.prompts.timed import Ripe
from agentdash.sessions.storage.store import Store


def serve_timed(layout: Layout, store: Store) -> None:
    """Begin the turns of prompts that are due; start a process that waits for the next one."""
    host, now = processes.host_name(), now_ms()
    for ripe in store.timed.ripen(host, now):
        store.ripened.append(ripe)
        with suppress(OSError, AgentdashError):  # one session must not hold up the others
            _send(layout, store, ripe)
    waits = store.timed.begin_wait(host, now, lambda: is_held(layout.waiters(host)))
    if waits is not None:
        with suppress(OSError):
            send_waiter(layout, *waits)


def _send(layout: Layout, store: Store, ripe: Ripe) -> None:
    """Begin the turn of a prompt if its session is free; a live agent may read it in its running turn."""
    session, folder = store.session(ripe.session), layout.session(ripe.session)
    # A lost turn may have left processes: the check of dead runners decides about its prompts.
    if session is not None and session.status is not Status.LOST:
        if store.queue.advance(session.id, builder(layout, store)) is not None:
            write_identity(store, folder)
        poke(folder.poke)
