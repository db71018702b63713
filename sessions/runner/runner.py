"""The runner: one small process per live session, which owns the agent and records its turn.

``python -P -m agentdash.sessions.runner.runner HOME SESSION TURN MODE``, where MODE is

``run``    start a queued turn and see it through,
``adopt``  take over a turn whose runner was killed while its agent lives on,
``warm``   take over a live agent that waits for prompts and whose runner was killed,
``sweep``  end the processes that an ended or lost session has left.

It holds the session's lock for its whole life, and goes on with the next prompt of the session's queue.  It spawns
the agent first and keeps straight after what it may have to import later (:mod:`.own_code`): an upgrade may replace
the files during the turn.  Runners of other versions start this module by its name and with these arguments.
"""

import contextlib
import sys
from pathlib import Path

from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.model.session import LIVE, Status
from agentdash.sessions.runner.base_environment import serves
from agentdash.sessions.runner.live.reach import orphan
from agentdash.sessions.runner.live.warm import Warm
from agentdash.sessions.runner.own_code import keep
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.runner.spawn import clean_signals
from agentdash.sessions.runner.stop_signals import StopSignals
from agentdash.sessions.runner.turn.turn_runner import TurnRunner
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store

CACHE_KIB = 200
"""Pages of the database that each of its two connections keeps: it reads the rows of one session."""

LOCK_SECONDS = 5.0
"""Maximum wait of a starting runner for an ending one."""


def main(argv: list[str]) -> int:
    """Serve a turn, and those that follow it at once; the arguments are described at the top of this module."""
    home, session_id, turn, mode = argv
    clean_signals()
    processes.become_subreaper()
    layout = Layout(Path(home))
    try:
        lock = runner_lock.hold(layout.session(session_id).lock, LOCK_SECONDS)
    except FileNotFoundError:
        return 0  # deleted before the runner started
    if lock is None:
        return 0
    with lock:
        lock.sign()
        try:
            _serve(layout, session_id, int(turn), mode)
        except StoreError as error:
            # No agent was started, or the store is unwritable: the next command that reconciles starts a new runner.
            print(error, file=sys.stderr)  # noqa: T201 - runner.log
            return 1
    return 0


def _serve(layout: Layout, session_id: str, turn: int, mode: str) -> None:
    """Serve turns of a session until none is left for this process."""
    if mode != "run":
        keep()  # an agent or its processes live
    store, signals = Store(layout.database, CACHE_KIB), StopSignals()
    serves(store, session_id)
    if mode == "warm":
        if store.session(session_id) is None:
            return  # deleted before the runner started
        turn, mode = serve_from(store, session_id)
    following: int | None = turn
    live = orphan(layout.session(session_id), store, turn + 1, also_gone=True) if mode == "warm" else None
    while following is not None:
        if mode == "warm":
            following, mode = Warm(layout, store, signals, session_id, following, live).wait()
            live = live if live is not None and live.alive else None
            continue
        with contextlib.closing(TurnRunner(layout, store, signals, session_id, following, live)) as runner:
            {"run": runner.run, "own": runner.own, "adopt": runner.adopt, "sweep": runner.sweep}[mode]()
            runner.pass_on()  # also if no agent was started
        live = runner.live
        if live is not None and runner.own_turn is not None:
            following, mode = runner.own_turn, "own"
        elif runner.next_turn is not None or live is None:
            following, mode = runner.next_turn, "run"
        else:
            mode = "warm"


def serve_from(store: Store, session_id: str) -> tuple[int, str]:
    """Return the turn after which an agent waits, and ``warm``; ``adopt`` and the turn that runs if one does.

    This runner may have waited for the lock while another one began the next turn and was killed.
    """
    newest = store.newest_turn(session_id)
    if newest.status in LIVE:
        return newest.n, "adopt"
    return newest.n - (newest.status is Status.QUEUED), "warm"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
