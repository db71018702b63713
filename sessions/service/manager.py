"""The manager of sessions: the single entry point for everything that front ends do with them.

There is no daemon.  Any number of managers in any number of processes work on the same state folder.  Each request is
recorded as a row, and the session's runner carries it out.
"""

import os
import shlex
import shutil
import sqlite3
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from msgspec import structs

from agentdash.sessions.agents.planned import settings_of
from agentdash.sessions.agents.registry import PLAIN_COMMAND, agent_named
from agentdash.sessions.model.errors import NotAllowedError, RefusalError
from agentdash.sessions.model.session import Session, Status, StoppedBy
from agentdash.sessions.rules.asks.recorded import RecordedAsk
from agentdash.sessions.rules.conversation.marks import Mark
from agentdash.sessions.rules.keys import check_same_task
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.runner.base_environment import record
from agentdash.sessions.runner.caller import Caller, find_caller
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.queue.next_turn import with_images
from agentdash.sessions.runner.queue.pump import pump
from agentdash.sessions.service.families.joining import joined, membership, parent_of, source_of
from agentdash.sessions.service.families.reach import MADE_INSIDE, known_caller, rights_of
from agentdash.sessions.service.families.rights import acts
from agentdash.sessions.service.lifecycle.starts.launch_plan import (
    adopt_settings,
    build_launch,
    checked_prompt,
    checked_text,
    completed,
    recorded_environment,
    title_of,
)
from agentdash.sessions.service.lifecycle.starts.own_folders import check_reach
from agentdash.sessions.service.lifecycle.wait import wait_until
from agentdash.sessions.service.managing.housekeeping import Housekeeping, Shared, keep_start
from agentdash.sessions.service.managing.spending import SessionBudgets, SessionPrices
from agentdash.sessions.service.managing.stopping import Stopping
from agentdash.sessions.service.managing.trusting import ProjectTrust
from agentdash.sessions.service.prompts.adjusting import SessionAdjuster
from agentdash.sessions.service.prompts.answering import SessionAsks
from agentdash.sessions.service.prompts.attaching import attached, has_images
from agentdash.sessions.service.prompts.compacting import SessionCompactor
from agentdash.sessions.service.prompts.prompter import Prompter
from agentdash.sessions.service.prompts.queue import SessionChains, SessionQueue
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.settings.config import PROFILE, Config, Loaded
from agentdash.sessions.storage.paths import Layout, default_home
from agentdash.sessions.storage.store import Store

if TYPE_CHECKING:
    from agentdash.sessions.service.lifecycle.starts.continue_plan import Continued
    from agentdash.sessions.service.lifecycle.takeover import Takeover
    from agentdash.sessions.service.prompts.conversations import SessionConversations
    from agentdash.sessions.storage.turns.takeovers import ByHand


