"""The visible conversation of a session, read from its files: requests, summary, and the steps after it.

Of the turns that a summary stands for, only the requests are read.  They are rows, so the files of these turns stay
closed, except those of live agents: the user may have sent such a turn further prompts.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from ...conversation.history import History, Part, Position, Root
from ...conversation.marks import Mark, MarkKind
from ...model import Prompt, Step, StepKind, Turn

ReadTurn = Callable[[int], Iterable[Step]]
"""Returns the steps of a turn with their whole texts, its prompt first."""

ReadOrigin = Callable[[Mark], Iterable[str]]
"""Returns the user's requests, whole and oldest first, that a fork took over from the session of its mark."""


class Retold(Struct, frozen=True, kw_only=True):
    """The visible conversation."""

    requests: tuple[str, ...] = ()
    """The user's requests before the summary."""
    summary: str | None = None
    """None if the conversation was not compacted, or the agent does not show its summary."""
    parts: tuple[Part, ...] = ()
    """The parts after the summary, or all visible ones: turns, and the mark with which a fork begins."""


class VisibleConversation:
    """Reads one conversation.

    Args:
        history: what is visible of it.
        turns: its turns.
        prompts: its prompts.
        read: reads the steps of a turn.
        origin: reads the requests of the session from which it was forked.
    """

    def __init__(
        self,
        history: History,
        turns: Sequence[Turn],
        prompts: Sequence[Prompt],
        read: ReadTurn,
        origin: ReadOrigin,
    ) -> None:
        self._history = history
        self._turns = {turn.n: turn for turn in turns}
        self._prompts = {prompt.turn: prompt.text for prompt in reversed(prompts)}
        self._read = read
        self._origin = origin

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
            return list(self._origin(part.mark))
        turn = self._turns.get(part.turn or 0)
        if turn is None or turn.compacts:
            return []
        if not turn.transport:
            return [self._prompts[turn.n]] if turn.n in self._prompts else []
        steps = self._until(turn.n, part.through)
        return [step.text for step in steps if step.kind is StepKind.PROMPT and step.parent is None]

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

    def _until(self, turn: int, through: int | None) -> Iterator[Step]:
        for step in self._read(turn):
            if through is None or step.index <= through:
                yield step
