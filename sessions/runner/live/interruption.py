"""The interruption of a live agent's turn at the request of a front end: the request, and the receipt."""

import time
from collections.abc import Callable

from agentdash.sessions.model.session import Ended, Receipt, Status, StoppedBy
from agentdash.sessions.model.stops import given_reason
from agentdash.sessions.runner.live.turn import LiveTurn
from agentdash.sessions.runner.processes.process_ownership import SessionProcesses
from agentdash.sessions.runner.processes.processes import Process
from agentdash.sessions.storage.turns.turn_log import TurnLog


class Interruption:
    """Interrupts one turn; its process lives on.

    Args:
        log: records the progress, and answers the request.
        requester: returns who requested it, with the reason.
        guarded: runs an action that may fail because the disk is full.
    """

    def __init__(
        self,
        log: TurnLog,
        session_id: str,
        turn: int,
        processes: SessionProcesses,
        requester: Callable[[], str],
        guarded: Callable[[Callable[[], object]], object],
    ) -> None:
        self._log = log
        self._session = session_id
        self._turn = turn
        self._processes = processes
        self._requester = requester
        self._guarded = guarded
        self.by: str = StoppedBy.YOU
        """The requester, with the reason."""
        self._running: dict[tuple[int, int], Process] | None = None
        """The processes of the session when the agent was asked, by identity; None before that."""

    def ask(self, turn: LiveTurn, now: float, patience: float) -> bool:
        """Ask the agent to end its turn; False if it did not within ``patience`` seconds."""
        if self._running is None:
            self._running = self._processes.find()
        due = turn.interrupt(now) + patience
        self.by = self._requester()
        self._guarded(lambda: self._log.stopping(self.by))
        return now < due

    def receipt(self, began: float) -> Receipt:
        """Return the receipt of an interruption that was requested at a time of the monotonic clock."""
        # The agent ended these with its turn: they got no signal from us.
        living = self._processes.find()
        gone = (process for key, process in (self._running or {}).items() if key not in living)
        return Receipt(
            session=self._session,
            status=Status.STOPPED,
            ended=tuple(Ended(pid=one.pid, command=one.command, signal=None, observed=True) for one in gone),
            duration_ms=round((time.monotonic() - began) * 1000),
            note="turn interrupted",
            reason=given_reason(self.by),
        )

    def answer_late(self) -> None:
        """Answer a request that came when the turn had ended."""

        def answer() -> None:
            status, note = self._log.status() or Status.DONE, f"turn {self._turn} had ended"
            self._log.answer(Receipt(session=self._session, status=status, note=note))

        self._guarded(answer)
