"""Everything that a front end can read: sessions, turns, steps, outputs, processes, settings."""

from collections.abc import Callable, Collection, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from agentdash.sessions.agents.registry import agent_named, agent_names, takes_prompts
from agentdash.sessions.model.adjustments import Adjustment
from agentdash.sessions.model.errors import ConfigError, Remedy, UnknownSessionError
from agentdash.sessions.model.plan_windows import PlanWindow
from agentdash.sessions.model.session import Changes, Prompt, Session, Status, Turn, short_id
from agentdash.sessions.rules.asks.recorded import RecordedAsk
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.limits.admission import FamilyLimits
from agentdash.sessions.rules.limits.period_budgets import PeriodState
from agentdash.sessions.runner.caller import THE_USER
from agentdash.sessions.service.lifecycle import session_ref
from agentdash.sessions.service.lifecycle.process_list import ProcessInfo, process_list
from agentdash.sessions.service.lifecycle.starts.launch_plan import build_launch, checked_prompt, completed
from agentdash.sessions.service.lifecycle.stop_family import StopPreview, ends_too
from agentdash.sessions.service.reading.settings_in_force import SettingsReader
from agentdash.sessions.service.reading.steps import OutputReader, StepsReader
from agentdash.sessions.settings.config import Config
from agentdash.sessions.storage.families.family_budgets import FamilyState
from agentdash.sessions.storage.files import trash
from agentdash.sessions.storage.files.trash import Trashed
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.prompts.prompt_history import (
    MOST_PROMPTS,
    PastPrompt,
    containing,
    past_prompts,
    requested_since,
)
from agentdash.sessions.storage.prompts.queued_prompt import QueuedPrompt, Unconfirmed
from agentdash.sessions.storage.queries import Queries

if TYPE_CHECKING:
    from agentdash.sessions.rules.costs.usage_table import UsageQuery, UsageTable
    from agentdash.sessions.service.lifecycle.explain import Explanation
    from agentdash.sessions.service.lifecycle.starts.continue_plan import Continued
    from agentdash.sessions.service.lifecycle.starts.resume_command import ResumeCommand
    from agentdash.sessions.storage.use.use_queries import UseQueries


