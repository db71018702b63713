"""The supervision of one turn by its runner: start or adopt, then from phase to phase until the runner may leave."""

import contextlib
import time
from collections.abc import Callable

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.model.session import Left, Receipt, Status, StoppedBy
from agentdash.sessions.rules.launch import Ladder
from agentdash.sessions.runner.child import AgentChild, left_by_agent, owner
from agentdash.sessions.runner.clock_steps import surplus_ms
from agentdash.sessions.runner.disk import take_reserve
from agentdash.sessions.runner.hooks.hooks import Hooks, serve_escalations
from agentdash.sessions.runner.live.agent import LiveAgent
from agentdash.sessions.runner.live.interruption import Interruption
from agentdash.sessions.runner.live.run import LiveRun
from agentdash.sessions.runner.own_code import keep
from agentdash.sessions.runner.processes import process_ownership, processes
from agentdash.sessions.runner.processes.process_ownership import SessionProcesses
from agentdash.sessions.runner.processes.stop_ladder import POLL
from agentdash.sessions.runner.queue.pump import pump
from agentdash.sessions.runner.recorder import COMMIT_SECONDS, Recorder
from agentdash.sessions.runner.spawn import StartError
from agentdash.sessions.runner.stop_signals import StopSignals
from agentdash.sessions.runner.turn.phases import Ended, Phase, Running, Stopping, Sweeping, TurnStop, has_ended
from agentdash.sessions.runner.turn.stop_requests import StopRequests, end_workers
from agentdash.sessions.runner.turn.wakeups import Wakeups
from agentdash.sessions.runner.turn_end import Ending
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Claim, move_times
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.sessions.storage.turns.turn_output import output_in

LOOK_SECONDS = 5.0
"""Interval between unprompted checks of requests and descendants."""

COALESCE_SECONDS = 0.02
"""Writes within this time are read together."""

POLL_SECONDS = 0.25
"""Interval between checks of the turn file, or of an adopted agent, if the kernel cannot report changes."""

CHILD_SECONDS = 1.0
"""Maximum delay until the remaining processes are counted again after one of them ended."""

INTERRUPT_SECONDS = 0.05
"""Interval between attempts to interrupt a live agent that cannot be interrupted yet."""

LINGER_SECONDS = 30.0
"""Time that an agent may stay alive after its proper end."""


