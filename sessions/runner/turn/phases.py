"""The phases of a turn at its runner, each with what only it has.

``Running`` → ``Stopping`` → the end, or ``Running`` → ``Ended`` → the end; a stop of what an ended turn has left is
``Sweeping``.  A phase is a value that :class:`.turn_runner.TurnRunner` passes on, so a stop or the record of what is
left exists only as long as its phase.
"""

from collections.abc import Callable

from msgspec import Struct, structs

from agentdash.sessions.model.session import Left, Receipt, Status
from agentdash.sessions.model.stops import given_reason
from agentdash.sessions.rules.launch import Ladder
from agentdash.sessions.runner.child import AgentChild
from agentdash.sessions.runner.processes.process_ownership import SessionProcesses
from agentdash.sessions.runner.processes.stop_ladder import Phase as Rung
from agentdash.sessions.runner.processes.stop_ladder import Stop
from agentdash.sessions.storage.turns.claim import Claim
from agentdash.sessions.storage.turns.turn_log import TurnLog


class TurnStop(Stop):
    """Climbs the ladder, or only sweeps if the agent is gone, and records the progress.

    Args:
        ladder: how long each signal is given.
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
        super().__init__(processes, ladder, lambda: not child.gone, now)
        self.reaped = child.reaped
        self._waited_ms = round(waited * 1000)
        self._log = log
        self._guarded = guarded
        self._rung: Rung | None = None

    def advance(self, now: float) -> bool:
        """Take the steps that are due, and record the progress; return whether nothing is left to do."""
        self.tick(now)
        if self.phase is not self._rung and not self.over:
            self._rung = self.phase
            self._guarded(lambda: self._log.rung(self.stage(now)))
        return self.over

    def record_sweep(self) -> None:
        """Record what is left of a turn whose end was recorded before."""
        self._guarded(lambda: self._log.left(self.left))
        self._guarded(lambda: self._log.rung(None))

    def answer(self, session_id: str, status: Status, now: float, by: str | None) -> Receipt:
        """Return what was ended and what is left, with the reason that the requester gave."""
        receipt = self.receipt(session_id, status, now)
        return structs.replace(
            receipt, duration_ms=(receipt.duration_ms or 0) + self._waited_ms, reason=given_reason(by)
        )


class Running(Struct, kw_only=True):
    """The agent works, or is about to exit."""

    claim: Claim
    lingers_since: float | None = None
    """The time, on the monotonic clock, since which the agent lives on after its proper end; None before that."""


class Stopping(Struct, frozen=True, kw_only=True):
    """The processes of a running turn are being ended; then its end is recorded."""

    stop: TurnStop
    by: str | None
    """The requester; None if the turn had ended by itself, or its agent could not be used."""
    lingered: bool
    """The agent lived on after its proper end."""


class Ended(Struct, kw_only=True):
    """The end of the turn is recorded, and the runner waits until it may leave."""

    by: str | None = None
    """The requester of the stop or the interruption that ended the turn, if one did."""
    left: tuple[Left, ...] | None = None
    """The processes that the turn has left, as they were last recorded; None before that."""


class Sweeping(Struct, frozen=True, kw_only=True):
    """The processes that an ended turn has left are being ended."""

    stop: TurnStop
    by: str | None
    """The requester, for the receipt."""


Phase = Running | Stopping | Ended | Sweeping


def has_ended(phase: Phase) -> bool:
    """Return whether the end of the turn is recorded."""
    return isinstance(phase, Ended | Sweeping)
