"""The needs of workers that their leads did not answer in time: from then on they count for the user."""

from collections.abc import Callable

from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store


def serve_escalations(layout: Layout, store: Store, spare: Callable[[tuple[int, int]], None] = lambda _: None) -> None:
    """Record the workers whose leads did not answer in time, and run the user's hook for each.

    ``spare`` is that of :class:`.hooks.Hooks`.  Every runner calls this while its turn runs: while a lead is at work,
    its runner lives.
    """
    for session_id in store.escalate():
        session = store.session(session_id)
        if session is None:
            continue
        from agentdash.sessions.runner.hooks.hooks import run_end_hook

        run_end_hook(layout, store, session_id, session.turn, session.status, session.reason, spare)
