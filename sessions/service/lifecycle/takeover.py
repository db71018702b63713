"""Take over a session: open the agent's own interface on its conversation, and go on with the session afterwards.

The front end holds the session's lock while the interface is open, so that no runner can start; the kernel drops the
lock with the front end.  ``sessions.taken_by`` names the holder to others, and holds all that is needed to record what
was said if the front end is killed (:mod:`.recovery.reconcile`).
"""

import getpass
import os
import threading
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

from msgspec import structs

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import AgentdashError, Remedy, SessionBusyError, StoreError, UnknownSessionError
from agentdash.sessions.model.session import Session, StoppedBy, TakenBy
from agentdash.sessions.model.taken_by import Talk
from agentdash.sessions.runner.base_environment import overridden
from agentdash.sessions.runner.child import owner
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.runner.processes.runner_lock import HeldLock
from agentdash.sessions.runner.runner_process import poke
from agentdash.sessions.service.lifecycle.by_hand_turn import record_by_hand, talk_of
from agentdash.sessions.service.lifecycle.recovery.reconcile import survivors
from agentdash.sessions.service.lifecycle.session_ref import at_work_error, check_free, check_here
from agentdash.sessions.service.lifecycle.starts.resume_command import ResumeCommand
from agentdash.sessions.service.lifecycle.wait import wait_until
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.takeovers import ByHand, Takeovers

CLOSE_SECONDS = 20.0
"""Time in which a live agent that waits for prompts must be closed; its runner kills it after ten."""

LOCK_SECONDS = 5.0
"""Time in which the runner of an ended turn must be gone."""

CHECK_SECONDS = 0.1
"""Interval at which the interface's conversation is checked while it is open: one small file is read."""


MOST_TALKS = 100
"""Conversations of one interface that are followed."""


class Takeover:
    """A session that this process has taken over; :meth:`finish` must follow, whatever happens.

    Args:
        taken: the record of this process.
    """

    def __init__(
        self,
        layout: Layout,
        store: Store,
        session: Session,
        command: ResumeCommand,
        taken: TakenBy,
        lock: HeldLock,
        env: Mapping[str, str | None],
    ) -> None:
        self.session = session
        """The session as it was when it was taken over."""
        self.argv = command.argv
        """The command of the interface."""
        self.cwd = command.cwd
        """The folder in which it starts."""
        self._layout = layout
        self._store = store
        self._taken = taken
        self._lock = lock
        self._env = env
        self._over = threading.Event()
        self._watch: threading.Thread | None = None

    @property
    def env(self) -> dict[str, str]:
        """The environment of the interface: ours, the variables that were recorded with the session, and its tags."""
        base = overridden(os.environ, {**self._env, processes.RUNNER_MARK: None})
        tags = {processes.SESSION_TAG: self.session.id, processes.RUN_TAG: self._taken.run_id}
        return base | tags | {processes.HOME: str(self._layout.home), "PWD": self.cwd}

    def started(self, pid: int) -> None:
        """Record the interface's process, and follow which conversation it shows until :meth:`finish`."""
        process = processes.by_pid(pid)
        if process is None:
            return
        self._taken = structs.replace(self._taken, interface_pid=pid, interface_start=process.start)
        self._record()
        interface = agent_named(self.session.agent).interface
        if interface is not None and interface.shown is not None:
            shown = partial(interface.shown, pid, self._env)
            self._watch = threading.Thread(target=self._follow, args=(shown,), name="interface", daemon=True)
            self._watch.start()

    def finish(self, exit_code: int | None = None) -> ByHand:
        """Record what was said, begin the next turn of the queue, and release the lock.

        Args:
            exit_code: that of the interface; None if it was not started.

        Raises:
            StoreError: it cannot be recorded; the next command that reads the session tries again.
        """
        self._over.set()
        if self._watch is not None:
            self._watch.join()
        try:
            return record_by_hand(self._layout, self._store, self.session, self._taken, exit_code)
        finally:
            self._lock.release()

    def _record(self) -> None:
        with suppress(StoreError):  # it is only needed if this process is killed
            Takeovers(self._store).update(self.session.id, self._taken)

    def _follow(self, shown_now: Callable[[], str | None]) -> None:
        """Record each conversation that the interface begins to show."""
        while not self._over.wait(CHECK_SECONDS):
            shown, talks = shown_now(), self._taken.talks
            if shown is None or shown == talks[-1].conversation or len(talks) >= MOST_TALKS:
                continue
            if self._is_other(shown):
                continue
            talk = next((talk for talk in talks if talk.conversation == shown), None)
            talk = talk or talk_of(self.session.agent, shown, self._env, self._taken.since, since=self._taken.since)
            others = (other for other in talks if other.conversation != shown)
            self._taken = structs.replace(self._taken, talks=(*others, talk))
            self._record()

    def _is_other(self, shown: str) -> bool:
        """Return whether a conversation is another session's; also if that cannot be read now."""
        try:
            return self._store.session_of_conversation(shown, but=self.session.id) is not None
        except StoreError:
            return True