class SessionReader:
    """Answers every query of a front end, and has no way to change a session.

    Each query raises ``StoreError`` if the database cannot be read.

    Args:
        config_path: the settings; None takes ``$AGENTDASH_CONFIG`` or the platform's.
        starters: the parents and leads of the sessions that the caller started: ``@last`` is the newest of these.
    """

    def __init__(
        self,
        layout: Layout,
        queries: Queries,
        config_path: Path | None = None,
        starters: Sequence[tuple[str | None, str | None]] = (THE_USER,),
    ) -> None:
        self._layout = layout
        self._queries = queries
        self._starters = starters
        self.settings = SettingsReader(layout.home, config_path)
        """The settings in force."""
        self.steps = StepsReader(layout, queries, self.get, self._prompts)
        """The steps of sessions, and what follows from them."""
        self.outputs = OutputReader(layout, queries, self.get)
        """The output of agents, byte for byte."""
        self._seen_version: tuple[tuple[int, int, int], int] | None = None
        self._use: UseQueries | None = None

    def close_files(self) -> None:
        """Close the files that this reader opened for itself; the database is its owner's."""
        if self._use is not None:
            self._use.close()

    @property
    def home(self) -> Path:
        """The state folder."""
        return self._layout.home

    @property
    def read_only(self) -> bool:
        """True if the state folder cannot be written, so that nothing can be changed."""
        return self._layout.read_only

    @property
    def live_dir(self) -> Path:
        """The folder with the second names of turn files that are being written."""
        return self._layout.live

    def recent_folders(self, limit: int = 30) -> list[str]:
        """List the folders in which sessions were started, most recent first."""
        return self._queries.recent_folders(limit)

    def recent_prompts(self, limit: int = 200) -> list[str]:
        """List the recent prompts to agents, most recent first, each text once."""
        return [prompt.text for prompt in self.past_prompts(limit=limit)]

    def was_requested(self, text: str, since: int) -> bool:
        """Return whether a text was requested as a prompt since a time, UTC ms."""
        return requested_since(self._queries.database, text, since)

    def past_prompts(self, text: str = "", limit: int = MOST_PROMPTS) -> list[PastPrompt]:
        """List the prompts to agents that contain all words of a text, most recent first, each text once."""
        unprompted = [name for name in agent_names() if not takes_prompts(name)]
        most = MOST_PROMPTS if text.strip() else limit
        return containing(past_prompts(self._queries.database, unprompted, most), text)[:limit]

    def options(self, ref: str) -> dict[str, object]:
        """Return the options that a session's spawn requested beyond the settings."""
        return self._queries.recipe(self.get(ref).id).options

    def warnings(self, ref: str) -> tuple[str, ...]:
        """Return a sentence for each limit of a session's newest turn that cannot act, or not before the turn ends."""
        session = self.get(ref)
        launch = self._queries.launch(session.id, session.turn)
        return launch.warnings if launch else ()

    def stop_preview(self, ref: str) -> StopPreview:
        """Return what a stop would end."""
        session = self.get(ref)
        launch = self._queries.launch(session.id, session.turn)
        ending, going_on = ends_too(self._queries.descendants(session.id), session)
        return StopPreview(
            ladder=(launch.ladder if launch else None) or agent_named(session.agent).ladder,
            processes=self.processes(session.id),
            ending=ending,
            going_on=going_on,
        )

    def plan(self, start: Start) -> Launch:
        """Return the exact start that :meth:`.manager.SessionManager.spawn` would make; nothing is started or recorded.

        If ``start`` has the id of the future session, both have the same arguments.

        Raises:
            UsageError: empty prompt, no such folder, unknown agent or option, broken settings.
        """
        settings = self.settings.in_folder(start.cwd)
        if start.after:
            self.get(start.after)
        start = completed(structs.replace(start, prompt=checked_prompt(start.prompt)), settings.config)
        return build_launch(settings.config, start, notes=settings.notes)

    def continued(
        self, ref: str, start: Start, *, inherits: bool = True, words: Callable[[str, str], str] | None = None
    ) -> "Continued":
        """Return the plan of a session that continues another one; nothing is started (:mod:`.lifecycle.starts`)."""
        from agentdash.sessions.service.lifecycle.starts.continue_plan import continue_plan

        settings_in = self.settings.in_folder
        ref = self.get(ref).id if session_ref.is_last(ref) else ref
        return continue_plan(self._layout, self._queries, settings_in, ref, start, inherits=inherits, words=words)

    def deleted(self) -> list[Trashed]:
        """List the sessions in the trash, which can be restored, most recently deleted first."""
        return trash.listing(self._layout)

    def get(self, ref: str, *, destructive: bool = False) -> Session:
        """Return the session with this id, a unique prefix of it, or ``@last``.

        Raises:
            UsageError, AmbiguousSessionError: the text is empty or too short, or several ids begin with it.
            UnknownSessionError: no id begins with it; if one in the trash does, the error explains how to restore it.
        """
        if session_ref.is_last(ref):
            return session_ref.last_session(self._queries, self._starters)
        try:
            return session_ref.find_session(self._queries, ref, destructive=destructive)
        except UnknownSessionError:
            deleted = trash.begins(self._layout, ref.strip().lower())
            if deleted is None:
                raise
            short = short_id(deleted)
            raise UnknownSessionError(
                f"Session {short} is in the trash.", Remedy.RESTORE, f"Restore it: agentdash restore {short}"
            ) from None

    def put_away(self, *, archived: bool = True, deleted: bool = True) -> list[Session]:
        """List the sessions that no list shows unless asked: those archived, and those in the trash."""
        kept = self.sessions(archived=True) if archived else []
        return [*kept, *(trash.sessions(self._layout) if deleted else ())]

    def count_put_away(self) -> tuple[int, int]:
        """Return the number of archived sessions, and of those in the trash, without reading any of them."""
        return self._queries.archived(), trash.count(self._layout)

    def sessions(
        self, *, statuses: Collection[Status] = (), cwd: str | None = None, archived: bool = False
    ) -> list[Session]:
        """List sessions, newest first: those in use, or those that were archived."""
        listed = [s for s in self._queries.sessions(statuses) if (s.archived_at is not None) is archived]
        return listed if cwd is None else [session for session in listed if session.cwd == cwd]

    def listed(self, newest: int) -> tuple[list[Session], list[Session]]:
        """Return the sessions that a short list may show, newest first, and what counts of all others."""
        return self._queries.listed(newest)

    def first_sessions(self, limit: int = 120) -> tuple[list[Session], int]:
        """Return the sessions that fill the first screen of a table, and the number of all sessions."""
        return self._queries.first(limit)

    def changes(self, since: int) -> Changes:
        """Return the changes after ``since``; makes no query if no process has committed anything."""
        version = self._queries.data_version()
        if self._seen_version == (version, since):
            return Changes(seq=since)
        replaced = self._seen_version is not None and self._seen_version[0][0] != version[0]
        changes = self._queries.changes(0 if replaced else since)
        self._seen_version = (version, changes.seq)
        return structs.replace(
            changes,
            updated=tuple(session for session in changes.updated if session.archived_at is None),
            removed=changes.removed + tuple(session.id for session in changes.updated if session.archived_at),
            fresh=replaced,
            plans=tuple(self._queries.plan_windows.all()),
        )

    def usage(self, query: "UsageQuery") -> "UsageTable":
        """Return the use of tokens and money by groups; deleted sessions count, because the money was spent."""
        return self._usage.table(query)

    def sessions_of_usage(self, query: "UsageQuery", group: str | None = None, column: date | None = None) -> list[str]:
        """Return the ids of the sessions of a group, of a column (its first day), or of a group in a column.

        The sessions with the greatest use come first; deleted ones are among them.
        """
        return self._usage.sessions(query, group, column)

    @property
    def _usage(self) -> "UseQueries":
        """The queries of use, kept for life with their file."""
        if self._use is None:
            from agentdash.sessions.storage.use.day_sums import DaySums  # a list of sessions adds nothing up
            from agentdash.sessions.storage.use.use_queries import UseQueries

            self._use = UseQueries(self._queries.database, DaySums(self._queries.database, self._layout.day_sums))
        return self._use

    def turns(self, ref: str) -> list[Turn]:
        """Return the recorded facts of all turns."""
        return self._queries.turns(self.get(ref).id)

    def prompts(self, ref: str) -> list[Prompt]:
        """Return the prompts of the session."""
        return self._prompts(self.get(ref))

    def _prompts(self, session: Session) -> list[Prompt]:
        """Return the prompts of a session, also the one that a session has while it waits for another one.

        Those that were written into a running turn follow the one that began it.
        """
        recorded = self._queries.prompts(session.id)
        if session.after is None or recorded:
            return sorted([*recorded, *self._queries.steered(session.id)], key=lambda prompt: prompt.turn)
        text, at = session.task, session.created_at
        return [Prompt(id=0, session=session.id, turn=1, text=text, state="queued", created_at=at)]

    def queued(self, ref: str) -> list[QueuedPrompt]:
        """Return the prompts of the session that wait, in the order in which they will be sent."""
        return self._queries.queue.waiting(self.get(ref).id)

    def unconfirmed(self, ref: str) -> list[Unconfirmed]:
        """Return the prompts of the session of which it is not known whether the agent got them, first to last."""
        return self._queries.unconfirmed(self.get(ref).id)

    def explain(self, ref: str) -> "Explanation":
        """Explain why the session has its status."""
        from agentdash.sessions.service.lifecycle.explain import explain

        session = self.get(ref)
        return explain(self._layout, self._queries, session, self._prompts(session), self._limits)

    def budget(self, ref: str) -> FamilyState:
        """Return the budget of a lead and the sums of all sessions below it.

        Args:
            ref: a session, or the key of an outside lead: ``claude:ID``.
        """
        name = ref if ":" in ref else self.get(ref).id
        return self._queries.family_budgets.state(name, self._limits(None))

    def period_budgets(self, ref: str | None = None) -> list[PeriodState]:
        """Return the budgets of days and weeks with what is used of them: all, or those that bind a session."""
        if ref is None:
            return self._queries.period_budgets.states()
        return self._queries.period_budgets.of_session(self.get(ref).id)

    def plan_windows(self) -> list[PlanWindow]:
        """Return the newest report of each window of the plans of agents, also of windows that have ended."""
        return self._queries.plan_windows.all()

    def _limits(self, launch: Launch | None) -> FamilyLimits:
        """Return the limits of families in the settings; if these cannot be used, those of a start."""
        try:
            return self.settings.config().orchestration.limits
        except ConfigError:
            return launch.family if launch is not None else FamilyLimits()

    def resume_command(self, ref: str) -> "ResumeCommand":
        """Return the shell command that resumes the conversation in the agent's own interface; raises `UsageError`."""
        from agentdash.sessions.service.lifecycle.starts.resume_command import resume_command

        session = self.get(ref)
        recorded = self._queries.recorded(session.id)
        marked = recorded if recorded.marks else None

        def config_of(profile: str | None) -> Config:
            return self.settings.in_folder(session.cwd, profile, later=True).config

        mode = self._queries.newest_turn(session.id).mode
        return resume_command(session, self._queries.recipe(session.id), config_of, mode=mode, recorded=marked)

    def asks(self, ref: str | None = None) -> list[RecordedAsk]:
        """List the asks that wait for an answer, of one session or of all, the oldest first."""
        return self._queries.asks.open(self.get(ref).id if ref is not None else None)

    def adjustments(self, ref: str) -> list[Adjustment]:
        """List the changes of the settings of a session, the oldest first."""
        return self._queries.adjustments.of_session(self.get(ref).id)

    def ask(self, ask_id: int) -> RecordedAsk:
        """Return an ask in any state.

        Raises:
            UnknownSessionError: its session was deleted.
        """
        found = self._queries.asks.one(ask_id)
        if found is None:
            raise UnknownSessionError(f"There is no ask {ask_id}: its session was deleted.")
        return found

    def descendants(self, ref: str) -> list[Session]:
        """List the sessions that were started from inside this one, and from inside those; the oldest first."""
        return self._queries.descendants(self.get(ref).id)

    def processes(self, ref: str) -> list[ProcessInfo]:
        """List the session's living processes, parents before children."""
        session = self.get(ref)
        return process_list(self._layout.session(session.id), self._queries.newest_turn(session.id))

    def by_id(self, session_id: str) -> Session:
        """Return the session with exactly this id, as it is recorded now.

        Raises:
            UnknownSessionError: it was deleted.
        """
        session = self._queries.session(session_id)
        if session is None:
            raise UnknownSessionError(f"Session {short_id(session_id)} was deleted.")
        return session
