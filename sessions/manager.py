"""The manager of sessions: the single entry point for everything that front ends do with them.

There is no daemon.  Any number of managers in any number of processes work on the same state folder.  Each request is
recorded as a row, and the session's runner carries it out.
"""

import os
import shlex
import shutil
import uuid
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

from msgspec import structs

from .agents.registry import PLAIN_COMMAND, agent_named
from .costs.session_usage import spent_by
from .errors import AgentdashError, ConfigError, Remedy, SessionBusyError, UnknownSessionError
from .housekeeping import Housekeeping
from .launch import Start
from .lifecycle.launch_plan import (
    LaterTurn,
    build_launch,
    checked_folder,
    checked_prompt,
    checked_text,
    completed,
    recorded_environment,
    recorded_profile,
    retold,
    title_of,
)
from .lifecycle.reconcile import survivors
from .lifecycle.stop import stop_session
from .lifecycle.wait import wait_until
from .model import Receipt, Session, Status
from .processes import processes
from .reader import SessionReader
from .rules.limits import Limits, roomier, used_up
from .settings.config import Config
from .settings.merge import merged
from .storage.paths import Layout, default_home
from .storage.store import Store
from .supervision.queue import pump
from .supervision.runner_process import poke

_AT_ONCE = 64
"""Number of sessions stopped at once; others wait for the first of them."""


