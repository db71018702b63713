"""Stop a session: the ladder of signals, the sweep for the remaining processes, and the receipt.

Every agent CLI runs its shell commands in process sessions of their own, so killing its process group leaves them alive
(docs/protocols/claude.md, "Signals"; docs/protocols/codex.md, "Signals").  The ladder gives the agent a chance to end
its commands itself.  The sweep ends the processes that remain.  The receipt lists what was ended, by which signal, and
what could not be.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable
from enum import Enum

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.session import Ended, Left, Receipt, Status, Stopping
from agentdash.sessions.rules.launch import Ladder
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.processes.process_ownership import SessionProcesses
from agentdash.sessions.runner.processes.processes import Process
from agentdash.sessions.runner.processes.runner_lock import YOUNG_SECONDS

POLL = 0.05
"""Seconds between two calls of :meth:`Stop.tick`."""

KILL_PATIENCE = 5.0
"""Seconds a process may survive SIGKILL (uninterruptible sleep) before it is reported as left."""

SCAN_SHARE = 4.0
"""A sweep scans again after this multiple of its last scan's duration."""

CLEAN_SCANS = 2
"""Successive scans that must find nothing: a process can start between a scan and its last signal."""


class Phase(Enum):
    """The rungs, in order."""

    INTERRUPT = signal.SIGINT
    TERMINATE = signal.SIGTERM
    KILL = signal.SIGKILL
    SWEEP_TERMINATE = "sweep, SIGTERM"
    SWEEP_KILL = "sweep, SIGKILL"
    OVER = "over"


