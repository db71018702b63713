"""The launch queue: queued turns get a runner, in their order, as places become free.

There is no daemon.  The queue is served by every process that requests a turn, every runner when its turn ends, and
every command that reconciles.  Only after ``kill -9`` of the last runner does it wait for the next command.
"""

from contextlib import suppress

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.runner.hooks.hooks import serve_escalations
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.runner_process import poke, send_runner, send_waiter
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store


def pump(layout: Layout, store: Store, own: str | None = None) -> int | None:
    """Start a runner for every queued turn that gets a place, but for that of the session ``own``, which is returned.

    A runner started by another session's runner inherits that runner's environment, overridden by the values recorded
    for its own session: secrets are never stored.
    """
    if store.chains.exist():
        from agentdash.sessions.runner.queue.chains import serve_chains

        serve_chains(layout, store)
    if store.wakes.exist():
        from agentdash.sessions.runner.queue.wakes import serve_wakes

        serve_wakes(layout, store)
    if store.timed.exist():
        from agentdash.sessions.runner.queue.timed import serve_timed

        serve_timed(layout, store)
    serve_escalations(layout, store)
    kept = None
    places = store.take_places(processes.host_name())
    if places.waits is not None:
        with suppress(OSError):
            send_waiter(layout, *places.waits)
    for session_id, turn in places.taken:
        if session_id == own:
            kept = turn
            continue
        if store.is_warm(session_id) and poke(layout.session(session_id).poke):
            continue  # its runner waits with the agent
        try:
            send_runner(layout, session_id, turn, "run", store.recipe(session_id).env)
        except (OSError, AgentdashError):
            # A turn whose runner cannot be started, or whose session was deleted, must not hold up the others.
            store.give_place_back(session_id, turn)
    return kept