class SessionManager:
    """Starts, prompts and ends sessions; :attr:`reader` shows them, and :attr:`housekeeping` keeps them in order.

    Args:
        home: the state folder; None takes ``$AGENTDASH_HOME`` or the platform's.
        config_path: the settings; None takes ``$AGENTDASH_CONFIG`` or the platform's.

    Raises:
        StoreError: the state folder cannot be used.
    """

    def __init__(self, home: Path | None = None, config_path: Path | None = None) -> None:
        self.layout = Layout(home or default_home())
        """The paths of the state folder."""
        self.layout.create()
        self.store = Store(self.layout.database)
        """The rows of the sessions."""
        self.reader = SessionReader(self.layout, self.store, config_path)
        """All operations that only read."""
        self.housekeeping = Housekeeping(self.layout, self.store, self.reader)
        """Names, archive, trash, and the conclusion of sessions whose runner died."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database; sessions keep running."""
        self.store.close()

    def spawn(self, start: Start) -> Session:
        """Start a session; return as soon as the intent is recorded and a runner has been sent.

        A start that fails is a visible failed session, not an exception.

        Raises:
            UsageError: empty prompt, no such folder, unknown agent or option, broken settings.
        """
        config = self.reader.config()
        return self._begin(completed(structs.replace(start, prompt=checked_prompt(start.prompt)), config), config)

    def spawn_copies(self, start: Start) -> list[Session]:
        """Start ``start.copies`` sessions; those that find no free place wait in the queue, in this order.

        The first session gets the id of the start.
        """
        copies = start.copies or 1
        name = start.title or title_of(start.prompt)
        titles = [f"{name} ({n}/{copies})" for n in range(1, copies + 1)] if copies > 1 else [start.title]
        first = self.spawn(structs.replace(start, title=titles[0]))
        return [first, *(self.spawn(structs.replace(start, title=one, session_id="")) for one in titles[1:])]

    def run(
        self, argv: Sequence[str], *, cwd: str = "", title: str = "", options: Mapping[str, Any] | None = None
    ) -> Session:
        """Start any command as a session.

        Raises:
            UsageError: nothing to run, no such folder, unknown option.
        """
        task = checked_text(shlex.join(argv), "command")
        start = Start(task, agent=PLAIN_COMMAND, cwd=cwd, title=title, options=options or {}, argv=tuple(argv))
        config = self.reader.config()
        return self._begin(completed(start, config), config)

    def _begin(self, start: Start, config: Config) -> Session:
        """Record a completed start and send its runner."""
        self.layout.check_writable()
        launch = build_launch(config, start, home=self.layout.home)
        parent = os.environ.get(processes.SESSION_TAG)
        start = structs.replace(start, title=checked_text(start.title or title_of(start.prompt), "title"))
        self.store.max_running(config.queue.max_running)
        folder = self.layout.session(start.session_id)
        folder.create()
        try:
            self.store.create(
                start,
                launch,
                str(uuid.uuid4()),
                host=processes.host_name(),
                env=recorded_environment(start.agent),
                parent=parent if parent and self.store.session(parent) else None,
            )
        except BaseException:
            shutil.rmtree(folder.path, ignore_errors=True)
            raise
        self.housekeeping.record(folder)
        pump(self.layout, self.store)
        return self.reader.by_id(start.session_id)

    def inject(self, ref: str, prompt: str, *, limits: Mapping[str, Any] | None = None) -> Session:
        """Send a prompt to a session that is not running: its next turn.

        ``limits`` replace the session's limits from this turn on.

        Raises:
            UsageError: empty prompt, or a limit that can never act.
            SessionBusyError: it is running, cannot be continued, has used up one of its limits, or processes of a
                lost turn still live.
        """
        prompt = checked_prompt(prompt)
        self.layout.check_writable()
        session = self.housekeeping.settled(ref)
        if not agent_named(session.agent).resumable:
            again = f"Run it again: agentdash retry {session.short_id}" if session.status.ended else ""
            raise SessionBusyError(
                f"Session {session.short_id} is a {session.agent} and takes no prompts.",
                Remedy.RETRY if again else None,
                again,
            )
        return self._next_turn(session, prompt, "inject", limits or {})

    def retry(self, ref: str, *, limits: Mapping[str, Any] | None = None) -> Session:
        """Send the newest prompt again, after a turn that failed, was stopped or was lost.

        A command runs again however it ended, because it cannot be continued.  ``limits`` replace the session's limits
        from this turn on.

        Raises:
            UsageError: a limit that can never act.
            SessionBusyError: the turn is running, an agent completed it, or the session has used up one of its limits.
        """
        self.layout.check_writable()
        session = self.housekeeping.settled(ref)
        if session.status is Status.DONE and agent_named(session.agent).resumable:
            raise SessionBusyError(
                f"Session {session.short_id} is done: nothing to retry.",
                Remedy.PROMPT,
                f"Send a prompt: agentdash inject {session.short_id}",
            )
        prompts = self.store.prompts(session.id)
        if not prompts:
            raise UnknownSessionError(f"Session {session.short_id} was deleted.")
        return self._next_turn(session, prompts[-1].text, "retry", limits or {})

    def _next_turn(self, session: Session, prompt: str, verb: str, limits: Mapping[str, Any]) -> Session:
        self._check_free(session)
        folder = self.layout.session(session.id)
        if not folder.path.is_dir():
            folder.create()  # the folder was removed: its output is lost, the conversation is the agent's own
        agent = agent_named(session.agent)
        recipe = self.store.recipe(session.id)
        options = merged(recipe.options, {"limits": limits}) if limits else recipe.options
        text = prompt
        if session.agent_session is None and agent.resumable:
            text = retold(session, self.reader.messages(session.id), prompt)
        self.store.max_running(self.reader.config().queue.max_running)
        launch = build_launch(
            self._config_of(session, recipe.env),
            Start(
                text,
                agent=session.agent,
                model=session.model,
                cwd=checked_folder(session.cwd),
                options=options,
                argv=recipe.command,
                session_id=session.id,
            ),
            home=self.layout.home,
            later=LaterTurn(turn=session.turn + 1, agent_session=session.agent_session, limits=limits, env=recipe.env),
        )
        self._check_affordable(session, launch.limits, verb)
        asked_by = os.environ.get(processes.SESSION_TAG)
        self.store.add_turn(
            session.id, session.turn, prompt, launch, str(uuid.uuid4()), asked_by, options if limits else None
        )
        self.housekeeping.record(folder)
        # A runner that is left only to supervise remaining processes makes room for the next one.
        poke(self.layout.session(session.id).poke)
        pump(self.layout, self.store)
        return self.reader.by_id(session.id)

    def _config_of(self, session: Session, env: Mapping[str, str | None]) -> Config:
        """Return the settings with the profile under which the session began, whatever the caller's profile is."""
        profile = recorded_profile(env)
        try:
            return self.reader.config(profile)
        except ConfigError as error:
            began = f" Session {session.short_id} uses the profile {profile!r}." if profile else ""
            raise ConfigError(f"{error}{began}") from None

    def _check_free(self, session: Session) -> None:
        short = session.short_id
        if not session.status.ended:
            raise SessionBusyError(
                f"Session {short} is {session.status}: cannot take a prompt until turn {session.turn} ends.",
                Remedy.WAIT_OR_STOP,
                f"Wait for it: agentdash wait {short}, or stop it: agentdash stop {short}",
            )
        if session.host != processes.host_name():
            raise SessionBusyError(f"Session {short} runs on {session.host}; continue it there.")
        if session.status is Status.LOST and survivors(self.layout, self.store.newest_turn(session.id)):
            raise SessionBusyError(
                f"Processes of the lost turn of session {short} are still running.",
                Remedy.STOP,
                f"Stop them: agentdash stop {short}",
            )

    def _check_affordable(self, session: Session, limits: Limits, verb: str) -> None:
        """Refuse a turn for a session that has used up a limit, because its runner would only stop it again."""
        if not limits.stops or (limits.tokens is None and limits.cost_usd is None):
            return
        spent = spent_by(self.store.turns(session.id))
        over = used_up(limits, spent.tokens, spent.cost_usd, estimated=spent.estimated)
        if over:
            short = session.short_id
            raised = " ".join(f"--limit {roomier(name, spent.tokens, spent.cost_usd)}" for name in over)
            prompt = ' "…"' if verb == "inject" else ""
            raise SessionBusyError(
                f"Session {short} is over its limit: it {' and '.join(over.values())}.",
                Remedy.RAISE_LIMIT,
                f"Raise the limit to continue: agentdash {verb} {short} {raised}{prompt}",
            )

    def stop(self, ref: str, *, now: bool = False) -> Receipt:
        """Stop a session: ladder, sweep, receipt; ``now`` sends SIGKILL at once.

        Raises:
            UnknownSessionError, AmbiguousSessionError: no such session, or several.
            AgentdashError: it could not be stopped.
        """
        session = self.reader.get(ref, destructive=True)
        receipt = stop_session(self.layout, self.store, session, settle=self.housekeeping.settle, now=now)
        pump(self.layout, self.store)  # a session that was cancelled before its start frees its place
        if not receipt.ended:
            self.housekeeping.record(self.layout.session(session.id))
        return receipt

    def stop_all(self, refs: Iterable[str], *, now: bool = False) -> list[Receipt | AgentdashError]:
        """Stop several sessions at once; return each one's receipt, or the error that prevented it.

        Raises:
            UnknownSessionError, AmbiguousSessionError: before anything is stopped.
        """
        ids = [self.reader.get(ref, destructive=True).id for ref in refs]

        def one(session_id: str) -> Receipt | AgentdashError:
            try:
                return self.stop(session_id, now=now)
            except AgentdashError as error:
                return error

        with ThreadPoolExecutor(max_workers=max(1, min(_AT_ONCE, len(ids)))) as pool:
            return list(pool.map(one, ids))

    def stop_family(self, refs: Iterable[str], *, now: bool = False) -> list[tuple[Session, Receipt | AgentdashError]]:
        """Stop sessions and all their descendants, until none is left: new ones may begin while others end.

        Raises:
            UnknownSessionError, AmbiguousSessionError: before anything is stopped.
        """
        roots = [self.reader.get(ref, destructive=True) for ref in refs]
        done: dict[str, tuple[Session, Receipt | AgentdashError]] = {}
        due = roots
        while due:
            receipts = self.stop_all([session.id for session in due], now=now)
            done |= {session.id: (session, receipt) for session, receipt in zip(due, receipts, strict=True)}
            below = [one for root in roots for one in self.store.descendants(root.id)]
            due = list({one.id: one for one in below if one.id not in done and not one.status.ended}.values())
        return list(done.values())

    def delete(self, ref: str) -> Receipt | None:
        """Stop a session if needed, then move its folder to the trash; return the receipt if anything was stopped.

        :meth:`.Housekeeping.restore` brings it back until the trash is cleaned.

        Raises:
            SessionBusyError: a new turn started first.
        """
        session = self.reader.get(ref, destructive=True)
        receipt = self.stop(session.id)
        if not self.housekeeping.bury(session, patience=5.0, archived=True):
            if self.store.session(session.id) is None:
                raise UnknownSessionError(f"Session {session.short_id} was deleted.")
            raise SessionBusyError(f"Session {session.short_id} was started again; not deleted.")
        return receipt if receipt.ended or receipt.left else None

    def started(self, ref: str, timeout: float = 5.0) -> Session:
        """Return the session once its turn has left ``queued`` and ``starting``, or after ``timeout`` seconds.

        Does not wait for a session that needs a free place first.
        """
        session_id = self.reader.get(ref).id

        def under_way() -> bool:
            session = self.reader.by_id(session_id)
            waits = session.status is Status.QUEUED and self.store.newest_turn(session_id).launches == 0
            return waits or session.status not in (Status.QUEUED, Status.STARTING)

        wait_until(self.store, under_way, timeout, settle=self.housekeeping.settle)
        return self.reader.by_id(session_id)

    def wait(self, refs: Iterable[str], *, any_: bool = False, timeout: float | None = None) -> list[Session]:
        """Wait until all sessions (or one of them) have ended.

        Raises:
            TimeoutError: they had not ended after ``timeout`` seconds.
        """
        ids = [self.reader.get(ref).id for ref in refs]
        quantor = any if any_ else all

        def over() -> bool:
            return quantor(self.reader.by_id(session_id).status.ended for session_id in ids)

        if not wait_until(self.store, over, timeout, settle=self.housekeeping.settle):
            raise TimeoutError(f"not ended after {timeout} s")
        return [self.reader.by_id(i) for i in ids]
