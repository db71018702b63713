"""The output of agents: byte for byte, as steps, and the facts that follow from the steps."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.compaction import RecordedCompaction
from agentdash.sessions.model.errors import StoreError, UnknownSessionError
from agentdash.sessions.model.session import Prompt, Session, Step, StepKind
from agentdash.sessions.rules.conversation.marks import RelatedMark
from agentdash.sessions.rules.conversation.shown import Shown, is_conversation, shown
from agentdash.sessions.service.lifecycle.session_ref import find_turn
from agentdash.sessions.storage.files import trash
from agentdash.sessions.storage.files.line_reader import FilePart
from agentdash.sessions.storage.paths import Layout, SessionFolder
from agentdash.sessions.storage.queries import Queries
from agentdash.sessions.storage.turns.turn_output import output_in

if TYPE_CHECKING:
    from agentdash.sessions.rules.digest.collect import Digest
    from agentdash.sessions.service.changes.git import GitDiff
    from agentdash.sessions.service.changes.model import SessionChanges
    from agentdash.sessions.service.changes.net import FindNet
    from agentdash.sessions.service.changes.session_changes import Recorded
    from agentdash.sessions.transcript.session_steps import Facts, SessionSteps


class OutputReader:
    """Reads what agents printed; a turn that a session does not have is a ``UsageError``.

    Args:
        get: returns the session that a text names: :meth:`..reader.SessionReader.get`.
    """

    def __init__(self, layout: Layout, queries: Queries, get: Callable[[str], Session]) -> None:
        self._layout = layout
        self._queries = queries
        self._get = get

    def check_folder(self, session: Session) -> None:
        """Make sure that a session's output still exists.

        Raises:
            StoreError: its folder was removed; the contents of its rows can still be shown.
        """
        path, short = self._layout.session(session.id).path, session.short_id
        if not path.is_dir():
            lost = f"The folder of session {short} is gone: {path}. Its output is lost"
            raise StoreError(f"{lost}. Remove the session: agentdash rm {short}")

    def part(self, ref: str, turn: int | None = None, *, stderr: bool = False) -> FilePart:
        """Return the part of a file with the agent's output in a turn (default: the newest), which need not exist."""
        session = self._get(ref)
        n = find_turn(session, turn)
        output = output_in(self._layout.session(session.id), self._queries.turns(session.id, n), n)
        return output.stderr if stderr else output.stdout

    def stderr_tail(self, ref: str, turn: int | None = None, most: int = 1 << 20) -> tuple[str, int]:
        """Return at most ``most`` bytes from the end of the agent's stderr, and the number of bytes before them.

        Raises:
            StoreError: the file cannot be read.
        """
        part = self.part(ref, turn, stderr=True)
        try:
            data, left_out = part.last(most)
        except OSError as error:
            raise StoreError(f"{part.path}: {error.strerror or error}.") from None
        return data.decode("utf-8", "replace"), left_out


