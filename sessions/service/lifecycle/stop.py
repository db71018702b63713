"""Request a stop, and make sure that a process carries it out.

A session whose rows cannot be read is stopped too: its runner is found by its lock, and its processes by their own
evidence.  The runner needs no row to end its agent.  It goes on trying to record the end, and ``doctor --rebuild``
concludes it.
"""

import signal
import time
from collections.abc import Callable, Sized
from contextlib import suppress

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.errors import AgentdashError, AmbiguousSessionError, Remedy, SessionBusyError, StoreError
from agentdash.sessions.model.session import Ended, Receipt, Session, Status, StoppedBy, Turn, short_id
from agentdash.sessions.model.stops import given_reason
from agentdash.sessions.rules.launch import Ladder, Launch
from agentdash.sessions.rules.status import stop_reason
from agentdash.sessions.runner.hooks.hooks import run_end_hook
from agentdash.sessions.runner.processes import processes as procs
from agentdash.sessions.runner.processes import runner_lock
from agentdash.sessions.runner.processes.process_ownership import SessionProcesses
from agentdash.sessions.runner.processes.stop_ladder import KILL_PATIENCE
from agentdash.sessions.runner.runner_process import poke, send_runner
from agentdash.sessions.service.lifecycle.recovery.reconcile import end_usurpers, is_foreign, runner_is_gone, survivors
from agentdash.sessions.storage.paths import SESSION_ID, Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.text.unhidden import unhidden_line
from agentdash.sessions.text.units import count

POLL_SECONDS = 0.05
_COMMAND = 80
REACTION_SECONDS = 5.0
"""Time that a runner may need beyond its ladder before it is considered stuck."""


def stop_session(
    layout: Layout,
    store: Store,
    session: Session,
    *,
    settle: Callable[[], None],
    now: bool = False,
    only: int | None = None,
    by: str = StoppedBy.YOU,
) -> Receipt:
    """Stop a session and wait for the receipt.

    Stopping an ended session changes nothing, unless it left processes behind: those are ended.  ``only`` is the one
    turn to stop: if it has ended, the turn that follows it goes on, and so does the process of a live agent.  ``by`` is
    recorded with the stop: the requester, and the reason if there is one
    (:meth:`...model.stops.StoppedBy.because`).

    Raises:
        AgentdashError: no runner carried it out.
        SessionBusyError: the session runs on another host.
    """
    turn = store.newest_turn(session.id)
    if only is not None and turn.n != only:
        return _had_ended(store, session.id, only)
    if turn.status.live and is_foreign(session, turn):
        raise SessionBusyError(f"Session {session.short_id} runs on {session.host}; stop it there.")
    # The prompt of a later turn is one of those that a stop leaves in the queue.
    cancelled = turn.status is Status.QUEUED and store.cancel_queued(
        session.id, turn.n, Status.STOPPED, stop_reason(by), "stop requested before it started",
        by=by, again=only is not None or turn.n > 1,
    )  # fmt: skip
    if cancelled:
        run_end_hook(layout, store, session.id, turn.n, Status.STOPPED, stop_reason(by))
    # An interrupt ends no processes that were there before the turn.
    if (cancelled or turn.status.ended) and ((cancelled and only is not None) or not _has_processes(layout, turn)):
        if cancelled:
            return Receipt(session=session.id, status=Status.STOPPED, note="not started yet", reason=given_reason(by))
        store.count_left(session.id, 0, None)
        return Receipt(session=session.id, status=turn.status, note=f"nothing to stop: {turn.status}")
    try:
        kind = "interrupt" if only is not None and turn.transport else "kill" if now else "stop"
        request = store.request(session.id, turn.n, kind, by)
    except StoreError as error:
        return _stop_unrecorded(layout, session, turn, str(error))
    patience = _patience(store.launch(session.id, turn.n), session)
    receipt = _Errand(layout, store, session.id, turn.n, request, settle).run(patience)
    # The session got a new turn in the meantime: stop that one as well.
    return receipt or stop_session(layout, store, session, settle=settle, now=now, only=only, by=by)


