"""The visible steps of a conversation, also those of the sessions that it was forked from.

Of the turns that a summary stands for, only the requests are read.  They are rows, so the files of these turns stay
closed, except those of live agents: the user may have sent such a turn further prompts."""

from collections.abc import Callable, Container, Iterable, Iterator

from msgspec import Struct, structs

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Prompt, Session, Step, StepKind, Turn
from agentdash.sessions.rules.conversation.history import History, Part, Place, Position, Root, step_is_visible
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.storage.files import trash
from agentdash.sessions.storage.paths import Layout, SessionFolder
from agentdash.sessions.storage.queries import Queries
from agentdash.sessions.transcript.session_steps import SessionSteps

MOST_ORIGINS = 50
"""The number of sessions, each forked from the next, whose steps are read."""


class Source(Struct, frozen=True):
    """A session with its records, also one in the trash, and where they are."""

    layout: Layout
    queries: Queries
    folder: SessionFolder
    session: Session
    turns: list[Turn]
    prompts: list[Prompt]
    marks: list[Mark]

    def history(self) -> History:
        """Return the tree of its conversation."""
        return History((turn.n for turn in self.turns), self.marks)

    def steps(self, turns: Container[int] | None = None) -> Iterator[Step]:
        """Yield all its steps, or those of some turns, with the numbers that people see.

        Raises:
            StoreError: a file cannot be read.
        """
        return self.reader().every_step_once(turns)

    def reader(self) -> SessionSteps:
        """Return a new reader of its steps, which the caller closes."""
        facts = self.turns, self.prompts
        return SessionSteps(self.folder, agent_named(self.session.agent), lambda: facts, self.layout.indexes)

    def visible(self, parts: Iterable[Part] | None = None, origins: int = MOST_ORIGINS) -> Iterator[Step]:
        """Yield the steps of visible parts, oldest first; None means all that is visible.

        Turns in which nothing was said are left out: those that were to compact the conversation, and those whose agent
        was never started.  The steps of an origin that was deleted for good are left out too.

        Raises:
            StoreError: a file cannot be read.
        """
        silent = {turn.n for turn in self.turns if turn.compacts or turn.started_at is None}
        visible: dict[int, int | None] = {}
        for part in self.history().parts() if parts is None else parts:
            if part.turn is not None:
                visible[part.turn] = part.through
            elif part.mark is not None and origins:
                yield from self._behind_mark(part.mark, origins - 1)
        for step in self.steps(visible):
            if step.turn not in silent and step_is_visible(visible, step.turn, step.index):
                yield step

    def _behind_mark(self, mark: Mark, origins: int) -> Iterator[Step]:
        """Yield the steps that a mark stands for: those of the origin of a fork, or the summary of a compaction."""
        if mark.turn is None:
            return
        if mark.kind == MarkKind.COMPACT:
            yield from self._compacted(mark, mark.turn, origins)
            return
        origin = source_of(self.layout, self.queries, mark.origin) if mark.origin else None
        if origin is not None and any(turn.n == mark.turn for turn in origin.turns):
            yield from origin.visible(origin.history().parts(Place(mark.turn, mark.step)), origins)

    def _compacted(self, mark: Mark, turn: int, origins: int) -> Iterator[Step]:
        """Yield the user's requests before a compaction and the summary; all steps before if its agent shows none."""
        history = self.history()
        before = self.visible(history.parts(history.position_before(mark.id) or Root()), origins)
        if mark.step is None:
            yield from before
            return
        yield from (step for step in before if _is_request(step))
        for step in self.steps((turn,)):
            if step.index == mark.step:
                yield structs.replace(step, kind=StepKind.MESSAGE)


def source_of(layout: Layout, queries: Queries, session_id: str) -> Source | None:
    """Return a session with its records; None if it was deleted for good.

    Raises:
        StoreError: it is in the trash, and its record cannot be read.
    """
    session = queries.session(session_id)
    if session is not None:
        turns, prompts = queries.turns(session_id), queries.prompts(session_id)
        marks = queries.marks.of_session(session_id)
        return Source(layout, queries, layout.session(session_id), session, turns, prompts, marks)
    deleted = trash.record(layout, session_id)
    if deleted is None:
        return None
    folder, prompts = SessionFolder(layout.trash / session_id), list(deleted.prompts)
    return Source(layout, queries, folder, deleted.session, list(deleted.turns), prompts, list(deleted.marks))


def requests_in(steps: Iterable[Step]) -> Iterator[str]:
    """Yield the user's requests among steps."""
    return (step.text for step in steps if _is_request(step))


def _is_request(step: Step) -> bool:
    return step.kind is StepKind.PROMPT and step.parent is None


class Retold(Struct, frozen=True, kw_only=True):
    """The visible conversation."""

    requests: tuple[str, ...] = ()
    """The user's requests before the summary."""
    summary: str | None = None
    """None if the conversation was not compacted, or the agent does not show its summary."""
    parts: tuple[Part, ...] = ()
    """The parts after the summary, or all visible ones: turns, and the mark with which a fork begins."""


class VisibleConversation:
    """Reads the conversation of a session.

    Args:
        read: returns the steps of a turn with their whole texts, its prompt first.
    """

    def __init__(self, source: Source, read: Callable[[int], Iterable[Step]]) -> None:
        self._source = source
        self._history = source.history()
        self._turns = {turn.n: turn for turn in source.turns}
        self._prompts = {prompt.turn: prompt.text for prompt in reversed(source.prompts)}
        self._read = read

    def retold(self) -> Retold:
        """Return the visible conversation.

        A compaction whose summary the agent does not show is opened: the turns before it are told instead.
        """
        position = self._history.position
        later: list[Part] = []
        while True:
            compaction, parts = self._split(position)
            later[:0] = parts
            if compaction is None:
                return Retold(parts=tuple(later))
            before = self._before(compaction)
            summary = self._summary(compaction)
            if summary is not None:
                return Retold(requests=tuple(self._requests(before)), summary=summary, parts=tuple(later))
            position = before

    def _requests(self, position: Position) -> list[str]:
        """Return all requests up to a position, also those before earlier compactions."""
        found: list[str] = []
        while True:
            compaction, parts = self._split(position)
            found[:0] = [text for part in parts for text in self._requests_of(part)]
            if compaction is None:
                return found
            position = self._before(compaction)

    def _requests_of(self, part: Part) -> list[str]:
        if part.mark is not None and part.mark.kind == MarkKind.FORK:
            return list(requests_in(self._source.visible([Part(mark=part.mark)])))
        turn = self._turns.get(part.turn or 0)
        if turn is None or turn.compacts:
            return []
        if not turn.transport:
            return [self._prompts[turn.n]] if turn.n in self._prompts else []
        through = part.through
        return list(requests_in(step for step in self._read(turn.n) if through is None or step.index <= through))

    def _split(self, position: Position) -> tuple[Mark | None, list[Part]]:
        """Return the compaction with which the visible part begins, None if there is none, and the parts after it."""
        parts = self._history.parts(position)
        mark = parts[0].mark if parts else None
        if mark is not None and mark.kind == MarkKind.COMPACT:
            return mark, parts[1:]
        return None, parts

    def _before(self, compaction: Mark) -> Position:
        return self._history.position_before(compaction.id) or Root()

    def _summary(self, compaction: Mark) -> str | None:
        if compaction.turn is None or compaction.step is None:
            return None
        steps = (step for step in self._read(compaction.turn) if step.index == compaction.step)
        return next((step.text for step in steps if step.text.strip()), None)
