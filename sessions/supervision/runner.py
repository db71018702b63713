"""The runner: one small process per live session, which owns the agent and records its turn.

``python -P -m agentdash.sessions.supervision.runner HOME SESSION TURN MODE``, where MODE is

``run``    start a queued turn and see it through,
``adopt``  take over a turn whose runner was killed while its agent lives on,
``warm``   take over a live agent that waits for prompts and whose runner was killed,
``sweep``  end the processes that an ended or lost session has left.

It holds the session's lock for its whole life, and goes on with the next prompt of the session's queue.  It spawns
the agent first and imports the adapter straight after, never later: an upgrade may replace the files during the turn.
"""

import contextlib
import os
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ..agents.registry import agent_named
from ..clock import now_ms
from ..errors import StoreError
from ..launch import Ladder
from ..model import LIVE, Left, Receipt, Status, StoppedBy
from ..processes import agent_group, processes, runner_lock
from ..processes.process_ownership import SessionProcesses
from ..processes.stop_ladder import POLL, Phase, Stop
from ..rules.delivery import PromptState
from ..storage.live_log import LiveLog
from ..storage.paths import Layout
from ..storage.store import Store
from ..storage.turn_log import Claim, TurnLog
from ..storage.turn_output import output_in, remove_output
from . import inotify
from .child import AgentChild
from .hooks import Hooks
from .identity import left_by_agent, owner
from .live.agent import LiveAgent
from .live.turn import LiveTurn, adopted_agent, begin_late, close, new_channel, orphan, plain_launch, size_of
from .live.warm import Warm
from .prompt_evidence import recover_steered
from .queue import pump
from .recorder import COMMIT_SECONDS, Recorder
from .spawn import StartError, clean_signals, start_agent
from .stop_signals import StopSignals

LOCK_SECONDS = 5.0
"""Maximum wait of a starting runner for an ending one."""

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