def _has_processes(layout: Layout, turn: Turn) -> bool:
    """Return whether an ended session has processes, or may have some: its runner decides when it stops them."""
    processes = SessionProcesses.of_turn(layout.session(turn.session), turn)
    return bool(processes.find() or processes.undecided)


def _had_ended(store: Store, session_id: str, n: int) -> Receipt:
    """Return the receipt of a turn that another one followed before it could be stopped."""
    turn = store.one_turn(session_id, n)
    if turn is not None and turn.receipt is not None:
        return turn.receipt
    return Receipt(session=session_id, status=turn.status if turn else Status.LOST, note=f"turn {n} had ended")


def _stop_unrecorded(layout: Layout, session: Session, turn: Turn, why: str) -> Receipt:
    """Stop although nothing can be written (a full disk): SIGUSR1 asks the runner for the same.

    Raises:
        AgentdashError: there is no runner, or it did not end its agent.
    """
    runner = _runner(turn)
    before = survivors(layout, turn)
    if runner is None or not procs.send(runner, signal.SIGUSR1):
        raise StoreError(f"{why} Session {session.short_id} was not stopped.")
    _wait_for_end(lambda: survivors(layout, turn), _patience(None, session), why, f"session {session.short_id}")
    ended = tuple(Ended(pid=p.pid, command=p.command, signal=None, observed=True) for p in before)
    return Receipt(session=session.id, status=Status.STOPPED, ended=ended, note=f"not recorded yet: {why}")


def _wait_for_end(living: Callable[[], Sized], seconds: float, why: str, where: str) -> None:
    """Wait until no process is left; ``AgentdashError``: some are after these seconds."""
    deadline = monotonic() + seconds
    while left := living():
        if monotonic() > deadline:
            raise AgentdashError(f"{why} {count(len(left), 'process is', 'processes are')} left in {where}.")
        time.sleep(POLL_SECONDS)


def continue_runner(layout: Layout, session_id: str) -> None:
    """Continue a runner that a signal stopped: it may hold the lock of the database, and know how its agent ended."""
    signer = runner_lock.signer(layout.session(session_id).lock)
    runner = procs.by_pid(signer[0]) if signer is not None else None
    if runner is not None and runner.key == signer and runner.stopped:
        procs.send(runner, signal.SIGCONT)


def _runner(turn: Turn) -> procs.Process | None:
    """Return the turn's runner, checked by identity."""
    here = procs.is_here(turn.boot_id, turn.pid_ns)
    process = procs.by_pid(turn.runner_pid) if here and turn.runner_pid is not None else None
    return process if process is not None and process.start == turn.runner_start else None


def _patience(launch: Launch | None, session: Session) -> float:
    """Seconds after which a runner that has not answered is considered stuck."""
    ladder = (launch and launch.ladder) or agent_named(session.agent).ladder
    return ladder.interrupt + ladder.terminate + ladder.sweep + 2 * KILL_PATIENCE + REACTION_SECONDS


