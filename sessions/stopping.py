"""Asking for a stop, and making sure that somebody carries it out."""

import time
from collections.abc import Callable

from .agents.table import agent_named
from .clock import monotonic
from .errors import AgentdashError, SessionBusyError
from .launching import poke, send_runner
from .layout import Layout
from .model import Receipt, Session, Status, Turn
from .settling import survivors
from .store.store import Store
from .supervision import locks, procs
from .supervision.ladder import KILL_PATIENCE

POLL_SECONDS = 0.05
REACTION_SECONDS = 5.0
"""What a runner may need beyond its ladder before it is taken for stuck."""


def stop_session(
    layout: Layout, store: Store, session: Session, *, settle: Callable[[], None], now: bool = False
) -> Receipt:
    """Stop a session and wait for the receipt.

    Stopping what has ended changes nothing, unless it left processes behind: those are ended.

    Raises:
        AgentdashError: no runner could be brought to do it.
        SessionBusyError: it runs on another host.
    """
    turn = store.turns(session.id)[-1]
    if turn.status is Status.QUEUED and store.cancel_queued(session.id, turn.n, Status.STOPPED, "stopped by you"):
        return Receipt(session=session.id, status=Status.STOPPED, note="it had not started yet")
    folder = layout.session(session.id)
    if turn.status.ended and not locks.is_held(folder.lock) and not survivors(layout, turn):
        return Receipt(session=session.id, status=turn.status, note=f"nothing to stop: it is {turn.status}")
    request = store.request(session.id, "kill" if now else "stop", "you")
    launch = store.launch(session.id, turn.n)
    ladder = (launch and launch.ladder) or agent_named(session.agent).ladder
    patience = ladder.interrupt + ladder.terminate + ladder.sweep + 2 * KILL_PATIENCE + REACTION_SECONDS
    return _Errand(layout, store, session.id, request, settle).run(patience)


class _Errand:
    """One request on its way to a runner: a living one, an adopting one, or one that only sweeps."""

    def __init__(self, layout: Layout, store: Store, session_id: str, request: int, settle: Callable[[], None]) -> None:
        self._layout = layout
        self._store = store
        self._session = session_id
        self._request = request
        self._settle = settle
        self._folder = layout.session(session_id)
        self._sent_at = 0.0

    def run(self, patience: float) -> Receipt:
        for attempt in (1, 2):
            deadline = monotonic() + patience
            while monotonic() < deadline:
                receipt = self._store.answered(self._request)
                if receipt is not None:
                    return receipt
                self._wake()
                time.sleep(POLL_SECONDS)
            if attempt == 1:
                self._kill_runner()
        short = self._session[:8]
        raise AgentdashError(
            f"Session {short} did not react to the stop. `agentdash explain {short}` tells more;"
            f" its runner's log is {self._folder.runner_log}."
        )

    def _wake(self) -> None:
        if locks.is_held(self._folder.lock):
            poke(self._folder.poke)
            return
        turns = self._store.turns(self._session)
        if not turns:
            raise SessionBusyError(f"Session {self._session[:8]} was deleted meanwhile.")
        # A runner just sent needs a moment before it holds the lock.
        if monotonic() - self._sent_at < REACTION_SECONDS:
            return
        self._sent_at = monotonic()
        if turns[-1].status.ended:
            send_runner(self._layout, self._session, turns[-1].n, "sweep", {})
        else:
            self._settle()
            self._sent_at = monotonic() if not self._ended() else 0.0

    def _ended(self) -> bool:
        return self._store.turns(self._session)[-1].status.ended

    def _kill_runner(self) -> None:
        """A runner that does not react is killed, by identity; another one takes over."""
        turn: Turn = self._store.turns(self._session)[-1]
        found = procs.look(turn.runner_pid) if turn.runner_pid is not None else None
        if found is not None and found.start == turn.runner_start:
            procs.send_kill(found)
