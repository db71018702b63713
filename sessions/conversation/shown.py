"""The steps of a conversation that went on, and those that were cut by going back.  Pure.

A front end shows everything that was recorded.  Turns for which a summary stands went on too: only the agent no longer
reads them word by word.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field

from ..values.steps import Step
from .history import History, Position, step_is_visible
from .marks import Mark, MarkKind

IsCut = Callable[[Step], bool]
"""Returns whether a step was cut by going back."""


def none_cut(_: Step) -> bool:
    """Return False: nothing is known to be cut."""
    return False


class Shown(Struct, frozen=True):
    """The effect of the marks of a conversation for those who read it."""

    marks: tuple[Mark, ...]
    """The marks, oldest first."""
    kept: Mapping[int, int | None]
    """The turns that were not cut, each with the index of its last step that stays; None for all of them."""
    undoable: Mark | None = None
    """The newest mark that can be taken back."""
    ignored: frozenset[int] = frozenset()
    """The ids of marks without an effect."""
    replaced: Mapping[int, int] = field(default_factory=dict)
    """By the id of a compaction's mark, the number of turns for which its summary stands."""

    def cuts(self, turn: int, step: int) -> bool:
        """Return whether a step was cut."""
        return not step_is_visible(self.kept, turn, step)

    def has_cut(self, step: Step) -> bool:
        """Return whether a step was cut; False for each step of a conversation without marks."""
        return bool(self.marks) and self.cuts(step.turn, step.index)


def shown(turns: Iterable[int], marks: Sequence[Mark]) -> Shown:
    """Conclude from the numbers of the turns and from the marks what went on and what was cut."""
    history = History(turns, marks)
    return Shown(
        tuple(marks),
        kept_turns(history),
        history.undoable(),
        frozenset(mark.id for mark in history.ignored),
        {mark.id: stands_for(mark, history) for mark in marks if mark.kind == MarkKind.COMPACT},
    )


def kept_turns(history: History, position: Position | None = None) -> dict[int, int | None]:
    """Return the turns of the path to a position, also those for which a summary stands; None means the present one.

    Each has the index of its last step that stays; None for all of them.
    """
    kept: dict[int, int | None] = {}
    parts = history.parts(position)
    while parts:
        for part in parts:
            if part.turn is not None:
                kept[part.turn] = _later(part.through, kept[part.turn]) if part.turn in kept else part.through
        summary = parts[0].mark
        before = history.position_before(summary.id) if summary is not None else None
        if summary is not None and before is not None and summary.turn is not None:
            kept[summary.turn] = None
        parts = history.parts(before) if before is not None else []
    return kept


def _later(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else max(one, other)


def stands_for(mark: Mark, history: History) -> int:
    """Return the number of turns for which the summary of a compaction stands, without the one that made it."""
    before = history.position_before(mark.id)
    return len(kept_turns(history, before).keys() - {mark.turn}) if before is not None else 0