class _Errand:
    """Deliver one request to a runner: a living one, an adopting one, or one that only sweeps."""

    def __init__(
        self, layout: Layout, store: Store, session_id: str, turn: int, request: int, settle: Callable[[], None]
    ) -> None:
        self._layout = layout
        self._store = store
        self._session = session_id
        self._turn = turn
        self._request = request
        self._settle = settle
        self._folder = layout.session(session_id)
        self._sent_at = 0.0

    def run(self, patience: float) -> Receipt | None:
        """Return the receipt; None if the session began another turn before any runner answered."""
        stage: object = None
        # The first attempt is for the runner that is there, the second for the one that replaces it.
        for attempt in (1, 2):
            deadline = monotonic() + patience
            while monotonic() < deadline:
                receipt = self._store.answered(self._request)
                if receipt is not None:
                    return receipt
                newest = self._store.newest_turn(self._session)
                if newest.n != self._turn:
                    return self._store.answered(self._request)
                session = self._store.session(self._session)
                if session is not None and session.stopping != stage:
                    stage, deadline = session.stopping, monotonic() + patience  # it is working, only slowly
                self._wake(newest)
                time.sleep(POLL_SECONDS)
            if attempt == 1:
                self._replace_runner(self._store.newest_turn(self._session))
        short = short_id(self._session)
        raise AgentdashError(
            f"Session {short} did not react to the stop.{self._usurper_text()}",
            Remedy.EXPLAIN,
            f"Details: agentdash explain {short}; runner log: {self._folder.runner_log}",
        )

    def _usurper_text(self) -> str:
        """Name the process that holds the lock of a dead runner, if it is not known to be one of the session's."""
        found = next(procs.lock_holders(self._folder.lock), None) if runner_is_gone(self._folder) else None
        if found is None:
            return ""
        command = unhidden_line(found.command[:_COMMAND])
        return f" Process {found.pid} ({command}) holds the lock of its runner, which is dead: kill it, and stop again."

    def _wake(self, turn: Turn) -> None:
        if runner_lock.is_held(self._folder.lock):
            if end_usurpers(self._folder, turn):
                return
            continue_runner(self._layout, self._session)
            poke(self._folder.poke)
            return
        # A runner that was just started needs a moment before it holds the lock.
        if monotonic() - self._sent_at < REACTION_SECONDS:
            return
        self._sent_at = monotonic()
        if turn.status.ended:
            send_runner(self._layout, self._session, turn.n, "sweep", {})
        else:
            self._settle()
            self._sent_at = monotonic() if not self._store.newest_turn(self._session).status.ended else 0.0

    def _replace_runner(self, turn: Turn) -> None:
        """Kill a runner that does not react, checked by identity; a new one takes over.

        A runner whose processes are gone only waits until it can record their end (a full disk), and nothing else knows
        their exit status.  It is killed only if a signal stopped it.
        """
        runner = _runner(turn)
        if runner is not None and (runner.stopped or survivors(self._layout, turn)):
            procs.send_kill(runner)
            with suppress(OSError), self._folder.runner_log.open("a") as log:
                log.write(f"runner {runner.pid} was killed: it did not react to the request to stop\n")


LEAST_ID = 4
"""Characters that a shortened id needs at least."""


def stop_unread(layout: Layout, ref: str, why: StoreError) -> Receipt:
    """Stop the session with this id, or with an id that begins so, and wait until its processes are gone.

    Args:
        why: the error that kept its rows from being read, which is raised again if the session has no runner.

    Raises:
        AmbiguousSessionError: several ids begin so.
        StoreError: no session has this id, or no runner of it lives.
        AgentdashError: its runner did not end its processes.
    """
    folder = layout.session(_session_named(layout, ref, why))
    living = SessionProcesses(folder.id, folder.lock, folder.procs)
    runner = living.runner()
    if runner is None:
        raise why
    before = living.find()
    continue_runner(layout, folder.id)
    procs.send(runner, signal.SIGUSR1)
    ladder = Ladder()
    patience = ladder.interrupt + ladder.terminate + ladder.sweep + 2 * KILL_PATIENCE
    _wait_for_end(living.find, patience, str(why), folder.id)
    ended = tuple(Ended(pid=p.pid, command=p.command, signal=None, observed=True) for p in before.values())
    return Receipt(session=folder.id, status=Status.STOPPED, ended=ended, note=f"not recorded: {why}")


def _session_named(layout: Layout, ref: str, why: StoreError) -> str:
    wanted = ref.strip().lower()
    if len(wanted) < LEAST_ID or not layout.sessions.is_dir():
        raise why
    ids = [entry.name for entry in layout.sessions.iterdir() if SESSION_ID.fullmatch(entry.name)]
    fits = [one for one in ids if one.startswith(wanted)]
    if not fits:
        raise why
    if len(fits) > 1:
        raise AmbiguousSessionError(f"Several session ids begin with {wanted}: {', '.join(map(short_id, fits[:5]))}.")
    return fits[0]
