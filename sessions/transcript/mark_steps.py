"""The sections of a session's steps that are no file: its marks among the turns, and a gap of steps not read yet."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from agentdash.sessions.model.session import Step, StepKind
from agentdash.sessions.rules.conversation.history import History
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind, RelatedMark
from agentdash.sessions.rules.conversation.shown import Shown, shown, stands_for
from agentdash.sessions.rules.conversation.words import mark_words
from agentdash.sessions.transcript.index.kind_codes import encoded

if TYPE_CHECKING:
    from agentdash.sessions.transcript.index.turn_index import TurnIndex


class MarkStep(Step, frozen=True, kw_only=True):
    """An act on the conversation at this place."""

    mark: Mark
    opens: str | None = None
    """The other session of a fork: the origin of this session, or the fork that began here."""


class FixedSection:
    """Steps that come from no line of a file, and do not change; they are read as those of a :class:`TurnIndex`."""

    block_count = 1

    def __init__(self, turn: int, steps: Sequence[Step]) -> None:
        self.turn = turn
        self.steps = tuple(steps)
        self.kinds = bytearray(encoded(step) for step in steps)

    def step(self, place: int) -> Step:
        """Return a step, which is whole."""
        return self.steps[place]

    whole = step

    def block_of(self, place: int) -> int:  # noqa: ARG002 - there is only one
        """Return 0: all steps are one block."""
        return 0

    def block(self, number: int) -> dict[int, Step]:  # noqa: ARG002 - there is only one
        """Return the steps by their places."""
        return dict(enumerate(self.steps))

    def fill(self, place: int) -> bool:  # noqa: ARG002 - they change no file
        """Return False."""
        return False

    def where(self, place: int) -> tuple[int, int]:  # noqa: ARG002 - they are no line of a file
        """Return (0, 0): no line gave it."""
        return 0, 0


Section: TypeAlias = "TurnIndex | FixedSection"
"""A sequence of steps that grows at its end; a search goes through it block by block."""


class Gap(FixedSection):
    """A placeholder for the unread steps between the beginning and the end of a session: nothing to search."""

    block_count = 0

    def __init__(self, turn: int, text: str) -> None:
        super().__init__(turn, [Step(turn=turn, kind=StepKind.NOTICE, text=text)])


class MarkSection(FixedSection):
    """The marks at one place: behind a turn, or before the first one."""

    steps: tuple[MarkStep, ...]

    def __init__(self, turn: int, steps: Sequence[MarkStep], *, leads: bool = False) -> None:
        super().__init__(turn, steps)
        self.leads = leads
        """True if they are before the steps of the turn."""


class Marking(Struct, frozen=True):
    """The marks of a session among its turns."""

    shown: Shown | None = None
    """The steps that were cut; None if the session has no marks of its own."""
    sections: Mapping[int, MarkSection] = {}
    """The marks by the turn behind which they are; 0 for those before the first turn."""

    def among(self, sections: Iterable[Section]) -> list[Section]:
        """Return the sections of turns with the marks between them; a mark of a turn that is not read yet waits."""
        placed = list(sections)
        last = {section.turn: place for place, section in enumerate(placed)}
        for turn in sorted((turn for turn in self.sections if turn in last), reverse=True):
            placed.insert(last[turn] + 1, self.sections[turn])
        return [self.sections[0], *placed] if placed and 0 in self.sections else placed


def marking(session_id: str, turns: Sequence[int], related: Sequence[RelatedMark]) -> Marking:
    """Return the marks of a session among its turns.

    Args:
        turns: the numbers of its turns, ascending.
        related: its marks, and those with which forks of it begin, oldest first.
    """
    if not related:
        return Marking()
    marks = [one.mark for one in related if one.mark.session == session_id]
    placed: dict[int, list[MarkStep]] = {}
    for one in related:
        own = one.mark.session == session_id
        behind = one.mark.after if own else one.mark.turn or 0
        if own and one.mark.kind == MarkKind.TAKEOVER and one.mark.turn:
            behind = one.mark.turn - 1
        place = max((turn for turn in turns if turn <= behind), default=0)
        placed.setdefault(place, []).append(_step(one, place or 1, marks, turns, own=own))
    sections = {turn: MarkSection(turn or 1, steps, leads=not turn) for turn, steps in placed.items()}
    return Marking(shown(turns, marks) if marks else None, sections)


def _step(related: RelatedMark, turn: int, marks: Sequence[Mark], turns: Sequence[int], *, own: bool) -> MarkStep:
    mark = related.mark
    undone = next((one for one in marks if one.id == mark.undoes), None)
    is_summary = own and mark.kind == MarkKind.COMPACT
    stood_for = stands_for(mark, History(turns, marks)) if is_summary else 0
    words = mark_words(mark, undone=undone, turns=stood_for, other=related.other, of_fork=not own)
    other = (mark.origin if own else mark.session) if mark.kind == MarkKind.FORK else None
    at = mark.at or None
    return MarkStep(turn=turn, index=-mark.id, kind=StepKind.NOTICE, text=words, at=at, mark=mark, opens=other)