class Runner:
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
        self.live = live
        """The live agent; None for a process of one turn, and before it is started."""
        self._live_log = LiveLog(store.database, session_id)
        self._live_turn: LiveTurn | None = None
        self._claim: Claim | None = None
        self._child = live.child if live is not None else AgentChild()
        self._adopted = False
        self._ladder = Ladder()
        self._ended = False
        self._stop: Stop | None = None
        self._phase: Phase | None = None
        self._stopped_by: str | None = None
        self._unfinished_stop: str | None = None
        self._sweeps_after_turn = False
        self._run_id: str | None = None
        self._lingered = False
        self._recorded_left: tuple[Left, ...] | None = None
        self._finishing_since: float | None = None
        self._next_look = 0.0
        self._store.data_version()  # opens the database while its folder surely exists
        self._poke = os.open(self._folder.poke, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._signals = signals
        self._growth: int | None = None
        self._use = inotify.LateWatch()

    def run(self) -> None:
        """Start the queued turn and see it through."""
        claim = self._log.claim()
        if claim is None:
            return
        self._recorder.guarded(lambda: self._hooks.begin(claim.launch.hook))
        self._recorder.keep_room()
        try:
            identity = self._agent_for(claim)
        except StartError as error:
            self._recorder.fail_to_start(agent_named(claim.agent), str(error))
            receipt = Receipt(session=self._session, status=Status.FAILED, note="never started")
            self._recorder.guarded(lambda: self._log.answer(receipt))
            return
        self._processes.agent = identity
        if self.live is not None:
            self._converse(self.live, claim)
        self._recorder.started(*identity)
        self._watch(claim)

    def own(self) -> None:
        """See a turn through that the live agent began by itself."""
        claim = self._log.adopt()
        if claim is None or self.live is None:
            return
        self._processes.agent = self._child.identity
        self._converse(self.live, claim)
        self._watch(claim)

    def _agent_for(self, claim: Claim) -> tuple[int, int]:
        """Return the identity of the agent that runs the turn: the live one that is there, or a new process.

        Raises:
            StartError: it could not be started.
        """
        self.live = self.live or orphan(self._folder, self._store, self._session, self._turn, self._child)
        if self.live is not None and not self.live.serves(claim.launch):
            close(self.live, self._layout.live_name(self._session, self.live.stream))
            self.live, self._child = None, AgentChild()
        if self.live is not None and self._child.identity is not None:
            live = self.live
            self._live_log.continue_stream(self._turn, live.stream, live.end_byte, live.end_error_byte)
            live.adjust(claim.launch)
            return self._child.identity
        channel = new_channel(self._folder) if claim.launch.transport else None
        process = start_agent(
            self._layout,
            self._session,
            self._turn,
            launch=claim.launch,
            run_id=claim.run_id,
            cwd=claim.cwd,
        )
        identity = self._child.started(process)
        dialogue = agent_named(claim.agent).dialogue(claim.launch) if channel is not None else None
        if channel is not None and dialogue is not None:
            self.live = LiveAgent(self._child, channel, dialogue, launch=claim.launch, stream=self._turn)
            self.live.begin()
        return identity

    def _converse(self, live: LiveAgent, claim: Claim) -> None:
        """Let the live agent's output end the turn, and send it the prompt."""
        self._live_turn = LiveTurn(live, self._store, self._live_log, self._session, self._turn, claim)
        self._output = output_in(self._folder, self._store.turns(self._session, self._turn), self._turn)
        self._recorder.hear(self._hear, self._output)

    def _hear(self, line: bytes, position: int) -> None:
        if self.live is not None and self._live_turn is not None:
            self.live.feed(line, position)
            if self._live_turn.over:
                self._recorder.end_here()

    def adopt(self) -> None:
        """Take over a turn whose runner was killed."""
        claim = self._log.adopt()
        if claim is None:
            return
        self._recorder.guarded(lambda: self._hooks.begin(claim.launch.hook))
        recorded = (claim.agent_pid, claim.agent_start)
        # A runner that died after the spawn and before recording it left only the tag.
        leader = processes.tagged_leader(claim.run_id) if None in recorded else recorded
        identity = (leader[0], leader[1]) if leader and leader[0] is not None and leader[1] is not None else None
        self._processes.agent = identity
        self._child.adopt(identity)
        self._adopted = True
        self._recorder.keep_room()
        if claim.launch.transport and not self._child.gone:
            stream = claim.stream or self._turn
            launch = self._store.launch(self._session, stream) or claim.launch
            agent = agent_named(claim.agent)
            self.live = adopted_agent(self._child, self._folder, agent, launch, stream, claim.begin_byte)
            if self.live is not None:
                self._converse(self.live, claim)
        if identity is not None:
            self._recorder.started(*identity)
        self._unfinished_stop = claim.stop_by
        self._watch(claim)

    def sweep(self) -> None:
        """End the processes that the session has left, and answer the requests."""
        turn = self._store.one_turn(self._session, self._turn)
        self._processes = SessionProcesses.of_turn(self._folder, turn)
        self._child.adopt(None)
        self._ended, self._own = True, None
        self._loop()

    def _watch(self, claim: Claim) -> None:
        self._claim = claim
        agent = agent_named(claim.agent)
        self._ladder = claim.launch.ladder or agent.ladder
        self._sweeps_after_turn = claim.launch.after_turn == "sweep"
        self._run_id = claim.run_id if agent.prompted else None
        self._growth = inotify.watch_growth(self._output.stdout.path)
        age_s = (now_ms() - (claim.started_at or now_ms())) / 1000 if self._adopted else None
        self._recorder.begin(
            agent, claim.launch, self._processes.used, claim.started_at or now_ms(), adopted_after_s=age_s
        )
        self._loop()

    def _loop(self) -> None:
        poll = select.poll()
        for descriptor in (self._signals.wake, self._poke, self._growth):
            if descriptor is not None:
                poll.register(descriptor, select.POLLIN)
        asked = True
        while True:
            self._child.reap()
            more = self._recorder.follow()
            if self._live_turn is not None and not self._ended:
                self._live_turn.advance()
            if self._recorder.spending is not None and not self._ended:
                self._use.on(self._recorder.spending.meter_path, poll)
            now = time.monotonic()
            due = asked or now >= self._next_look or self._recorder.exceeds
            if due:
                self._next_look = now + LOOK_SECONDS
                self._look_around(now)
            if self._advance(now, due):
                self._use.off(poll)
                return
            if self._ended and self._growth is not None:
                poll.unregister(self._growth)  # output of the remaining processes does not matter
                os.close(self._growth)
                self._growth = None
                self._use.off(poll)
            ready = [descriptor for descriptor, _ in poll.poll(0 if more else self._delay(now) * 1000)]
            for descriptor in ready:
                inotify.drain(descriptor)
            signalled = self._signals.shutdown or self._signals.requested
            asked = self._poke in ready or signalled or self._ended_but_lives()
            if self._ended and self._signals.wake in ready:
                self._next_look = min(self._next_look, now + CHILD_SECONDS)
            if self._growth in ready:
                time.sleep(COALESCE_SECONDS)

    def _delay(self, now: float) -> float:
        """Seconds until the next timer that no event will trigger."""
        if self._stop is not None:
            return POLL
        until_look = max(0.0, self._next_look - now)
        if self._ended:
            return until_look
        if self._live_turn is not None:
            until_look = self._live_turn.delay(until_look)
        if self._child.adopted or self._growth is None:
            return min(POLL_SECONDS, until_look)
        spending = self._recorder.spending
        polled = spending is not None and spending.polled and self._use.descriptor is None
        return min(COMMIT_SECONDS, until_look) if polled or self._recorder.unsaved else until_look

    def _ended_but_lives(self) -> bool:
        """Return whether the agent lives after its proper end, and its ``LINGER_SECONDS`` have not begun."""
        return self._finishing_since is None and self._recorder.facts.end is not None and not self._child.gone

    def _look_around(self, now: float) -> None:
        """Check the requests of front ends, our descendants, the limits, and whether the agent stays after its end."""
        kinds: list[str] = []
        with contextlib.suppress(StoreError):
            kinds = self._log.requests()
        by = self._who_stops(kinds)
        if by is not None:
            self._begin_stop(now, by)
        if "kill" in kinds and self._stop is not None:
            self._stop.hurry(now)
        if self._ended or self._stop is not None:
            return
        if self._live_turn is not None:
            self._recorder.guarded(self._live_turn.steer)
        self._recorder.guarded(self._processes.remember)
        self._child.forget()
        if self._child.gone:
            return
        if self._live_turn is not None and self._live_turn.courier.failed is not None:
            self._begin_stop(now, None)
        elif self._live_turn is None and self._recorder.facts.end is not None:
            self._wait_for_exit(now)
        else:
            self._mind_limits(now)
            due = self._recorder.mind_idleness()
            self._next_look = min(self._next_look, now + due) if due is not None else self._next_look

    def _who_stops(self, kinds: list[str]) -> str | None:
        """In whose name to stop; None if there is no reason to stop."""
        if self._unfinished_stop is not None:
            return self._unfinished_stop
        if self._interrupts(kinds):
            return None
        if kinds or self._signals.requested:
            return StoppedBy.YOU
        if self._signals.shutdown:
            return StoppedBy.SYSTEM
        if not self._folder.path.is_dir():
            return StoppedBy.AGENTDASH.because("its folder was removed")  # no front end could see or stop it
        return None

    def _interrupts(self, kinds: list[str]) -> bool:
        """Ask a live agent to end its turn; False if more is requested, or it does not end the turn in time."""
        turn, now = self._live_turn, time.monotonic()
        if turn is None or self._ended or set(kinds) != {"interrupt"}:
            return False
        due = turn.interrupt(now) + self._ladder.interrupt
        self._recorder.guarded(lambda: self._log.stopping(StoppedBy.YOU))
        self._next_look = min(self._next_look, now + INTERRUPT_SECONDS)
        return now < due

    def _end_live_turn(self, turn: LiveTurn) -> None:
        """Conclude a turn whose agent lives on."""
        if turn.interrupted_at is None:
            self._conclude(())
            self._follow_up()
            return
        self._stopped_by = StoppedBy.YOU
        took = round((time.monotonic() - turn.interrupted_at) * 1000)
        receipt = Receipt(session=self._session, status=Status.STOPPED, duration_ms=took, note="turn interrupted")
        self._conclude((), lambda _: receipt)
        self._recorder.retried(lambda: self._log.answer(receipt))
        self._follow_up()

    def _follow_up(self) -> None:
        """Record the turn that the agent begins with a prompt that came too late for the last one."""
        with contextlib.suppress(StoreError):
            if self.live is not None and self.live.alive:
                self.own_turn = begin_late(self.live, self._live_log)

    def _wait_for_exit(self, now: float) -> None:
        self._finishing_since = self._finishing_since or now
        if now - self._finishing_since >= LINGER_SECONDS:
            self._begin_stop(now, None)

    def _mind_limits(self, now: float) -> None:
        over: str | None = None
        with contextlib.suppress(StoreError):
            over, due = self._recorder.over_limit()
            self._next_look = min(self._next_look, now + due) if due is not None else self._next_look
        if over is not None:
            self._begin_stop(now, StoppedBy.LIMIT.because(over))

    def _begin_stop(self, now: float, by: str | None) -> None:
        """Climb the ladder, or only sweep if the agent is gone; ``by`` is None if the agent ended on its own."""
        if self._stop is not None:
            return
        if by is not None:
            self._recorder.guarded(lambda: self._log.stopping(by))
        if self._recorder.facts.end is not None:
            self._lingered = not self._child.gone
        elif not self._child.gone or self._unfinished_stop is not None:
            self._stopped_by = by
        self._child.forget()
        self._stop = Stop(self._processes, self._ladder, lambda: not self._child.gone, now)
        self._stop.reaped = self._child.reaped

    def _advance(self, now: float, due: bool) -> bool:
        """Take the next step towards the end; True if this runner has nothing more to do.

        ``due``: a check of the remaining processes is due.
        """
        if self._stop is not None:
            self._stop.tick(now)
            self._show_rung(self._stop, now)
            if not self._stop.over:
                return False
            self._finish_stop(self._stop, now)
            return True
        if self._live_turn is not None and self._live_turn.over and not self._ended and not self._child.gone:
            self._end_live_turn(self._live_turn)
            due = True
        if self._child.gone and not self._ended:
            if self._kill_rest():
                return False
            left = left_by_agent(self._processes.find())
            if left and self._sweeps_after_turn:
                self._begin_stop(now, None)
                return False
            self._conclude(left)
            self._recorder.guarded(self._processes.write)
            due = True
        return self._ended and due and self._may_leave()

    def _kill_rest(self) -> bool:
        """Kill what goes on with the turn after its launcher was killed; False if nothing does."""
        if self._run_id is None or self._child.exit_code is not None or self._recorder.facts.end is not None:
            return False
        return agent_group.kill(self._run_id, self._child.identity)

    def _show_rung(self, stop: Stop, now: float) -> None:
        """Record the progress of the stop, for front ends to show."""
        if stop.phase is not self._phase and not stop.over:
            self._phase = stop.phase
            self._recorder.guarded(lambda: self._log.rung(stop.stage(now)))

    def _may_leave(self) -> bool:
        """Return whether the runner may exit: not while processes are left, unless a later turn is queued."""
        if self.live is not None and self.live.alive:
            return not self._log.requests()
        left = left_by_agent(self._processes.find())
        if left != self._recorded_left and self._recorder.guarded(lambda: self._log.left(left)):
            self._recorded_left = left
        with contextlib.suppress(StoreError):
            if not left:
                return not self._log.requests()  # a stop came while the runner was about to exit
            if self._log.newer_turn_queued():
                # Only the record finds a process that cleared its environment.
                self._recorder.guarded(self._processes.write)
                return True
        return not left

    def _conclude(self, left: tuple[Left, ...], receipt: Callable[[Status], Receipt] | None = None) -> Status:
        """Record the end of the turn, and serve the queue."""
        self._ended = True
        live, turn = self.live, self._live_turn
        if turn is not None and self._child.gone:
            turn.clerk.lose()
            agent_session = self._recorder.facts.agent_session
            self._recorder.guarded(lambda: recover_steered(self._store, self._session, self._turn, agent_session))
        if live is not None:
            live.end_byte, live.end_error_byte = self._recorder.position, size_of(self._output.stderr.path)
            live.model = self._recorder.facts.model or live.model
        status = self._recorder.conclude(
            self._child,
            stopped_by=self._stopped_by,
            lingered=self._lingered,
            left=left,
            receipt=receipt,
            adopted=self._adopted,
            prompt=turn.courier.state if turn is not None else None,
            goes_on=live is not None and live.alive,
        )
        self.pass_on()
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
        os.close(self._poke)
        if self._growth is not None:
            os.close(self._growth)

    def _falls_back(self) -> bool:
        """Queue a turn again as a process of its own if the live agent could not be used; False if it cannot."""
        turn, claim = self._live_turn, self._claim
        if self._ended or turn is None or claim is None or self._stopped_by is not None:
            return False
        if turn.courier.failed is None or turn.courier.state is not PromptState.QUEUED:
            return False
        launch = plain_launch(claim.launch, turn.courier.failed)
        if launch is None or not self._log.start_again():
            return False
        self._live_log.relaunch(self._turn, launch)
        remove_output(self._layout, self._session, self._turn)
        self.live, self.next_turn = None, self._turn
        return True

    def _finish_stop(self, stop: Stop, now: float) -> None:
        """Conclude after the ladder and the sweep, and answer with the receipt."""
        self._child.reap()
        if self._falls_back():
            return
        if self._ended:
            status = Status.STOPPED
            with contextlib.suppress(StoreError):
                status = self._log.status() or status
            self._recorder.guarded(lambda: self._log.left(stop.left))
            self._recorder.guarded(lambda: self._log.rung(None))
        else:
            status = self._conclude(stop.left, lambda status: stop.receipt(self._session, status, now))
        receipt = stop.receipt(self._session, status, now)
        self._recorder.retried(lambda: self._log.answer(receipt))


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
        try:
            _serve(layout, session_id, int(turn), mode)
        except StoreError as error:
            # No agent was started, or the store is unwritable: the next command that reconciles starts a new runner.
            print(error, file=sys.stderr)  # noqa: T201 - runner.log
            return 1
    return 0


def _serve(layout: Layout, session_id: str, turn: int, mode: str) -> None:
    """Serve turns of a session until none is left for this process."""
    store, signals = Store(layout.database), StopSignals()
    if mode == "warm":
        if store.session(session_id) is None:
            return  # deleted before the runner started
        turn, mode = serve_from(store, session_id)
    following: int | None = turn
    live = orphan(layout.session(session_id), store, session_id, turn + 1) if mode == "warm" else None
    while following is not None:
        if mode == "warm":
            following, mode = Warm(layout, store, signals, session_id, following, live).wait()
            continue
        with contextlib.closing(Runner(layout, store, signals, session_id, following, live)) as runner:
            {"run": runner.run, "own": runner.own, "adopt": runner.adopt, "sweep": runner.sweep}[mode]()
            runner.pass_on()  # also if no agent was started
        live = runner.live if runner.live is not None and runner.live.alive else None
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