def take_over(
    layout: Layout, store: Store, session: Session, command: ResumeCommand, *, settle: Callable[[], None]
) -> Takeover:
    """Close the live agent of an idle session, take its lock, and record this process as the holder.

    Args:
        settle: concludes sessions whose runner died.

    Raises:
        SessionBusyError: it works, has prompts that would be sent, is archived, runs on another host, has processes
            left, or is taken over; the error names the reason.
    """
    _check(session)
    env = store.recipe(session.id).env
    if session.warm_since is not None:
        _close(layout, store, session, settle)
    folder = layout.session(session.id)
    if not folder.path.is_dir():
        folder.create()  # it was removed: its output is lost, the conversation is the agent's own
    lock = runner_lock.hold(folder.lock, LOCK_SECONDS)
    if lock is None:
        _check(_now(store, session))
        raise SessionBusyError(f"The runner of session {session.short_id} has not ended yet. Try again.")
    try:
        current = _now(store, session)
        _check(current)
        turn = store.newest_turn(session.id)
        if survivors(layout, turn):
            raise _left(session)
        taken = _holder(current, command, talk_of(session.agent, command.conversation, env, session.created_at))
        if not Takeovers(store).take(session.id, taken):
            _check(_now(store, session))
            raise SessionBusyError(f"Session {session.short_id} has just begun another turn.")
        return Takeover(layout, store, current, command, taken, lock, env)
    except BaseException:
        lock.release()
        raise


def _check(session: Session) -> None:
    short = session.short_id
    check_free(session, "taken over again")
    check_here(session, "take it over")
    if session.archived_at is not None:
        raise SessionBusyError(f"Session {short} is archived. Restore it first: agentdash restore {short}")
    if not session.status.ended:
        raise at_work_error(session, f"it can be taken over when turn {session.turn} has ended")
    if session.queued and session.held is None:
        raise SessionBusyError(f"Session {short} has a prompt that is about to be sent.")
    if session.left:
        raise _left(session)


def _left(session: Session) -> AgentdashError:
    short = session.short_id
    return SessionBusyError(
        f"Processes of session {short} are still running.", Remedy.STOP, f"Stop them: agentdash stop {short}"
    )


def _close(layout: Layout, store: Store, session: Session, settle: Callable[[], None]) -> None:
    """Close the live agent that waits for prompts, and wait until it is gone.

    Raises:
        SessionBusyError: it began to work, or did not end.
    """
    store.request_close(session, StoppedBy.YOU)
    poke(layout.session(session.id).poke)

    def is_closed() -> bool:
        current = _now(store, session)
        return current.warm_since is None or not current.status.ended

    if not wait_until(store, is_closed, CLOSE_SECONDS, settle=settle):
        raise SessionBusyError(f"The live agent of session {session.short_id} was not closed in {CLOSE_SECONDS:g} s.")


def _now(store: Store, session: Session) -> Session:
    current = store.session(session.id)
    if current is None:
        raise UnknownSessionError(f"Session {session.short_id} was deleted.")
    return current


def _holder(session: Session, command: ResumeCommand, talk: Talk) -> TakenBy:
    me = owner()
    user = str(os.getuid())
    tty: str | None = None
    with suppress(KeyError, OSError, ImportError):
        user = getpass.getuser()
    with suppress(OSError):
        tty = os.ttyname(0).removeprefix("/dev/")
    return TakenBy(
        host=processes.host_name(), user=user, tty=tty, since=now_ms(),
        pid=me.pid, start=me.start, boot_id=me.boot_id, pid_ns=me.pid_ns,
        run_id=str(uuid.uuid4()), turn=session.turn, argv=command.argv, talks=(talk,),
    )  # fmt: skip
