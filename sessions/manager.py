"""The one manager: what the dashboard, the command line and a model can do with sessions, each by one method.

There is no daemon.  Any number of managers in any number of processes work on the same state folder; what they
ask for is a row, and the runner of the session carries it out.
"""

import os
import shlex
import shutil
import uuid
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .agents.registry import PLAIN_COMMAND, agent_named
from .costs.session_usage import spent_by
from .errors import AgentdashError, ConfigError, SessionBusyError, UnknownSessionError
from .housekeeping import SessionKeeper
from .lifecycle.launch_plan import (
    build_launch,
    checked_folder,
    checked_prompt,
    checked_text,
    recorded_environment,
    recorded_profile,
    retold,
    title_of,
)
from .lifecycle.reconcile import survivors
from .lifecycle.stop import stop_session
from .lifecycle.wait import wait_until
from .model import Receipt, Session, Status
from .rules.limits import Limits, roomier, used_up
from .settings.config import Config
from .settings.merge import merged
from .storage.store import NewSession
from .supervision import processes
from .supervision.queue import pump
from .supervision.runner_process import poke

_AT_ONCE = 64
"""Sessions stopped at once; more wait for the first of them."""


class SessionManager(SessionKeeper):
    """Starts, prompts and ends sessions; looks at them and keeps them in order as its bases do."""

    def spawn(
        self,
        prompt: str,
        *,
        agent: str | None = None,
        model: str | None = None,
        cwd: str | None = None,
        title: str | None = None,
        options: Mapping[str, Any] | None = None,
        source: str = "user",
        session_id: str | None = None,
    ) -> Session:
        """Start a session; returns as soon as the intent is recorded and a runner is on its way.

        A start that fails is a visible failed session, not an exception.  ``session_id`` is a fresh UUID, that of a
        :meth:`plan` that is to be carried out as it was shown; None makes one.

        Raises:
            UsageError: empty prompt, no such folder, unknown agent or option, broken settings.
        """
        config = self.config()
        return self._start(
            config,
            agent or config.default_agent,
            prompt=checked_prompt(prompt),
            cwd=checked_folder(cwd),
            model=model,
            title=title,
            options=options or {},
            source=source,
            session_id=session_id,
        )

    def spawn_copies(self, copies: int, prompt: str, *, title: str | None = None, **named: Any) -> list[Session]:
        """The same start several times; what finds no free place waits in the queue, in this order.

        ``named`` are the other arguments of :meth:`spawn`; a ``session_id`` is that of the first.
        """
        name = title or title_of(prompt)
        titles = [f"{name} ({n}/{copies})" for n in range(1, copies + 1)] if copies > 1 else [title]
        first = self.spawn(prompt, title=titles[0], **named)
        return [first, *(self.spawn(prompt, title=one, **named | {"session_id": None}) for one in titles[1:])]

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        title: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Session:
        """Start any command as a session.

        Raises:
            UsageError: nothing to run, no such folder, unknown option.
        """
        task = checked_text(shlex.join(argv), "command")
        return self._start(
            self.config(),
            PLAIN_COMMAND,
            prompt=task,
            cwd=checked_folder(cwd),
            model=None,
            title=title,
            options=options or {},
            argv=tuple(argv),
        )

    def _start(
        self,
        config: Config,
        agent: str,
        *,
        prompt: str,
        cwd: str,
        model: str | None,
        title: str | None,
        options: Mapping[str, Any],
        source: str = "user",
        argv: tuple[str, ...] = (),
        session_id: str | None = None,
    ) -> Session:
        self._layout.check_writable()
        session_id = session_id or str(uuid.uuid4())
        launch = build_launch(
            config,
            agent,
            home=self.home,
            prompt=prompt,
            cwd=cwd,
            session_id=session_id,
            model=model,
            options=options,
            argv=argv,
        )
        parent = os.environ.get(processes.SESSION_TAG)
        new = NewSession(
            id=session_id,
            agent=agent,
            title=checked_text(title or title_of(prompt), "title"),
            task=prompt,
            cwd=cwd,
            model=launch.model,
            host=processes.host_name(),
            options=options,
            command=argv,
            env=recorded_environment(agent),
            source=source,
            parent=parent if parent and self._store.session(parent) else None,
        )
        self._store.max_running(config.queue.max_running)
        folder = self._layout.session(session_id)
        folder.create()
        try:
            self._store.create(new, prompt, launch, str(uuid.uuid4()))
        except BaseException:
            shutil.rmtree(folder.path, ignore_errors=True)
            raise
        self._record(folder)
        pump(self._layout, self._store)
        return self._fresh(session_id)

    def inject(self, ref: str, prompt: str, *, limits: Mapping[str, Any] | None = None) -> Session:
        """Say something more to a session that is not running: its next turn.

        ``limits`` take the place of those of the session, from this turn on.

        Raises:
            UsageError: empty prompt, or a limit that can never act.
            SessionBusyError: it is running, cannot be continued, has used up one of its limits, or processes of a
                lost turn still live.
        """
        prompt = checked_prompt(prompt)
        self._layout.check_writable()
        session = self._settled(ref)
        if not agent_named(session.agent).resumable:
            again = f" `agentdash retry {session.id[:8]}` runs it again." if session.status.ended else ""
            raise SessionBusyError(f"Session {session.id[:8]} is a {session.agent}: it takes no prompt.{again}")
        return self._next_turn(session, prompt, "inject", limits or {})

    def retry(self, ref: str, *, limits: Mapping[str, Any] | None = None) -> Session:
        """Send the newest prompt again, after a turn that failed, was stopped or was lost.

        A command runs again however it ended: nothing else continues it.  ``limits`` take the place of those of the
        session, from this turn on.

        Raises:
            UsageError: a limit that can never act.
            SessionBusyError: the turn is running, an agent did it well, or the session has used up one of its limits.
        """
        self._layout.check_writable()
        session = self._settled(ref)
        if session.status is Status.DONE and agent_named(session.agent).resumable:
            raise SessionBusyError(
                f"Session {session.id[:8]} is done: there is nothing to retry."
                f" `agentdash inject {session.id[:8]}` sends its next prompt."
            )
        prompts = self._store.prompts(session.id)
        if not prompts:
            raise UnknownSessionError(f"Session {session.id[:8]} was deleted meanwhile.")
        return self._next_turn(session, prompts[-1].text, "retry", limits or {})

    def _next_turn(self, session: Session, prompt: str, verb: str, limits: Mapping[str, Any]) -> Session:
        self._check_free(session)
        folder = self._layout.session(session.id)
        if not folder.path.is_dir():
            folder.create()  # somebody removed it; what was said before is gone, the conversation is the agent's own
        agent = agent_named(session.agent)
        recipe = self._store.recipe(session.id)
        options = merged(recipe.options, {"limits": limits}) if limits else recipe.options
        turn = session.turn + 1
        text = prompt
        if session.agent_session is None and agent.resumable:
            text = retold(session, self.messages(session.id), prompt)
        self._store.max_running(self.config().queue.max_running)
        launch = build_launch(
            self._config_of(session, recipe.env),
            session.agent,
            home=self.home,
            prompt=text,
            cwd=checked_folder(session.cwd),
            session_id=session.id,
            turn=turn,
            agent_session=session.agent_session,
            model=session.model,
            options=options,
            argv=recipe.command,
            asked=limits,
            env=recipe.env,
        )
        self._check_affordable(session, launch.limits, verb)
        asked_by = os.environ.get(processes.SESSION_TAG)
        self._store.add_turn(
            session.id, session.turn, prompt, launch, str(uuid.uuid4()), asked_by, options if limits else None
        )
        self._record(folder)
        # A runner that only stays for processes that were left makes room for the next one.
        poke(self._layout.session(session.id).poke)
        pump(self._layout, self._store)
        return self._fresh(session.id)

    def _config_of(self, session: Session, env: Mapping[str, str | None]) -> Config:
        """The settings with the profile under which a session began, whatever the profile of whoever asks."""
        profile = recorded_profile(env)
        try:
            return self.config(profile)
        except ConfigError as error:
            began = f" Session {session.id[:8]} began under the profile {profile!r}." if profile else ""
            raise ConfigError(f"{error}{began}") from None

    def _check_free(self, session: Session) -> None:
        short = session.id[:8]
        if not session.status.ended:
            raise SessionBusyError(
                f"Session {short} is {session.status} (turn {session.turn}): {session.agent} takes no prompt while a"
                f" turn runs. Wait for it (`agentdash wait {short}`) or stop it (`agentdash stop {short}`)."
            )
        if session.host != processes.host_name():
            raise SessionBusyError(f"Session {short} runs on {session.host}; continue it there.")
        if session.status is Status.LOST and survivors(self._layout, self._store.newest_turn(session.id)):
            raise SessionBusyError(
                f"Processes of the lost turn of session {short} still live. `agentdash stop {short}` ends them."
            )

    def _check_affordable(self, session: Session, limits: Limits, verb: str) -> None:
        """A session that has used up a limit gets no turn that its runner would only stop again."""
        if not limits.stops or (limits.tokens is None and limits.cost_usd is None):
            return
        spent = spent_by(self._store.turns(session.id))
        over = used_up(limits, spent.tokens, spent.cost_usd, estimated=spent.estimated)
        if over:
            short = session.id[:8]
            raised = " ".join(f"--limit {roomier(name, spent.tokens, spent.cost_usd)}" for name in over)
            prompt = ' "…"' if verb == "inject" else ""
            raise SessionBusyError(
                f"Session {short} is over its limit: it {' and '.join(over.values())}."
                f" Raise the limit to go on: agentdash {verb} {short} {raised}{prompt}"
            )

    def stop(self, ref: str, *, now: bool = False) -> Receipt:
        """Stop a session: ladder, sweep, receipt; ``now`` goes to SIGKILL at once.

        Raises:
            UnknownSessionError, AmbiguousSessionError: no such session, or several.
            AgentdashError: it could not be stopped.
        """
        session = self.get(ref, destructive=True)
        receipt = stop_session(self._layout, self._store, session, settle=self.settle, now=now)
        pump(self._layout, self._store)  # what was cancelled before its start gave its place back
        if not receipt.ended:
            self._record(self._layout.session(session.id))
        return receipt

    def stop_all(self, refs: Iterable[str], *, now: bool = False) -> list[Receipt | AgentdashError]:
        """Stop several sessions at once; for each its receipt, or why there is none.

        Raises:
            UnknownSessionError, AmbiguousSessionError: before anything is stopped.
        """
        ids = [self.get(ref, destructive=True).id for ref in refs]

        def one(session_id: str) -> Receipt | AgentdashError:
            try:
                return self.stop(session_id, now=now)
            except AgentdashError as error:
                return error

        with ThreadPoolExecutor(max_workers=max(1, min(_AT_ONCE, len(ids)))) as pool:
            return list(pool.map(one, ids))

    def stop_family(self, refs: Iterable[str], *, now: bool = False) -> list[tuple[Session, Receipt | AgentdashError]]:
        """Stop sessions and all that they started, until none of these is left: while some end, others begin.

        Raises:
            UnknownSessionError, AmbiguousSessionError: before anything is stopped.
        """
        roots = [self.get(ref, destructive=True) for ref in refs]
        done: dict[str, tuple[Session, Receipt | AgentdashError]] = {}
        due = roots
        while due:
            receipts = self.stop_all([session.id for session in due], now=now)
            done |= {session.id: (session, receipt) for session, receipt in zip(due, receipts, strict=True)}
            below = [one for root in roots for one in self._store.descendants(root.id)]
            due = list({one.id: one for one in below if one.id not in done and not one.status.ended}.values())
        return list(done.values())

    def delete(self, ref: str) -> Receipt | None:
        """Stop a session if need be, then move its folder to the trash; the receipt if anything was stopped.

        :meth:`restore` takes it back until the trash is cleaned.

        Raises:
            SessionBusyError: a new turn was faster.
        """
        session = self.get(ref, destructive=True)
        receipt = self.stop(session.id)
        if not self._bury(session, patience=5.0, archived=True):
            if self._store.session(session.id) is None:
                raise UnknownSessionError(f"Session {session.id[:8]} was deleted meanwhile.")
            raise SessionBusyError(f"Session {session.id[:8]} was started again meanwhile; it was not deleted.")
        return receipt if receipt.ended or receipt.left else None

    def started(self, ref: str, timeout: float = 5.0) -> Session:
        """The session once its turn has left ``queued`` and ``starting``, or as it is after ``timeout`` seconds.

        One that waits for a free place is not waited for.
        """
        session_id = self.get(ref).id

        def under_way() -> bool:
            session = self._fresh(session_id)
            waits = session.status is Status.QUEUED and self._store.newest_turn(session_id).launches == 0
            return waits or session.status not in (Status.QUEUED, Status.STARTING)

        wait_until(self._store, under_way, timeout, settle=self.settle)
        return self._fresh(session_id)

    def wait(self, refs: Iterable[str], *, any_: bool = False, timeout: float | None = None) -> list[Session]:
        """Wait until all sessions (or one of them) have ended.

        Raises:
            TimeoutError: they had not after ``timeout`` seconds.
        """
        ids = [self.get(ref).id for ref in refs]
        quantor = any if any_ else all

        def over() -> bool:
            return quantor(self._fresh(session_id).status.ended for session_id in ids)

        if not wait_until(self._store, over, timeout, settle=self.settle):
            raise TimeoutError(f"still not ended after {timeout} s")
        return [self._fresh(i) for i in ids]
