"""The user's command on a change of state: ``[notify] hook``.

It runs once for each ask that waits for the user, and once each time a session starts to wait for something else,
continues after that, is done, failed, stopped or lost; for a worker only if that is not for its lead.  The process
that records the change starts it: the runner, or the process that reconciles the session of a runner that is gone.
A keeper process runs the command (:mod:`.hook_process`), so that no caller waits and a runner can exit.
"""

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.model.session import ENDED, Session, Status
from agentdash.sessions.rules.notifications.settings import Hook
from agentdash.sessions.runner.base_environment import base_of_user
from agentdash.sessions.runner.hooks.hook_process import hook_line
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.text.sanitize import one_line

KEEPER = "agentdash.sessions.runner.hooks.hook_process"

TEXT_CELLS = 500
"""Maximum length of a reason or a title: an environment is not the place for a stream."""


class Hooks:
    """The changes of one turn, as its runner records them.

    Args:
        spare: called with the identity of each keeper that is started, because it is not one of the agent's processes.
    """

    def __init__(
        self, layout: Layout, store: Store, session_id: str, turn: int, spare: Callable[[tuple[int, int]], None]
    ) -> None:
        self._layout = layout
        self._store = store
        self._session = session_id
        self._turn = turn
        self._spare = spare
        self._hook = Hook()
        self._last = Status.STARTING
        self._ask = 0
        """The ask for which the hook ran."""

    def begin(self, hook: Hook) -> None:
        """Set the turn's hook; an earlier runner has run it for the changes that it recorded."""
        self._hook = hook
        if hook.argv and (session := self._store.session(self._session)) is not None:
            self._last = session.status
            self._ask = next((ask.id for ask in self._store.asks.open(self._session)), 0)

    def status_changed(self, status: Status, reason: str | None, ask: int = 0) -> None:
        """Run the hook if the new state is a change that it is for; ``ask`` is the number of the ask that waits."""
        before, self._last = self._last, status
        other = status is Status.WAITING and ask != self._ask
        self._ask = ask
        if not self._hook.argv or not (other or _is_change(before, status)):
            return
        session = self._store.session(self._session)
        if session is not None and not session.left_to_lead:
            send(self._layout, self._hook, session, self._turn, status, reason, self._store, spare=self._spare)


def run_end_hook(
    layout: Layout,
    store: Store,
    session_id: str,
    turn: int,
    status: Status,
    reason: str | None,
    spare: Callable[[tuple[int, int]], None] = lambda _: None,
) -> None:
    """Run the hook of a change that the session's own runner did not record; ``spare`` is that of :class:`Hooks`.

    Errors are logged, not raised: the end is recorded, and a command that cannot run must not stop the caller.
    """
    try:
        launch, session = store.launch(session_id, turn), store.session(session_id)
        if launch is not None and launch.hook.argv and session is not None and not session.left_to_lead:
            send(layout, launch.hook, session, turn, status, reason, store, spare=spare)
    except (OSError, StoreError) as error:
        _note(layout.session(session_id).runner_log, f"{hook_line(status, str(error))}\n")


def serve_escalations(layout: Layout, store: Store, spare: Callable[[tuple[int, int]], None] = lambda _: None) -> None:
    """Record the workers whose leads did not answer in time, and run the user's hook for each.

    From then on what they need counts for the user.  ``spare`` is that of :class:`Hooks`.  Every runner calls this
    while its turn runs: while a lead is at work, its runner lives.
    """
    for session_id in store.escalate():
        if (session := store.session(session_id)) is not None:
            run_end_hook(layout, store, session_id, session.turn, session.status, session.reason, spare)


def _is_change(before: Status, after: Status) -> bool:
    if before is after:
        return False
    return after is Status.WAITING or after in ENDED or (before is Status.WAITING and after is Status.RUNNING)


def send(
    layout: Layout,
    hook: Hook,
    session: Session,
    turn: int,
    status: Status,
    reason: str | None,
    store: Store,
    *,
    spare: Callable[[tuple[int, int]], None],
) -> None:
    """Start a keeper with the hook without waiting for it.

    It has the user's environment: without a session's tags, with which it would look like a process of the agent, and
    without what an agent chose.  The keeper begins when its stdin is closed, after ``spare`` was called with its pid
    and start time: the record proves that the command is the user's, and not one of an agent that claims to be a hook.

    Raises:
        OSError: the keeper could not be started.
    """
    env = base_of_user(layout, store, session)
    log = _log(layout.session(session.id).runner_log)
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", KEEPER, str(hook.timeout_seconds), status.value, *hook.argv],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            cwd="/",  # never the session's folder: an agent writes there
            env={**env, **_facts(layout, session, turn, status, reason)},
            start_new_session=True,
        )
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error)) from None  # a NUL byte, a lone surrogate
    finally:
        os.close(log)
    try:
        keeper = processes.by_pid(process.pid)
        spare((process.pid, keeper.start if keeper else 0))
    finally:
        if process.stdin is not None:
            process.stdin.close()
    # A long-lived front end must not collect zombies; a runner reaps every child anyway.
    threading.Thread(target=process.wait, name=f"reap hook {process.pid}", daemon=True).start()


def _facts(layout: Layout, session: Session, turn: int, status: Status, reason: str | None) -> dict[str, str]:
    return {
        processes.HOME: str(layout.home),
        "AGENTDASH_SESSION": session.id,
        "AGENTDASH_AGENT": session.agent,
        processes.HOOK_TAG: status.value,
        "AGENTDASH_REASON": one_line(reason or "", TEXT_CELLS),
        "AGENTDASH_TITLE": one_line(session.label, TEXT_CELLS),
        "AGENTDASH_CWD": session.cwd,
        "AGENTDASH_TURN": str(turn),
    }


def _log(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)  # the folder is gone


def _note(path: Path, line: str) -> None:
    log = _log(path)
    try:
        os.write(log, line.encode("utf-8", "replace"))
    finally:
        os.close(log)