class TurnRunner:
    """Supervises one turn."""

    def __init__(
        self,
        layout: Layout,
        store: Store,
        signals: StopSignals,
        session_id: str,
        turn: int,
        live: LiveAgent | None = None,
    ) -> None:
        """``live`` is the live agent that served the turn before."""
        self._layout = layout
        self._folder = self._layout.session(session_id)
        self._session = session_id
        self._turn = turn
        self._store = store
        self.own_turn: int | None = None
        """The turn that the live agent began by itself; known at the end."""
        self._own: str | None = session_id  # None if the next turn needs another environment
        self.next_turn: int | None = None
        """The session's next turn, if it is for this process; known at the end."""
        self._log = TurnLog(self._store, session_id, turn, owner())
        self._processes = SessionProcesses(session_id, self._folder.lock, self._folder.procs)
        self._hooks = Hooks(self._layout, self._store, session_id, turn, self._processes.spare)
        self._output = output_in(self._folder, self._store.turns(session_id, turn), turn)
        self._recorder = Recorder(
            self._layout, session_id, turn, self._store, self._log, self._hooks.status_changed, self._output
        )
        self._live = LiveRun(layout, store, session_id, turn, live)
        self._requests = StopRequests(store, self._folder, session_id, turn, signals)
        self._interruption = Interruption(
            self._log, session_id, turn, self._processes, self._requests.requester, self._recorder.guarded
        )
        self._child = live.child if live is not None else AgentChild()
        self._adopted = False
        self._ladder = Ladder()
        self._unfinished_stop: str | None = None  # the requester of a stop that the killed runner had begun
        self._next_look = 0.0
        self._store.data_version()  # opens the database while its folder surely exists
        self._wakeups = Wakeups(self._folder.poke, signals)
        self._signals = signals

    @property
    def live(self) -> LiveAgent | None:
        """The live agent whose process outlives the turn; None if there is none."""
        return self._live.agent if self._live.goes_on else None

    def run(self) -> None:
        """Start the queued turn and see it through."""
        claim = self._log.claim()
        if claim is None:
            return
        self._prepare(claim)
        if self._turn == 1:
            from agentdash.sessions.runner.git.start_state import record  # only the first turn needs git

            # Before the agent can write: its changes are compared with this state.
            record(self._folder, claim.cwd)
        try:
            self._child = self._live.child_for(claim, self._child)
        except StartError as error:
            self._recorder.fail_to_start(agent_named(claim.agent), error)
            receipt = Receipt(session=self._session, status=Status.FAILED, note="never started")
            self._recorder.guarded(lambda: self._log.answer(receipt))
            return
        self._watch(claim)

    def own(self) -> None:
        """See a turn through that the live agent began by itself."""
        claim = self._log.adopt()
        if claim is not None and self._live.goes_on:
            self._prepare(claim)
            self._watch(claim)

    def adopt(self) -> None:
        """Take over a turn whose runner was killed."""
        claim = self._log.adopt()
        if claim is None:
            return
        self._prepare(claim)
        recorded = (claim.agent_pid, claim.agent_start)
        # A runner that died after the spawn and before recording it left only the tag.
        leader = processes.tagged_leader(claim.run_id) if None in recorded else recorded
        identity = (leader[0], leader[1]) if leader and leader[0] is not None and leader[1] is not None else None
        self._child.adopt(identity)
        self._adopted = True
        self._live.adopt(claim, self._child)
        self._unfinished_stop = claim.stop_by
        self._watch(claim)

    def sweep(self) -> None:
        """End the processes that the session has left, and answer the requests."""
        turn = self._store.one_turn(self._session, self._turn)
        self._processes = SessionProcesses.of_turn(self._folder, turn)
        self._child.adopt(None)
        self._own = None
        self._loop(Ended())

    def _prepare(self, claim: Claim) -> None:
        """Set the hook, and reserve the disk space for recording the end before the agent can fill the disk."""
        self._recorder.guarded(lambda: self._hooks.begin(claim.launch.hook))
        take_reserve(self._folder.reserve)

    def _watch(self, claim: Claim) -> None:
        keep()
        self._processes.agent = self._child.identity
        self._output = self._live.converse(claim, self._recorder) or self._output
        if self._child.identity is not None:
            self._recorder.started(*self._child.identity)
        if self._live.turn is not None and not self._adopted:
            # What follows takes longer with each turn of the session.
            self._recorder.guarded(self._live.turn.begin)
        agent = agent_named(claim.agent)
        self._ladder = claim.launch.ladder or agent.ladder
        self._wakeups.output.on(self._output.stdout.path)
        began, age_s = claim.started_at or now_ms(), None
        if self._adopted:
            surplus = surplus_ms(began, claim.agent_start)
            if surplus:
                self._recorder.guarded(lambda: move_times(self._store.database, self._session, self._turn, surplus))
            age_s = (now_ms() - began - surplus - self._live.waited_ms()) / 1000
        self._recorder.begin(agent, claim.launch, self._processes.used, began, adopted_after_s=age_s)
        self._loop(Running(claim=claim))

    def _loop(self, phase: Phase) -> None:
        """Go from phase to phase, and wait between the steps for what may change them."""
        asked = True
        while True:
            self._child.reap()
            more = self._recorder.follow()
            if not has_ended(phase):
                if self._live.turn is not None:
                    self._recorder.guarded(self._live.turn.advance)
                if self._recorder.spending is not None:
                    self._wakeups.use.on(self._recorder.spending.meter_path)
            now = time.monotonic()
            due = asked or now >= self._next_look or self._recorder.exceeds
            if due:
                self._next_look = now + LOOK_SECONDS
                phase = self._look_around(phase, now)
            following = self._advance(phase, now, due=due)
            if following is None:
                self._wakeups.use.off()
                return
            phase = following
            if has_ended(phase):
                self._wakeups.output.off()  # that of the remaining processes does not matter
                self._wakeups.use.off()
            woken = self._wakeups.wait(0 if more else self._delay(phase, now))
            if woken.poked:
                self._recorder.budgets_changed()  # the request may be a changed budget
            signalled = self._signals.shutdown or self._signals.requested
            # Its agent lives after its proper end, and its `LINGER_SECONDS` have not begun.
            works_on = isinstance(phase, Running) and phase.lingers_since is None and not self._child.gone
            asked = woken.poked or signalled or (works_on and self._recorder.facts.end is not None)
            if has_ended(phase) and woken.signalled:
                self._look_in(CHILD_SECONDS, now)
            if woken.grew:
                time.sleep(COALESCE_SECONDS)

    def _delay(self, phase: Phase, now: float) -> float:
        """Seconds until the next timer that no event will trigger."""
        if isinstance(phase, Stopping | Sweeping):
            return POLL
        until_look = max(0.0, self._next_look - now)
        if isinstance(phase, Ended):
            return until_look
        if self._live.turn is not None:
            until_look = self._live.turn.delay(until_look)
        if self._child.adopted or self._wakeups.output.descriptor is None:
            return min(POLL_SECONDS, until_look)
        spending = self._recorder.spending
        polled = spending is not None and spending.polled and self._wakeups.use.descriptor is None
        return min(COMMIT_SECONDS, until_look) if polled or self._recorder.unsaved else until_look

    def _look_around(self, phase: Phase, now: float) -> Phase:
        """Check the requests of front ends; of a running turn also descendants, limits, and an agent that lingers."""
        kinds: list[str] = []
        with contextlib.suppress(StoreError):
            kinds = self._store.open_requests(self._session, self._turn)
        if has_ended(phase) and self._live.goes_on and set(kinds) == {"interrupt"}:
            self._interruption.answer_late()
            return phase
        by = self._who_stops(phase, kinds)
        if by is not None and isinstance(phase, Running | Ended):  # a second request joins the stop that goes on
            phase = self._begin_stop(phase, now, by)
        if "kill" in kinds and isinstance(phase, Stopping | Sweeping):
            phase.stop.hurry(now)
        return self._mind(phase, now) if isinstance(phase, Running) else phase

    def _mind(self, phase: Running, now: float) -> Phase:
        """Check what a running turn does, and stop it if it has to end."""
        if self._live.turn is not None:
            self._recorder.guarded(self._live.turn.look)
        self._recorder.guarded(self._processes.remember)
        self._recorder.guarded(lambda: serve_escalations(self._layout, self._store, self._processes.spare))
        self._child.forget()
        if self._child.gone:
            return phase
        if self._live.failure is not None:
            return self._begin_stop(phase, now, None)  # the turn may begin again without a live agent
        if self._live.turn is None and self._recorder.facts.end is not None:
            phase.lingers_since = phase.lingers_since or now
            # The turn is over, but its process does not exit by itself.
            return self._begin_stop(phase, now, None) if now - phase.lingers_since >= LINGER_SECONDS else phase
        over, due = None, None
        with contextlib.suppress(StoreError):
            over, due = self._recorder.over_limit()
        self._look_in(due, now)
        following = self._begin_stop(phase, now, StoppedBy.LIMIT.because(over)) if over is not None else phase
        self._look_in(self._recorder.mind_idleness(), now)
        return following

    def _look_in(self, due: float | None, now: float) -> None:
        """Look around after a number of seconds at the latest; None changes nothing."""
        self._next_look = min(self._next_look, now + due) if due is not None else self._next_look

    def _who_stops(self, phase: Phase, kinds: list[str]) -> str | None:
        """In whose name to stop; None if there is no reason to stop."""
        if self._unfinished_stop is not None:
            return self._unfinished_stop
        if not has_ended(phase) and self._interrupts(kinds):
            return None
        return self._requests.by(kinds)

    def _interrupts(self, kinds: list[str]) -> bool:
        """Ask a live agent to end its turn; False if more is requested, or it does not end the turn in time."""
        turn, now = self._live.turn, time.monotonic()
        if turn is None or set(kinds) != {"interrupt"}:
            return False
        if turn.over:
            self._next_look = now  # the request is answered when the end is recorded
            return True
        self._look_in(INTERRUPT_SECONDS, now)
        return self._interruption.ask(turn, now, self._ladder.interrupt)

    def _end_live_turn(self) -> Ended:
        """Conclude a turn whose agent lives on."""
        turn = self._live.turn
        self._recorder.end_here()
        if turn is not None and turn.interrupted_at is not None:
            by: str | None = self._interruption.by
            receipt = self._interruption.receipt(turn.interrupted_at)
            self._conclude((), by, receipt=lambda _: receipt)
            self._recorder.retried(lambda: self._log.answer(receipt))
        else:
            by = turn.clerk.stopped_by if turn is not None and self._recorder.facts.end != "completed" else None
            self._end_workers(by)
            self._conclude((), by)
        with contextlib.suppress(StoreError):
            self.own_turn = self._live.late_turn()
        return Ended(by=by)

    def _begin_stop(self, phase: Running | Ended, now: float, by: str | None) -> Stopping | Sweeping:
        """Climb the ladder, or only sweep if the agent is gone; ``by`` is None if the agent ended on its own."""
        if by is not None:
            self._recorder.guarded(lambda: self._log.stopping(by))
        self._end_workers(by)
        self._live.close_asks()
        turn, end, lives = self._live.turn, self._recorder.facts.end, not self._child.gone
        resumed = self._unfinished_stop is not None
        asked = resumed or (turn is not None and turn.interrupted_at is not None)
        # The turn has its proper end, and that is not the failure which an interrupt brought about.
        by_itself = end is not None and not (asked and end != "completed")
        stops = (lives or resumed or end is not None) and not by_itself
        guarded, waited = self._recorder.guarded, self._requests.waited_s()
        stop = TurnStop(self._processes, self._child, self._ladder, self._log, guarded, now, waited)
        if isinstance(phase, Ended):
            return Sweeping(stop=stop, by=by if stops else phase.by)
        return Stopping(stop=stop, by=by if stops else None, lingered=by_itself and lives)

    def _end_workers(self, by: str | None) -> None:
        """Request the stop of the linked workers, if a limit ends this session; a front end stops them itself."""
        if by is not None and StoppedBy.recorded(by) is StoppedBy.LIMIT:
            self._recorder.guarded(lambda: end_workers(self._layout, self._store, self._session, by))

    def _advance(self, phase: Phase, now: float, *, due: bool) -> Phase | None:
        """Take the next step of a phase; return what follows it: None if this runner has nothing more to do.

        ``due``: a check of the remaining processes is due.
        """
        if isinstance(phase, Running):
            phase = self._end_if_over(phase, now)
            # A turn that has just ended waits for no further check.
            return None if isinstance(phase, Ended) and self._may_leave(phase) else phase
        if isinstance(phase, Ended):
            return None if due and self._may_leave(phase) else phase
        if not phase.stop.advance(now):
            return phase
        self._child.reap()
        self._finish_stop(phase, now) if isinstance(phase, Stopping) else self._finish_sweep(phase, now)
        return None  # nothing is left of the turn, or it begins again

    def _end_if_over(self, phase: Running, now: float) -> Phase:
        """Conclude a turn whose agent reported its end or is gone."""
        if self._live.over:
            return self._end_live_turn()  # its agent lives on, so nothing is stopped or swept
        if not self._child.gone or self._kill_rest(phase.claim):
            return phase
        left = left_by_agent(self._processes.find())
        if left and phase.claim.launch.after_turn == "sweep":
            return self._begin_stop(phase, now, None)  # the settings do not leave processes behind
        self._conclude(left)
        self._recorder.guarded(self._processes.write)
        return Ended()  # the runner stays for the processes that are left

    def _kill_rest(self, claim: Claim) -> bool:
        """Kill what goes on with the turn after its launcher was killed; False if nothing does."""
        if self._child.exit_code is not None or self._recorder.facts.end is not None:
            return False
        return agent_named(claim.agent).prompted and process_ownership.kill_group(claim.run_id, self._child.identity)

    def _may_leave(self, phase: Ended) -> bool:
        """Return whether the runner may exit: not while processes are left, unless a later turn is queued."""
        if self._live.goes_on:
            with contextlib.suppress(StoreError):
                return not self._store.open_requests(self._session, self._turn)
            return False
        left = left_by_agent(self._processes.find())
        if left != phase.left and self._recorder.guarded(lambda: self._log.left(left)):
            phase.left = left
        if not left and self._processes.undecided:
            self._look_in(POLL_SECONDS, time.monotonic())  # it is not known yet if a process is ours
        with contextlib.suppress(StoreError):
            if not left and not self._processes.undecided:
                # A stop may have come while the runner was about to exit.
                return not self._store.open_requests(self._session, self._turn)
            if self._log.newer_turn_queued():
                # Only the record finds a process that cleared its environment.
                self._recorder.guarded(self._processes.write)
                return True
        return not left and not self._processes.undecided

    def _conclude(
        self,
        left: tuple[Left, ...],
        by: str | None = None,
        *,
        lingered: bool = False,
        receipt: Callable[[Status], Receipt] | None = None,
    ) -> Status:
        """Record the end of the turn, and serve the queue."""
        self._live.end(self._recorder, self._output)
        status = self._recorder.conclude(
            Ending(
                child=self._child, stopped_by=by, lingered=lingered, left=left, receipt=receipt, adopted=self._adopted,
                prompt=self._live.prompt, goes_on=self._live.goes_on, unusable=self._live.failure,
            )
        )  # fmt: skip
        self.pass_on()
        self._recorder.guarded(self._live.count_rest)
        return status

    def pass_on(self) -> None:
        """Serve the queue: a place is free.  The session's own next turn stays with this process."""
        self._recorder.guarded(self._pump)

    def _pump(self) -> None:
        own = pump(self._layout, self._store, None if self._signals.shutdown else self._own)
        self.next_turn = own or self.next_turn

    def close(self) -> None:
        """Close what the turn needed."""
        self._signals.requested = False
        self._wakeups.close()

    def _finish_stop(self, phase: Stopping, now: float) -> None:
        """Conclude after the ladder, and answer with the receipt; or let the turn begin again without a live agent."""
        if phase.by is None and self._live.falls_back(self._log):
            self.next_turn = self._turn
            return

        def receipt(status: Status) -> Receipt:
            return phase.stop.answer(self._session, status, now, phase.by)

        status = self._conclude(phase.stop.left, phase.by, lingered=phase.lingered, receipt=receipt)
        self._recorder.retried(lambda: self._log.answer(receipt(status)))

    def _finish_sweep(self, phase: Sweeping, now: float) -> None:
        """Record what is left of the turn after the sweep, and answer with the receipt."""
        status = Status.STOPPED
        with contextlib.suppress(StoreError):
            status = self._log.status() or status
        self._recorder.guarded(self._live.count_rest)
        phase.stop.record_sweep()
        receipt = phase.stop.answer(self._session, status, now, phase.by)
        self._recorder.retried(lambda: self._log.answer(receipt))
