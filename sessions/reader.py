"""Everything that a front end can read: sessions, turns, steps, outputs, processes, settings."""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from .agents.demo.place import find_demo
from .agents.registry import agent_named, agent_names, takes_prompts
from .asks.recorded import RecordedAsk
from .conversation.interrupted import is_conversation
from .conversation.shown import Shown, shown
from .errors import ConfigError, Remedy, StoreError, UnknownSessionError, UsageError
from .launch import Ladder, Launch, Start
from .lifecycle import session_ref
from .lifecycle.agent_list import AgentInfo, agent_list
from .lifecycle.process_list import ProcessInfo, process_list
from .lifecycle.starts.launch_plan import build_launch, checked_prompt, completed
from .model import Changes, Prompt, Session, Status, Step, StepKind, Turn, short_id
from .rules.limits.admission import FamilyLimits
from .settings.config import Config, Loaded, load_config, read_settings
from .settings.place import config_path
from .settings.presets import Preset
from .settings.prompt_templates import PromptTemplate
from .storage.files import trash
from .storage.files.file_part import FilePart
from .storage.files.trash import Trashed
from .storage.marks import RelatedMark
from .storage.paths import Layout, SessionFolder
from .storage.prompts.prompt_history import MOST_PROMPTS, PastPrompt, containing, past_prompts
from .storage.prompts.queued_prompt import QueuedPrompt
from .storage.prompts.unconfirmed import Unconfirmed
from .storage.queries import Queries
from .storage.turns.turn_output import output_in
from .values.adjustments import Adjustment
from .values.plan_windows import PlanWindow

if TYPE_CHECKING:
    from datetime import date

    from .changes.git import GitDiff
    from .changes.model import SessionChanges
    from .changes.recorded import Recorded
    from .costs.usage_table import UsageQuery, UsageTable
    from .digest.collect import Digest
    from .lifecycle.explain import Explanation
    from .lifecycle.starts.continue_plan import Continued
    from .lifecycle.starts.resume_command import ResumeCommand
    from .projects.review import Review
    from .rules.limits.period_budgets import PeriodState
    from .storage.families.family_budgets import FamilyState
    from .storage.use.use_queries import UseQueries
    from .transcript.session_steps import Facts, SessionSteps