class Stop:
    """One stop in progress; the runner's loop calls :meth:`tick` until it is over."""

    def __init__(
        self, processes: SessionProcesses, ladder: Ladder, agent_alive: Callable[[], bool], now: float
    ) -> None:
        self._processes = processes
        self._ladder = ladder
        self._agent_alive = agent_alive
        self._began = now
        self._seen: dict[tuple[int, int], Process] = {}
        self._signals: dict[tuple[int, int], signal.Signals] = {}
        self._refused: dict[tuple[int, int], str] = {}
        self._last_rung: signal.Signals | None = None
        self._clean = 0
        self._next_interrupt = now
        self._next_scan = 0.0
        self.reaped: dict[int, int] = {}
        """Wait status by pid, filled by the runner."""
        self.left: tuple[Left, ...] = ()
        self.phase = Phase.INTERRUPT
        self._phase_began = now
        self._sweep_began: float | None = None
        self._find()
        if not agent_alive():
            self._enter(Phase.SWEEP_TERMINATE, now)

    @property
    def over(self) -> bool:
        """True if nothing is left to do."""
        return self.phase is Phase.OVER

    def stage(self, now: float) -> Stopping:
        """Return the progress of the stop, for front ends to show."""
        waits = {
            Phase.INTERRUPT: (self._ladder.interrupt, "SIGTERM"),
            Phase.TERMINATE: (self._ladder.terminate, "SIGKILL"),
            Phase.SWEEP_TERMINATE: (self._ladder.sweep, "SIGKILL"),
        }
        rung = self.phase.value if isinstance(self.phase.value, str) else self.phase.value.name
        if self.phase not in waits:
            return Stopping(rung=rung)
        wait, then = waits[self.phase]
        due = now_ms() + round(1000 * max(0.0, self._phase_began + wait - now))
        return Stopping(rung=rung, next=then, due_at=due)

    def hurry(self, now: float) -> None:
        """Go to SIGKILL at once."""
        if self.phase in (Phase.INTERRUPT, Phase.TERMINATE):
            self._enter(Phase.KILL, now)
        elif self.phase is Phase.SWEEP_TERMINATE:
            self._enter(Phase.SWEEP_KILL, now)

    def tick(self, now: float) -> None:
        """Take the steps that are due; call this again after ``POLL`` seconds."""
        if self.phase in (Phase.INTERRUPT, Phase.TERMINATE, Phase.KILL):
            self._climb(now)
        if self.phase in (Phase.SWEEP_TERMINATE, Phase.SWEEP_KILL):
            self._sweep(now)

    def receipt(self, session: str, status: Status, now: float, note: str | None = None) -> Receipt:
        """Return what was ended and what is left."""
        left = {process.pid for process in self.left}
        ended = [self._ended(p) for p in self._seen.values() if p.pid not in left]
        return Receipt(
            session=session,
            status=status,
            ended=tuple(ended),
            left=self.left,
            duration_ms=round((now - self._began) * 1000),
            note=note,
        )

    def _enter(self, phase: Phase, now: float) -> None:
        self.phase = phase
        self._phase_began = now
        self._clean = 0
        if phase in (Phase.TERMINATE, Phase.KILL):
            self._signal_group(phase.value)

    def _climb(self, now: float) -> None:
        """Signal the agent and its group: SIGINT repeatedly, then SIGTERM, then SIGKILL."""
        if not self._agent_alive():
            self._enter(Phase.SWEEP_TERMINATE, now)
            return
        waited = now - self._phase_began
        if self.phase is Phase.INTERRUPT:
            if waited >= self._ladder.interrupt:
                self._enter(Phase.TERMINATE, now)
            elif now >= self._next_interrupt:
                self._next_interrupt = now + self._ladder.interrupt_every
                self._signal_group(signal.SIGINT)
        elif self.phase is Phase.TERMINATE and waited >= self._ladder.terminate:
            self._enter(Phase.KILL, now)
        elif self.phase is Phase.KILL and waited >= KILL_PATIENCE:
            self._enter(Phase.SWEEP_KILL, now)

    def _sweep(self, now: float) -> None:
        """Signal all our other processes: SIGTERM, a pause, SIGKILL, until ``CLEAN_SCANS`` scans find nothing."""
        if now < self._next_scan:
            return
        self._sweep_began = self._sweep_began or now
        living = self._find(patient=now - self._sweep_began < YOUNG_SECONDS)
        # Many stops at once must not spend all of a busy machine on scans.
        self._next_scan = now + SCAN_SHARE * (time.monotonic() - now)
        if not any(key not in self._refused for key in living):
            if self._processes.undecided:
                self._clean, self._phase_began = 0, now
                return  # another session's runner that is just starting, or one that pretends to be such
            self._clean += 1
            if self._clean >= CLEAN_SCANS:
                self._finish(living)
            return
        self._clean = 0
        waited = now - self._phase_began
        if self.phase is Phase.SWEEP_TERMINATE and waited >= self._ladder.sweep:
            self._enter(Phase.SWEEP_KILL, now)
        elif self.phase is Phase.SWEEP_KILL and waited >= KILL_PATIENCE:
            self._finish(living)
            return
        number = signal.SIGTERM if self.phase is Phase.SWEEP_TERMINATE else signal.SIGKILL
        for key, process in living.items():
            if self._signals.get(key) != number or number is signal.SIGKILL:
                self._signal_one(process, number)

    def _find(self, *, patient: bool = True) -> dict[tuple[int, int], Process]:
        living = self._processes.find(patient=patient)
        self._seen |= living
        return living

    def _signal_group(self, number: signal.Signals) -> None:
        """Signal the agent's group, but only until its leader is reaped: after that the number may be reused."""
        self._last_rung = number
        if self._processes.agent is None or not self._processes.group_is_ours():
            return
        for key, process in self._find().items():
            if process.group == self._processes.agent[0]:
                self._signals[key] = number
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._processes.agent[0], number)

    def _signal_one(self, process: Process, number: signal.Signals) -> None:
        try:
            processes.send(process, number)
        except PermissionError:
            self._refused[process.key] = "permission denied: runs as another user"
            return
        self._signals[process.key] = number

    def _finish(self, living: dict[tuple[int, int], Process]) -> None:
        self.left = tuple(
            Left(pid=p.pid, command=p.command, reason=self._refused.get(key, "did not react to SIGKILL"))
            for key, p in living.items()
        )
        self.phase = Phase.OVER

    def _ended(self, process: Process) -> Ended:
        status = self.reaped.get(process.pid)
        if status is None:
            # A process that the agent ended got no signal from us: report the rung that made the agent end it.
            sent = self._signals.get(process.key, self._last_rung)
            got = sent.name if sent else None
            return Ended(pid=process.pid, command=process.command, signal=got, observed=sent is not None)
        if os.WIFSIGNALED(status):
            name = processes.signal_name(os.WTERMSIG(status))
            return Ended(pid=process.pid, command=process.command, signal=name)
        sent = self._signals.get(process.key)
        return Ended(
            pid=process.pid,
            command=process.command,
            signal=sent.name if sent else None,
            exit_code=os.waitstatus_to_exitcode(status),
        )