class StepsReader:
    """Reads the steps of sessions.

    A turn that a session does not have is a ``UsageError``, and a turn file that cannot be read is a ``StoreError``.

    Args:
        get: returns the session that a text names: :meth:`..reader.SessionReader.get`.
        prompts: returns the prompts of a session.
    """

    def __init__(
        self,
        layout: Layout,
        queries: Queries,
        get: Callable[[str], Session],
        prompts: Callable[[Session], list[Prompt]],
    ) -> None:
        self._layout = layout
        self._queries = queries
        self._get = get
        self._prompts = prompts

    def open_trajectory(self, ref: str) -> "SessionSteps":
        """Open the session's steps, to be refreshed as they arrive; a session in the trash needs its whole id."""
        try:
            session = self._get(ref)
        except UnknownSessionError:
            if (deleted := trash.record(self._layout, ref)) is None:
                raise
            folder = SessionFolder(self._layout.trash / ref)
            return self._steps(folder, deleted.session.agent, lambda: (list(deleted.turns), list(deleted.prompts)))
        return self._opened(session, self._recorded(session))

    def _opened(self, session: Session, recorded: "Recorded | None" = None) -> "SessionSteps":
        folder, sid, read = self._layout.session(session.id), session.id, self._queries
        marks, facts = partial(read.marks.around, sid), lambda: (read.turns(sid), self._prompts(session))
        return self._steps(folder, session.agent, facts, recorded, marks)

    def _steps(
        self,
        folder: SessionFolder,
        agent: str,
        facts: "Facts",
        recorded: "Recorded | None" = None,
        marks: Callable[[], Sequence[RelatedMark]] = tuple,
    ) -> "SessionSteps":
        from agentdash.sessions.transcript.session_steps import SessionSteps  # a list of sessions needs no steps

        return SessionSteps(folder, agent_named(agent), facts, self._layout.indexes, recorded, marks)

    def _recorded(self, session: Session) -> "Recorded":
        from agentdash.sessions.service.changes.session_changes import recorded_of  # a list of sessions needs no diffs

        return recorded_of(session, self._queries.turns(session.id), self._queries.recipe(session.id).env)

    def each_step(self, ref: str, turn: int | None = None, *, brief: bool = False) -> Iterator[Step]:
        """Iterate over the steps of a session, or of one turn, in order, with diffs; one step at a time is in memory.

        Diffs that a stream lacks are taken from the agent's own transcript, which is read when the first is needed.
        ``brief`` leaves out the middle of many lines in a row that are not events.
        """
        session = self._get(ref)
        return self._with_diffs(session, self._recorded(session), turn, brief=brief)

    def steps_from(self, ref: str, turn: int, first: int) -> Iterator[Step]:
        """Iterate over the steps of one turn from a place on, with diffs: what is before it costs nothing again."""
        session = self._get(ref)
        find_turn(session, turn)
        return self._opened(session, self._recorded(session)).steps_from(turn, first)

    def _with_diffs(
        self, session: Session, recorded: "Recorded", turn: int | None, *, brief: bool = False
    ) -> Iterator[Step]:
        from agentdash.sessions.service.changes.session_changes import with_diffs

        return with_diffs(recorded, self._each_own_step(session, turn, brief=brief))

    def _each_own_step(self, session: Session, turn: int | None = None, *, brief: bool = False) -> Iterator[Step]:
        """Iterate over the steps in the turn files, without data that only the agent's own transcript holds."""
        find_turn(session, turn)
        return self._opened(session).every_step_once(None if turn is None else (turn,), brief=brief)

    def trajectory(self, ref: str, turn: int | None = None) -> list[Step]:
        """Return the steps of :meth:`each_step` as a list."""
        return list(self.each_step(ref, turn))

    def digest(self, ref: str, turn: int | None = None, *, whole: bool = False) -> "Digest":
        """Return the facts of one turn, of the whole session, or (default) of everything since the user last opened it.

        The whole session is also used if it was never opened, or if the number of steps seen is not known.
        """
        from agentdash.sessions.rules.digest.collect import digest_of

        session = self._get(ref)
        find_turn(session, turn)
        turns, steps = self._queries.turns(session.id), partial(self._with_diffs, session, self._recorded(session))
        return digest_of(session, turns, steps, turn=turn, whole=whole, is_cut=self.shown(session.id).has_cut)

    def messages(self, ref: str) -> list[Step]:
        """Return prompts, messages and interrupted calls, also those that are cut (:meth:`shown`)."""
        return list(filter(is_conversation, self._each_own_step(self._get(ref))))

    def shown(self, ref: str) -> Shown:
        """Return the marks of the conversation, and which of its steps they cut."""
        session = self._get(ref)
        marks = self._queries.marks.of_session(session.id)
        return shown(range(1, session.turn + 1), marks)

    def compactions(self, ref: str) -> list[RecordedCompaction]:
        """Return the compactions that the agent reported, also those that it began by itself, oldest first."""
        return self._queries.compactions_of(self._get(ref).id)

    def answer(self, ref: str, turn: int | None = None) -> str | None:
        """Return the agent's own last message in a turn, by default the newest, in full; None if there is none."""
        session = self._get(ref)
        answer = None
        for step in self._each_own_step(session, turn or session.turn):
            if step.kind is StepKind.MESSAGE and step.parent is None:
                answer = step.text
        return answer

    def changes_of(self, ref: str, turn: int | None = None, *, git: bool = True) -> "SessionChanges":
        """Return the session's changes to files, and their current state in git; of one turn, if one is given."""
        from agentdash.sessions.service.changes.session_changes import (
            session_changes,  # a list of sessions needs no git
        )

        session = self._get(ref)
        steps, turns = self._each_own_step(session, turn), self._queries.turns(session.id)
        folder, env = self._layout.session(session.id), self._queries.recipe(session.id).env
        return session_changes(session, steps, turns, env, turn=turn, git=git, folder=folder)

    def net_diffs(self, ref: str) -> "FindNet":
        """Return a function that compares a file of the net result with its state at the session's start."""
        from agentdash.sessions.runner.git.start_state import read
        from agentdash.sessions.service.changes.net import net_diffs

        session = self._get(ref)
        folder = self._layout.session(session.id)
        return net_diffs(session.cwd, read(folder), folder.start_objects)

    def git_diffs(self, cwd: str) -> "Callable[[str], GitDiff]":
        """Return a function that compares a file with the last commit of the repository around a session's folder."""
        from agentdash.sessions.service.changes.git import git_diffs

        return git_diffs(cwd)
