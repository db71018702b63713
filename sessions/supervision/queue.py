"""The launch queue: queued turns get a runner, in their order, as places become free.

There is no daemon that could do it.  Whoever asks for a turn looks at the queue, every runner does when its turn
ends, and so does every command that settles.  Only after the last runner was killed with -9 does the queue wait for
the next command.
"""

from ..errors import AgentdashError
from ..storage.paths import Layout
from ..storage.store import Store
from . import processes
from .runner_process import send_runner


def pump(layout: Layout, store: Store) -> None:
    """Send a runner for every queued turn that has a place.

    A runner that is sent by another session's runner has that one's environment, with the values recorded for
    its own session on top: secrets are never stored.
    """
    for session_id, turn in store.take_places(processes.host_name()):
        try:
            send_runner(layout, session_id, turn, "run", store.recipe(session_id).env)
        except (OSError, AgentdashError):
            # One that cannot be sent, or was deleted meanwhile, must not hold up the others.
            store.give_place_back(session_id, turn)