class SessionReader:
    """Answers every query of a front end, and has no way to change a session.

    Args:
        layout: the state folder.
        queries: its database, for reading.
        config_path: the settings; None takes ``$AGENTDASH_CONFIG`` or the platform's.
    """

    def __init__(self, layout: Layout, queries: Queries, config_path: Path | None = None) -> None:
        self._layout = layout
        self._queries = queries
        self._config_path = config_path
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

    @property
    def settings_path(self) -> Path:
        """The path of the settings file, which need not exist."""
        return self._config_path or config_path()

    def config(self, profile: str | None = None) -> Config:
        """Read the settings from disk now, under a profile; None takes ``$AGENTDASH_PROFILE``, "" no profile.

        Raises:
            ConfigError: they cannot be used, or have no such profile.
        """
        return load_config(self._config_path, profile, self.home)

    def settings(self) -> Loaded:
        """Return the settings with the file that they come from.

        Raises:
            ConfigError: they cannot be used.
        """
        return read_settings(self._config_path, home=self.home)

    def settings_in(self, folder: str, profile: str | None = None, *, later: bool = False) -> Loaded:
        """Return the settings of a start in a folder ("" for the current one), with those of a trusted project.

        ``later`` is True for a later turn of a session: see :func:`.projects.apply.in_folder`.

        Raises:
            ConfigError: the user's own settings cannot be used.
        """
        from .projects.apply import in_folder  # only a start needs it

        return in_folder(read_settings(self._config_path, profile, self.home), folder, self.home, later=later)

    def project_of(self, folder: str) -> "Review | None":
        """Return the settings of a folder's project, trusted or not; None if it has none.

        Raises:
            ConfigError: the user's own settings cannot be used.
        """
        from .projects.apply import project_of

        return project_of(self.settings(), folder, self.home)

    def presets(self, folder: str | None = None) -> dict[str, Preset]:
        """Return the presets of the settings; with a folder, also those of its project."""
        return self._config_in(folder).presets

    def default_agent(self, folder: str | None = None) -> str:
        """Return the agent that is started when none is named; with a folder, that of its project."""
        return self._config_in(folder).default_agent

    def _config_in(self, folder: str | None) -> Config:
        return self.config() if folder is None else self.settings_in(folder).config

    def agents(self, folder: str | None = None) -> list[AgentInfo]:
        """List every agent that takes a prompt here, and whether its command is installed.

        With a folder, their settings are those of a start in it.  A demo offers only the demo agents: the work of a
        real agent would be deleted with the demo.
        """
        return agent_list(self._config_in(folder), demo=find_demo(self.home) is not None)

    def recent_folders(self, limit: int = 30) -> list[str]:
        """List the folders in which sessions were started, most recent first."""
        return self._queries.recent_folders(limit)

    def templates(self, folder: str | None = None) -> dict[str, PromptTemplate]:
        """Return the prompt templates of the settings; with a folder, also those of its project."""
        return self._config_in(folder).templates

    def recent_prompts(self, limit: int = 200) -> list[str]:
        """List the recent prompts to agents, most recent first, each text once."""
        return [prompt.text for prompt in self.past_prompts(limit=limit)]

    def past_prompts(self, text: str = "", limit: int = MOST_PROMPTS) -> list[PastPrompt]:
        """List the prompts to agents that contain all words of a text, most recent first, each text once."""
        unprompted = [name for name in agent_names(demo=True) if not takes_prompts(name)]
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

    def ladder(self, ref: str) -> Ladder:
        """Return the time that a stop gives each signal before the next one."""
        session = self.get(ref)
        launch = self._queries.launch(session.id, session.turn)
        return (launch.ladder if launch else None) or agent_named(session.agent).ladder

    def plan(self, start: Start) -> Launch:
        """Return the exact start that :meth:`.SessionManager.spawn` would make; nothing is started or recorded.

        If ``start`` has the id of the future session, both have the same arguments.

        Raises:
            UsageError: empty prompt, no such folder, unknown agent or option, broken settings.
        """
        settings = self.settings_in(start.cwd)
        if start.after:
            self.get(start.after)
        start = structs.replace(start, prompt=checked_prompt(start.prompt))
        start = completed(start, settings.config)
        return build_launch(settings.config, start, home=self.home, notes=settings.notes)

    def continued(self, ref: str, start: Start, *, inherits: bool = True) -> "Continued":
        """Return the plan of a session that continues another one; nothing is started: see :func:`.continue_plan`."""
        from .lifecycle.starts.continue_plan import continue_plan

        return continue_plan(self._layout, self._queries, self.settings_in, ref, start, inherits=inherits)

    def deleted(self) -> list[Trashed]:
        """List the sessions that :meth:`restore` can bring back from the trash, most recently deleted first."""
        return trash.listing(self._layout)

    def get(self, ref: str, *, destructive: bool = False) -> Session:
        """Return the session with this id, a unique prefix of it, or ``@last``.

        Raises:
            UsageError, AmbiguousSessionError: the text is empty or too short, or several ids begin with it.
            UnknownSessionError: no id begins with it; if one in the trash does, the error explains how to restore it.
        """
        try:
            return session_ref.find_session(self._queries, ref, destructive=destructive)
        except UnknownSessionError:
            deleted = trash.begins(self._layout, ref.strip().lower())
            if ref == session_ref.LAST or deleted is None:
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
        """Return the use of tokens and money by groups; deleted sessions count, because the money was spent.

        Raises:
            StoreError: the database cannot be read.
        """
        return self._usage.table(query)

    def sessions_of_usage(
        self, query: "UsageQuery", group: str | None = None, column: "date | None" = None
    ) -> list[str]:
        """Return the ids of the sessions of a group, of a column (its first day), or of a group in a column.

        The sessions with the greatest use come first; deleted ones are among them.

        Raises:
            StoreError: the database cannot be read.
        """
        return self._usage.sessions(query, group, column)

    @property
    def _usage(self) -> "UseQueries":
        """The queries of use, kept for life with their file."""
        if self._use is None:
            from .storage.use.day_sums import DaySums  # a list of sessions adds nothing up
            from .storage.use.use_queries import UseQueries

            self._use = UseQueries(self._queries.database, DaySums(self._queries.database, self._layout.day_sums))
        return self._use

    def turns(self, ref: str) -> list[Turn]:
        """Return the recorded facts of all turns."""
        return self._queries.turns(self.get(ref).id)

    def prompts(self, ref: str) -> list[Prompt]:
        """Return the prompts of the session."""
        return self._prompts(self.get(ref))

    def _prompts(self, session: Session) -> list[Prompt]:
        """Return the prompts of a session, also the one that a session has while it waits for another one."""
        recorded = self._queries.prompts(session.id)
        if session.after is None or recorded:
            return recorded
        text, at = session.task, session.created_at
        return [Prompt(id=0, session=session.id, turn=1, text=text, state="queued", created_at=at)]

    def queued(self, ref: str) -> list[QueuedPrompt]:
        """Return the prompts of the session that wait, in the order in which they will be sent."""
        return self._queries.queued(self.get(ref).id)

    def unconfirmed(self, ref: str) -> list[Unconfirmed]:
        """Return the prompts of the session of which it is not known whether the agent got them, first to last."""
        return self._queries.unconfirmed(self.get(ref).id)

    def open_trajectory(self, ref: str) -> "SessionSteps":
        """Open the session's steps, to be refreshed as they arrive; a session in the trash needs its whole id."""
        try:
            session = self.get(ref)
        except UnknownSessionError:
            if (deleted := trash.record(self._layout, ref)) is None:
                raise
            folder = SessionFolder(self._layout.trash / ref)
            return self._steps(folder, deleted.session.agent, lambda: (list(deleted.turns), list(deleted.prompts)))
        return self._opened(session, self._recorded(session))

    def _opened(self, session: Session, recorded: "Recorded | None" = None) -> "SessionSteps":
        folder, sid, read = self._layout.session(session.id), session.id, self._queries
        marks, facts = partial(read.marks_around, sid), lambda: (read.turns(sid), self._prompts(session))
        return self._steps(folder, session.agent, facts, recorded, marks)

    def _steps(
        self,
        folder: SessionFolder,
        agent: str,
        facts: "Facts",
        recorded: "Recorded | None" = None,
        marks: Callable[[], Sequence[RelatedMark]] = tuple,
    ) -> "SessionSteps":
        from .transcript.session_steps import SessionSteps  # a list of sessions needs no steps

        return SessionSteps(folder, agent_named(agent), facts, self._layout.indexes, recorded, marks)

    def _recorded(self, session: Session) -> "Recorded":
        from .changes.session_changes import recorded_of  # a list of sessions needs no diffs

        return recorded_of(session, self._queries.turns(session.id), self._queries.recipe(session.id).env)

    def each_step(self, ref: str, turn: int | None = None) -> Iterator[Step]:
        """Iterate over the steps of a session, or of one turn, in order, with diffs; one step at a time is in memory.

        Diffs that a stream lacks are taken from the agent's own transcript, which is read when the first is needed.

        Raises:
            UsageError: it has no such turn.
            StoreError: a turn file cannot be read.
        """
        session = self.get(ref)
        return self._with_diffs(session, self._recorded(session), turn)

    def _with_diffs(self, session: Session, recorded: "Recorded", turn: int | None) -> Iterator[Step]:
        from .changes.recorded import Dealer

        return Dealer(recorded).deal(self._each_own_step(session, turn))

    def _each_own_step(self, session: Session, turn: int | None = None) -> Iterator[Step]:
        """Iterate over the steps in the turn files, without data that only the agent's own transcript holds.

        Raises:
            UsageError: it has no such turn.
            StoreError: a turn file cannot be read.
        """
        self._checked_turn(session, turn)
        return self._opened(session).every_step_once(None if turn is None else (turn,))

    def trajectory(self, ref: str, turn: int | None = None) -> list[Step]:
        """Return the steps of :meth:`each_step` as a list."""
        return list(self.each_step(ref, turn))

    def digest(self, ref: str, turn: int | None = None, *, whole: bool = False) -> "Digest":
        """Return the facts of one turn, of the whole session, or (default) of everything since the user last opened it.

        The whole session is also used if it was never opened, or if the number of steps seen is not known.

        Raises:
            UsageError: it has no such turn.
            StoreError: a turn file cannot be read.
        """
        from .digest.scope import digest_of

        session = self.get(ref)
        self._checked_turn(session, turn)
        turns, steps = self._queries.turns(session.id), partial(self._with_diffs, session, self._recorded(session))
        return digest_of(session, turns, steps, turn=turn, whole=whole, is_cut=self.shown(session.id).has_cut)

    def messages(self, ref: str) -> list[Step]:
        """Return prompts, messages and interrupted calls, also those that are cut (:meth:`shown`)."""
        return list(filter(is_conversation, self._each_own_step(self.get(ref))))

    def shown(self, ref: str) -> Shown:
        """Return the marks of the conversation, and which of its steps they cut."""
        session = self.get(ref)
        marks = self._queries.marks_of(session.id)
        return shown(range(1, session.turn + 1), marks)

    def answer(self, ref: str, turn: int | None = None) -> str | None:
        """Return the agent's own last message in a turn, by default the newest, in full; None if there is none."""
        session = self.get(ref)
        answer = None
        for step in self._each_own_step(session, turn or session.turn):
            if step.kind is StepKind.MESSAGE and step.parent is None:
                answer = step.text
        return answer

    def changes_of(self, ref: str, turn: int | None = None, *, git: bool = True) -> "SessionChanges":
        """Return the session's changes to files, and their current state in git; of one turn, if one is given.

        Raises:
            UsageError: it has no such turn.
            StoreError: a turn file cannot be read.
        """
        from .changes.session_changes import session_changes  # a list of sessions needs no git

        session = self.get(ref)
        steps, turns = self._each_own_step(session, turn), self._queries.turns(session.id)
        return session_changes(session, steps, turns, self._queries.recipe(session.id).env, turn=turn, git=git)

    def git_diffs(self, cwd: str) -> "Callable[[str], GitDiff]":
        """Return a function that compares a file with the last commit of the repository that contains ``cwd``."""
        from .changes.git import git_diffs

        return git_diffs(cwd)

    def check_folder(self, session: Session) -> None:
        """Make sure that a session's output still exists.

        Raises:
            StoreError: its folder was removed; the contents of its rows can still be shown.
        """
        path, short = self._layout.session(session.id).path, session.short_id
        if not path.is_dir():
            lost = f"The folder of session {short} is gone: {path}. Its output is lost"
            raise StoreError(f"{lost}. Remove the session: agentdash rm {short}")

    def output(self, ref: str, turn: int | None = None, *, stderr: bool = False) -> bytes:
        """Return the agent's output in a turn, byte for byte; empty if there is no such file."""
        return self.output_part(ref, turn, stderr=stderr).read()

    def output_path(self, ref: str, turn: int | None = None, *, stderr: bool = False) -> Path:
        """Return the file of the agent's output in a turn, which can hold other turns; see :meth:`output_part`."""
        return self.output_part(ref, turn, stderr=stderr).path

    def output_part(self, ref: str, turn: int | None = None, *, stderr: bool = False) -> FilePart:
        """Return the part of a file with the agent's output in a turn (default: the newest).

        Raises:
            UsageError: it has no such turn.
        """
        session = self.get(ref)
        n = self._checked_turn(session, turn)
        output = output_in(self._layout.session(session.id), self._queries.turns(session.id, n), n)
        return output.stderr if stderr else output.stdout

    def stderr_tail(self, ref: str, turn: int | None = None, most: int = 1 << 20) -> tuple[str, int]:
        """Return at most ``most`` bytes from the end of the agent's stderr, and the number of bytes before them.

        Raises:
            UsageError: it has no such turn.
            StoreError: the file cannot be read.
        """
        part = self.output_part(ref, turn, stderr=True)
        try:
            data, left_out = part.last(most)
        except OSError as error:
            raise StoreError(f"{part.path}: {error.strerror or error}.") from None
        return data.decode("utf-8", "replace"), left_out

    def explain(self, ref: str) -> "Explanation":
        """Explain why the session has its status."""
        from .families.explaining import family_facts
        from .lifecycle.explain import explain

        session = self.get(ref)
        turns = self._queries.turns(session.id)
        launch = self._queries.launch(session.id, session.turn)
        prompts, asks = self._prompts(session), self._queries.asks_of(session.id)
        changes, marks = self._queries.adjustments_of(session.id), self._queries.marks_of(session.id)
        budgets = self._queries.family_budgets.states(session.id, self._limits(launch))
        family, turn = family_facts(self._queries, session), turns[-1] if turns else None
        periods = self._queries.period_budgets.of_session(session.id)
        return explain(self._layout, session, turn, launch, prompts, asks, changes, marks, budgets, family, periods)

    def budget(self, ref: str) -> "FamilyState":
        """Return the budget of a lead and the sums of all sessions below it.

        Args:
            ref: a session, or the key of an outside lead: ``claude:ID``.

        Raises:
            UnknownSessionError, AmbiguousSessionError: there is none, or several fit.
        """
        name = ref if ":" in ref else self.get(ref).id
        return self._queries.family_budgets.state(name, self._limits(None))

    def period_budgets(self, ref: str | None = None) -> "list[PeriodState]":
        """Return the budgets of days and weeks with what is used of them: all, or those that bind a session.

        Raises:
            UnknownSessionError, AmbiguousSessionError: there is no such session, or several fit.
        """
        if ref is None:
            return self._queries.period_budgets.states()
        return self._queries.period_budgets.of_session(self.get(ref).id)

    def plan_windows(self) -> list[PlanWindow]:
        """Return the newest report of each window of the plans of agents, also of windows that have ended."""
        return self._queries.plan_windows.all()

    def _limits(self, launch: Launch | None) -> FamilyLimits:
        """Return the limits of families in the settings; if these cannot be used, those of a start."""
        try:
            return self.config().orchestration.limits
        except ConfigError:
            return launch.family if launch is not None else FamilyLimits()

    def resume_command(self, ref: str) -> "ResumeCommand":
        """Return the shell command that resumes the conversation in the agent's own interface; raises `UsageError`."""
        from .lifecycle.starts.resume_command import resume_command

        session = self.get(ref)
        recorded = self._queries.recorded(session.id)
        marked = recorded if recorded.marks else None

        def config_of(profile: str | None) -> Config:
            return self.settings_in(session.cwd, profile, later=True).config

        return resume_command(session, self._queries.recipe(session.id), config_of, recorded=marked)

    def asks(self, ref: str | None = None) -> list[RecordedAsk]:
        """List the asks that wait for an answer, of one session or of all, the oldest first."""
        return self._queries.open_asks(self.get(ref).id if ref is not None else None)

    def adjustments(self, ref: str) -> list[Adjustment]:
        """List the changes of the settings of a session, the oldest first."""
        return self._queries.adjustments_of(self.get(ref).id)

    def ask(self, ask_id: int) -> RecordedAsk:
        """Return an ask in any state.

        Raises:
            UnknownSessionError: its session was deleted.
        """
        found = self._queries.ask(ask_id)
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

    def _checked_turn(self, session: Session, turn: int | None) -> int:
        if turn is not None and not 1 <= turn <= session.turn:
            raise UsageError(f"Session {session.short_id} has no turn {turn}: its newest is {session.turn}.")
        return turn or session.turn

    def by_id(self, session_id: str) -> Session:
        """Return the session with exactly this id, as it is recorded now.

        Raises:
            UnknownSessionError: it was deleted.
        """
        session = self._queries.session(session_id)
        if session is None:
            raise UnknownSessionError(f"Session {short_id(session_id)} was deleted.")
        return session
