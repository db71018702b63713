"""The stop of a turn's processes, with its progress recorded for front ends."""

from collections.abc import Callable

from msgspec import structs

from ...launch import Ladder
from ...model import Left, Receipt, Status
from ...processes.process_ownership import SessionProcesses
from ...processes.stop_ladder import Phase, Stop
from ...storage.turns.turn_log import TurnLog
from ...values.stops import given_reason
from ..child import AgentChild


class TurnStop:
    """Climbs the ladder, or only sweeps if the agent is gone.

    Args:
        processes: those of the session.
        child: the agent.
        ladder: how long each signal is given.
        log: the record of the turn.
        guarded: runs an action that may fail because the disk is full.
        now: the time on the monotonic clock.
        waited: the seconds since the stop was requested, which the receipt counts too.
    """

    def __init__(
        self,
        processes: SessionProcesses,
        child: AgentChild,
        ladder: Ladder,
        log: TurnLog,
        guarded: Callable[[Callable[[], object]], object],
        now: float,
        waited: float = 0.0,
    ) -> None:
        child.forget()
        self._stop = Stop(processes, ladder, lambda: not child.gone, now)
        self._stop.reaped = child.reaped
        self._waited_ms = round(waited * 1000)
        self._log = log
        self._guarded = guarded
        self._phase: Phase | None = None

    @property
    def left(self) -> tuple[Left, ...]:
        """The processes that could not be ended."""
        return self._stop.left

    def hurry(self, now: float) -> None:
        """Go to SIGKILL at once."""
        self._stop.hurry(now)

    def advance(self, now: float) -> bool:
        """Take the steps that are due, and record the progress; return whether nothing is left to do."""
        self._stop.tick(now)
        if self._stop.phase is not self._phase and not self._stop.over:
            self._phase = self._stop.phase
            self._guarded(lambda: self._log.rung(self._stop.stage(now)))
        return self._stop.over

    def record_sweep(self) -> None:
        """Record what is left of a turn whose end was recorded before."""
        self._guarded(lambda: self._log.left(self._stop.left))
        self._guarded(lambda: self._log.rung(None))

    def receipt(self, session_id: str, status: Status, now: float, by: str | None) -> Receipt:
        """Return what was ended and what is left, with the reason that the requester gave."""
        receipt = self._stop.receipt(session_id, status, now)
        return structs.replace(
            receipt, duration_ms=(receipt.duration_ms or 0) + self._waited_ms, reason=given_reason(by)
        )
