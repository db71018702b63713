"""One session's changes to files: from its stream, from the agent's own transcript for missing diffs, and from git.

A stream without diffs (codex) names the files and their kinds of change for each step; the transcript names the same,
with diffs.  They are matched by turn, by files and kinds, and by order: the second step of a turn that updates ``/x``
gets the second such edit of that turn.  The turn of a recorded edit follows from its time.  So edits that a person made
in the same conversation between two turns come after all edits of the first turn.

A transcript is read only when a step needs it.  One that grows is read on from the end of the last read.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Lock

from msgspec import structs

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.agents.capabilities import RecordedEdit, Transcript
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.session import Change, Session, Step, Turn
from agentdash.sessions.runner.git.start_state import read
from agentdash.sessions.service.changes.from_steps import Collected, collect
from agentdash.sessions.service.changes.git import ask_git
from agentdash.sessions.service.changes.model import SessionChanges
from agentdash.sessions.service.changes.net import net_changes
from agentdash.sessions.storage.paths import SessionFolder
from agentdash.sessions.text.units import count
from agentdash.sessions.transcript.additions import files_key

MOST_EDITS = 100_000
"""The most recorded edits that are read."""

TEXT_CHARACTERS = 32 << 20
"""The most characters of diffs that are kept of one transcript; of later edits only the counts are kept."""

SOUGHT_AGAIN_SECONDS = 2.0
"""The time between two searches for a missing transcript, which can come late; a search walks through folders."""

NO_TRANSCRIPT = "the agent's transcript was not found"
NOT_RECORDED = "the agent's transcript has none"


Open = Callable[[str, int], Transcript | None]
"""Finds a transcript by the id of its conversation and its approximate start (UTC ms); None if there is none."""


class Recorded:
    """The transcripts of a session; several threads can use them.

    Args:
        open_transcript: the search of the agent's adapter; None for an agent that keeps no transcripts.
        turns: all turns of the session, for their times; see :meth:`know`.
        conversation: the agent's id of it, for turns whose steps do not name it.
    """

    def __init__(
        self, open_transcript: Open | None, turns: Sequence[Turn] = (), conversation: str | None = None
    ) -> None:
        self._open = open_transcript
        self._conversation = conversation
        self._begun: list[tuple[int, int]] = []
        self._read: dict[str, _Read] = {}
        self._lock = Lock()
        self.sought_in_vain = False
        """True once a step needed a transcript that was not found."""
        self.know(turns)

    def know(self, turns: Iterable[Turn]) -> None:
        """Take over the beginning of each turn; to be called when there are new turns."""
        self._begun = [(turn.started_at or turn.created_at, turn.n) for turn in turns]

    def fill(self, step: Step, conversation: str | None, key: int, number: int) -> Step:
        """Return the step with the diffs of its recorded edit, or with the reason why it has none.

        Args:
            step: a step that lacks its diffs.
            conversation: the agent's id of it, from the steps of the turn.
            key: the key of its files, see :func:`files_key`.
            number: the number of earlier steps of the turn that have the same key and lack their diffs.
        """
        if self._open is None:
            return step
        name = conversation or self._conversation
        edit = NO_TRANSCRIPT if name is None else self._find(self._open, step.turn, name, key, number)
        if isinstance(edit, str):
            return structs.replace(step, changes=tuple(structs.replace(c, no_diff=edit) for c in step.changes))
        by_path = {change.path: change for change in edit.changes}
        filled = (_filled(change, by_path.get(change.path)) for change in step.changes)
        return structs.replace(step, changes=tuple(filled))

    def _find(self, open_transcript: Open, turn: int, name: str, key: int, number: int) -> RecordedEdit | str:
        with self._lock:
            begun = self._begun
            read = self._read.setdefault(name, _Read())
            edits = read.dealt(begun).get((turn, key), ())
            if number >= len(edits):
                first = next((at for at, n in begun if n == turn), 0)
                read.go_on(lambda: open_transcript(name, first))
                edits = read.dealt(begun).get((turn, key), ())
            self.sought_in_vain = self.sought_in_vain or not read.there
            if number < len(edits):
                return edits[number]
            return NOT_RECORDED if read.there else NO_TRANSCRIPT


class _Read:
    """The edits that were read of one transcript."""

    def __init__(self) -> None:
        self._transcript: Transcript | None = None
        self._sought_at: float | None = None
        self._edits: list[RecordedEdit] = []
        self._room = TEXT_CHARACTERS
        self._begun: list[tuple[int, int]] = []
        self._dealt: dict[tuple[int, int], list[RecordedEdit]] = {}
        self._done = 0
        """Edits that were assigned to turns."""

    @property
    def there(self) -> bool:
        return self._transcript is not None

    def go_on(self, open_transcript: Callable[[], Transcript | None]) -> None:
        """Read new edits; search for the transcript first, if it was not found yet."""
        if self._transcript is None:
            now = monotonic()
            if self._sought_at is not None and now < self._sought_at + SOUGHT_AGAIN_SECONDS:
                return
            self._sought_at = now
            self._transcript = open_transcript()
        if self._transcript is None or len(self._edits) >= MOST_EDITS:
            return
        for edit in self._transcript.read_on():
            kept = edit if self._room > 0 else _counts_only(edit)
            self._room -= sum(len(change.diff or "") for change in kept.changes)
            self._edits.append(kept)
            if len(self._edits) >= MOST_EDITS:
                break

    def dealt(self, begun: list[tuple[int, int]]) -> dict[tuple[int, int], list[RecordedEdit]]:
        """Return the edits by turn and files; when a new turn began, all edits are assigned again."""
        if begun != self._begun:
            self._begun, self._done, self._dealt = begun, 0, {}
        for edit in self._edits[self._done :]:
            place = bisect_right(begun, edit.at, key=lambda turn: turn[0])
            if place:  # an edit before the first turn is not the session's
                self._dealt.setdefault((begun[place - 1][1], files_key(edit.changes)), []).append(edit)
        self._done = len(self._edits)
        return self._dealt


def with_diffs(recorded: Recorded, steps: Iterable[Step]) -> Iterator[Step]:
    """Yield the steps of a session, with diffs if their stream has none and the transcript has some.

    Each step comes once, in the order of turn and index.
    """
    turn, conversation = 0, None
    numbers: Counter[int] = Counter()
    for step in steps:
        if step.turn != turn:
            turn, conversation, numbers = step.turn, None, Counter()
        conversation = step.agent_session or conversation
        if step.lacks_diffs:
            key = files_key(step.changes)
            yield recorded.fill(step, conversation, key, numbers[key])
            numbers[key] += 1
        else:
            yield step


def _filled(change: Change, recorded: Change | None) -> Change:
    if recorded is None or (recorded.diff is None and not recorded.moved_to):
        return structs.replace(change, no_diff=NOT_RECORDED)
    if recorded.diff is None:  # codex-cli 0.169.0: a file that was only moved has an empty diff
        recorded = structs.replace(recorded, diff="", added=0, removed=0)
    return structs.replace(recorded, path=change.path, kind=change.kind)


def _counts_only(edit: RecordedEdit) -> RecordedEdit:
    changes = (one if one.diff is None else structs.replace(one, diff="", cut=True) for one in edit.changes)
    return structs.replace(edit, changes=tuple(changes))


def session_changes(
    session: Session,
    steps: Iterable[Step],
    turns: Sequence[Turn],
    env: Mapping[str, str | None],
    *,
    turn: int | None = None,
    git: bool = True,
    folder: SessionFolder | None = None,
) -> SessionChanges:
    """Fold the steps as they come, and ask git about their files: a few calls of at most five seconds each.

    Args:
        steps: all steps, or those of one turn; never all of them in memory.
        env: the environment that was recorded with the session.
        turn: the turn of the steps; None for all turns.
        git: True to ask git.
        folder: the session's folder, for the net result of all turns; None for no net result.
    """
    agent = agent_named(session.agent)
    recorded = recorded_of(session, turns, env)
    collected = collect(with_diffs(recorded, steps), session.cwd)
    files, report = collected.files, None
    if git:
        report, states = ask_git(session.cwd, [file.absolute for file in files])
        files = tuple(structs.replace(file, git=states.get(file.absolute)) for file in files)
    net = None
    if folder is not None and turn is None:
        net = net_changes(session.cwd, files, read(folder), folder.start_objects, git=git)
    return SessionChanges(
        session=session.id, cwd=session.cwd, turn=turn, files=files, more=collected.more, net=net, git=report,
        notes=tuple(_notes(agent, collected, recorded)),
    )  # fmt: skip


def recorded_of(session: Session, turns: Sequence[Turn], env: Mapping[str, str | None]) -> Recorded:
    """Return the transcripts of a session's agent; none is opened before a step needs it."""
    own_files = agent_named(session.agent).own_files
    edits = own_files.edits if own_files is not None else None
    if edits is None:
        return Recorded(None)
    return Recorded(lambda thread, at: edits(thread, env, at), turns, session.agent_session)


def _notes(agent: Agent, collected: Collected, recorded: Recorded) -> Iterator[str]:
    if any(file.touched and (file.partial or file.added is None) for file in collected.files):
        vainly = " and its transcript was not found" if recorded.sought_in_vain else ""
        yield f"{agent.title} gave no diff for some edits{vainly}: their lines are not counted."
    if collected.more:
        listed, others = count(len(collected.files), "file"), count(collected.more, "edit")
        yield f"Showing the first {listed}; {others} to other files not shown."