class SessionManager(Stopping):
    """Starts and ends sessions; :attr:`prompts` and :attr:`queue` send prompts, :attr:`reader` shows everything.

    Args:
        home: the state folder; None takes ``$AGENTDASH_HOME`` or the platform's.
        config_path: the settings; None takes ``$AGENTDASH_CONFIG`` or the platform's.
        caller: who calls, which decides the sessions that can be changed; None finds it.

    Raises:
        StoreError: the state folder cannot be used.
    """

    def __init__(self, home: Path | None = None, config_path: Path | None = None, caller: Caller | None = None) -> None:
        caller = find_caller() if caller is None else caller  # it completes the environment that names the folder
        self.layout = Layout(home or default_home())
        """The paths of the state folder."""
        self.layout.create()
        is_new = not self.layout.database.exists()
        self.store = Store(self.layout.database)
        """The rows of the sessions."""
        if is_new and caller.session is not None:
            self.store.keep({MADE_INSIDE: 1})
        self.caller = known_caller(caller, self.layout, self.store)
        """The caller: the user, a session of this state folder, or an outside lead."""
        self._asked_profile = os.environ.get(PROFILE) or ""
        if self.caller.session is not None and self.store.session(self.caller.session) is not None:
            adopt_settings(self.store.recipe(self.caller.session).env)
        self.reader = SessionReader(self.layout, self.store, config_path, self.caller.starters)
        """All operations that only read."""
        rights = rights_of(self.caller, self.layout, self.reader, self.store)
        self.reader.settings.by_agent = not self.caller.acts_for_user
        super().__init__(rights)
        self.housekeeping = Housekeeping(rights, self.layout, self.store, self.reader, self._stop_workers)
        """Names, archive, trash, and the conclusion of sessions whose runner died."""
        self._shared = Shared(rights, self.layout, self.store, self.reader, self.housekeeping)
        self.prompts = Prompter(self._shared, lambda ref, n: self.stop(ref, turn=n))
        """Prompts to sessions: sending, retrying, interrupting."""
        self.compacting = SessionCompactor(self._shared, self.prompts)
        """Summaries that take the place of conversations."""
        self.queue = SessionQueue(self._shared, self.prompts)
        """The prompts that wait."""
        self.asks = SessionAsks(self._shared)
        """The asks of live agents, and their answers."""
        self.adjuster = SessionAdjuster(self._shared)
        """Changes of the model and the mode of sessions."""
        self.chains = SessionChains(self._shared)
        """The sessions that wait for the end of others."""
        self.budgets = SessionBudgets(self._shared)
        """The budgets of leads and their workers."""
        self.prices = SessionPrices(self._shared)
        """The prices, and the costs of ended turns, computed again."""
        self.projects = ProjectTrust(rights, self.layout, self.reader)
        """The trust in the settings of projects."""

    @cached_property
    def conversation(self) -> "SessionConversations":
        """Acts on conversations: going back, taking that back, forking."""
        from agentdash.sessions.service.prompts.conversations import SessionConversations  # most commands need no steps

        return SessionConversations(self._shared, self.prompts, self._begin_fork)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database; sessions keep running."""
        self.reader.close_files()
        self.store.close()

    def take_late(self) -> list[str]:
        """Return the prompts that this process found long after their time, each once as a line; cleaned."""
        if not self.store.ripened:
            return []
        from agentdash.sessions.rules.prompts.due import late_words  # most commands find none

        found, self.store.ripened = self.store.ripened, []
        return [words for one in found if (words := late_words(one.label, one.due_at, one.found_at))]

    def spawn(self, start: Start) -> Session:
        """Start a session; return as soon as the intent is recorded and a runner has been sent.

        A start that fails is a visible failed session, not an exception.  A session that waits for another one is
        queued until that one is done.  If the caller asked for the same key before, its session is returned.

        Raises:
            UnknownSessionError, AmbiguousSessionError: the session to wait for does not exist, or several fit.
            UsageError: empty prompt, no such folder, unknown agent or option, broken settings.
            NotAllowedError: an agent asks for a folder, an agent or permissions that it cannot give, or its own session
                was deleted.
            RefusalError: the session from inside which it is requested may not start it now, or a budget is spent.
        """
        settings = self.reader.settings.in_folder(start.cwd)
        if (known := self._keyed(start)) is not None:
            return known
        start = completed(structs.replace(start, prompt=checked_prompt(start.prompt)), settings.config)
        start = structs.replace(start, prompt=self.rights.prompt(start.prompt, start.agent))
        if has_images(start.prompt, start.images, by_user=not self.rights.is_agent):
            return self._begin_with_images(start, settings)
        return self._begin(start, settings)

    def _begin_with_images(self, start: Start, settings: Loaded) -> Session:
        """Begin a session with images, which are copied into its folder first."""
        self.layout.check_writable()
        agent, folder = agent_named(start.agent), self.layout.session(start.session_id)
        transport = build_launch(settings.config, start).transport
        try:
            by_user = not self.rights.is_agent
            text = attached(agent, transport, folder, start.prompt, start.images, start.cwd, by_user=by_user)
            return self._begin(structs.replace(start, prompt=text, images=()), settings)
        finally:
            if self.store.session(start.session_id) is None:
                shutil.rmtree(folder.path, ignore_errors=True)

    def spawn_copies(self, start: Start) -> list[Session]:
        """Start ``start.copies`` sessions; those that find no free place wait in the queue, in this order.

        The first session gets the id of the start.
        """
        copies = start.copies or 1
        name = start.title or title_of(start.prompt)
        titles = [f"{name} ({n}/{copies})" for n in range(1, copies + 1)] if copies > 1 else [start.title]
        keys = [f"{start.key}/{n}" if start.key and copies > 1 else start.key for n in range(1, copies + 1)]
        begun = [self.spawn(structs.replace(start, title=titles[0], key=keys[0]))]
        for title, key in zip(titles[1:], keys[1:], strict=True):
            try:
                begun.append(self.spawn(structs.replace(start, title=title, key=key, session_id="")))
            except RefusalError as refused:
                known = ", ".join(one.short_id for one in begun)
                raise RefusalError(
                    refused.code, f"{len(begun)} of {copies} were started ({known}). {refused.fact}"
                ) from None
        return begun

    def continue_session(self, continued: "Continued") -> Session:
        """Start a session that continues another one, exactly as :meth:`.reader.SessionReader.continued` planned it."""
        self.layout.check_writable()
        start, settings = continued.start, self.reader.settings.in_folder(continued.start.cwd)
        env, mark = self._environment(start.agent), continued.mark(self.inside or StoppedBy.YOU)
        joined(self.caller, self._parent(), start, settings.config.orchestration)
        return self._record(start, continued.launch, env, settings, mark)

    def _begin_fork(
        self, start: Start, config: Config, launch: Launch, env: Mapping[str, str | None], mark: Mark
    ) -> Session:
        """Begin a fork; ``config`` and ``env`` are those of its origin, which may have another profile."""
        joined(self.caller, self._parent(), start, config.orchestration)
        return self._record(start, launch, env, self.reader.settings.in_folder(start.cwd), mark)

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str = "",
        title: str = "",
        options: Mapping[str, Any] | None = None,
        after: str = "",
    ) -> Session:
        """Start any command as a session, at once or when the session ``after`` is done.

        Raises:
            UsageError: nothing to run, no such folder, unknown option.
        """
        task = checked_text(shlex.join(argv), "command")
        start = Start(
            task, agent=PLAIN_COMMAND, cwd=cwd, title=title, options=options or {}, argv=tuple(argv), after=after
        )
        settings = self.reader.settings.in_folder(start.cwd)
        return self._begin(completed(start, settings.config), settings)

    def _begin(self, start: Start, settings: Loaded) -> Session:
        """Record a completed start and send its runner."""
        self.layout.check_writable()
        start = joined(self.caller, self._parent(), start, settings.config.orchestration)
        after = self.reader.get(start.after).id if start.after else ""
        led = self.inside is not None or self.caller.lead is not None
        start = structs.replace(start, after=after, led=led)
        launch = build_launch(settings.config, start, notes=settings.notes)
        if less := self.rights.narrowed(start.agent, launch.mode, start.options):
            start = structs.replace(start, options={**start.options, **less})
            launch = build_launch(settings.config, start, notes=settings.notes)
        return self._record(start, launch, self._environment(start.agent), settings)

    def _record(
        self, start: Start, launch: Launch, env: Mapping[str, str | None], settings: Loaded, mark: Mark | None = None
    ) -> Session:
        """Record the first turn of a session, and the settings for its runner, and send the runner."""
        parent, agent = self._parent(), agent_named(start.agent)
        self.rights.check_mode(start.agent, launch.mode, start.options)
        if parent is None or parent.cwd not in (start.cwd, *map(str, Path(start.cwd).parents)):  # else the lead has it
            home, path, own = self.layout.home, self.reader.settings.path, self.rights.states_settings
            added = agent.writable_folders(settings_of(launch.settings, agent))
            for reached in (start.cwd, *(str(Path(start.cwd, one)) for one in added)):
                check_reach(agent, launch.mode, reached, home, path, states_settings=own)
        title = checked_text(start.title or title_of(start.prompt), "title")
        start = structs.replace(start, title=title, source=source_of(self.caller, start))
        if start.over_budget:
            self.rights.check_no_agent("A start beyond a budget")
        keep_start(self.store, settings, own=self.rights.states_settings)
        folder = self.layout.session(start.session_id)
        folder.create()
        record(folder)
        place, host = membership(self.caller, parent, start), processes.host_name()
        launch = with_images(launch, agent, folder)
        try:
            self.store.create(start, launch, str(uuid.uuid4()), host=host, env=env, membership=place, mark=mark)
        except BaseException as error:
            shutil.rmtree(folder.path, ignore_errors=True)
            known = self._keyed(start) if isinstance(error, sqlite3.IntegrityError) else None
            if known is not None:
                return known  # the same request from another process came first
            raise
        self.housekeeping.record(folder)
        pump(self.layout, self.store)
        return self.reader.by_id(start.session_id)

    def _environment(self, agent: str) -> dict[str, str | None]:
        """Return the environment to record with a session; one that a session starts has its profile."""
        own = os.environ.get(PROFILE) or ""
        if self.inside is not None and self._asked_profile != own:
            fact = f"A session starts others with the profile of the settings with which it began: {own or 'none'}."
            raise NotAllowedError("profile_not_allowed", fact)
        return recorded_environment(agent, self.reader.settings.path)

    def _parent(self) -> Session | None:
        return parent_of(self.caller, self.store)

    def _keyed(self, start: Start) -> Session | None:
        """Return the session that the caller asked for by the same key before; a lost runner is started again.

        Raises:
            UsageError: it has another task.
        """
        if not start.key:
            return None
        place = membership(self.caller, self._parent(), start)
        known = self.store.families.keyed(place.parent, place.lead, start.key)
        session = self.reader.by_id(known) if known is not None else None
        if session is None:
            return None
        # A template may put the id of the session into its task.
        check_same_task(
            start.key,
            f"session {session.short_id}",
            session.task.replace(session.id, "{id}"),
            start.prompt.replace(start.session_id or "{id}", "{id}"),
        )
        return self.housekeeping.settled(session.id)

    @acts("take over")
    def take_over(self, ref: str) -> "Takeover":
        """Take over an idle session: its lock is held, until the front end has run the agent's own interface.

        Raises:
            UsageError: the agent has no such interface, has not named its conversation, or the folder is gone.
            SessionBusyError: the session works, or cannot be taken over for another reason, which the error names.
        """
        from agentdash.sessions.service.lifecycle.takeover import take_over  # nothing else needs it

        self.layout.check_writable()
        session = self.housekeeping.settled(ref)
        command = self.reader.resume_command(session.id)
        return take_over(self.layout, self.store, session, command, settle=self.housekeeping.settle)

    def give_back(self, takeover: "Takeover", exit_code: int | None = None) -> "ByHand":
        """Record what was said in the agent's own interface, and let the session's queue go on.

        Args:
            exit_code: that of the interface; None if it could not be started.

        Raises:
            StoreError: it cannot be recorded now; the next command that reads the session tries again.
        """
        done = takeover.finish(exit_code)
        pump(self.layout, self.store)
        return done

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

    def wait(
        self,
        refs: Iterable[str],
        *,
        any_: bool = False,
        timeout: float | None = None,
        asked: Callable[[RecordedAsk], None] | None = None,
        blocked: Callable[[Session], None] | None = None,
    ) -> list[Session]:
        """Wait until all sessions (or one of them) have ended; return them as they were then.

        Args:
            any_: the first end is enough.
            timeout: seconds; None waits for ever.
            asked: called once for each ask that waits for the user meanwhile.
            blocked: called once for each session that is not started because another one did not end well.

        Raises:
            TimeoutError: they had not ended after ``timeout`` seconds.
        """
        ids = [self.reader.get(ref).id for ref in refs]
        quantor = any if any_ else all
        reported: set[int | str] = set()
        sessions: list[Session] = []

        def over() -> bool:
            sessions[:] = (self.reader.by_id(session_id) for session_id in ids)
            if asked is not None and any(session.asking for session in sessions):
                for ask in self.reader.asks():
                    if ask.session in ids and ask.id not in reported:
                        reported.add(ask.id)
                        asked(ask)
            if blocked is not None:
                for session in sessions:
                    if session.blocked and session.id not in reported:
                        reported.add(session.id)
                        blocked(session)
            return quantor(session.status.ended for session in sessions)

        if not wait_until(self.store, over, timeout, settle=self.housekeeping.settle):
            raise TimeoutError(f"not ended after {timeout} s")
        return sessions  # not read again: a live agent may have begun its next turn meanwhile
