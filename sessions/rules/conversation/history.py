"""The visible part of a conversation, concluded from its turns and its marks.

A conversation is a tree.  Each turn follows the place at which the conversation was when the turn began, and a mark
moves that place.  The path from the root to the place is what is visible.  So nothing is ever rewritten, the effect of
a mark is taken back exactly, and a step keeps its address (turn and index) whatever becomes visible or hidden.

People write a place as ``TURN`` or ``TURN.STEP``.  A step has the number that ``trajectory`` and the viewer show: the
prompt of a turn is 0.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.steps import Step, StepKind
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind


class Root(Struct, frozen=True):
    """The beginning of a conversation."""


class Place(Struct, frozen=True):
    """The end of a step, or of a turn."""

    turn: int
    step: int | None = None
    """Index of the last step before it; None for the end of the turn."""


class Marked(Struct, frozen=True):
    """A place that a mark made: a summary, an empty conversation, or the conversation that a fork begins with."""

    mark: int
    """Its id."""


Position = Root | Place | Marked


class Part(Struct, frozen=True):
    """A visible part: a turn up to one of its steps, or what a mark put in place of earlier turns."""

    turn: int | None = None
    through: int | None = None
    """Index of its last visible step; None for all."""
    mark: Mark | None = None
    """The fork, the compaction or the clearing, if it is not a turn."""


class History:
    """The tree of one conversation.

    Args:
        turns: the numbers of its turns, ascending from 1.
        marks: its marks; a mark that names what is not there is ignored (:attr:`ignored`).
    """

    def __init__(self, turns: Iterable[int], marks: Sequence[Mark]) -> None:
        self._parents: dict[Position, Position] = {}
        self._marks = {mark.id: mark for mark in marks}
        self._before: dict[int, Position] = {}
        self.ignored: list[Mark] = []
        """The marks without an effect, because they name what is not there."""
        self.position: Position = Root()
        """The place at which the next turn begins."""
        waiting = sorted(marks, key=lambda mark: (mark.after, mark.id))
        for turn in turns:
            # The marks before a turn move the place at which it begins.
            while waiting and waiting[0].after < turn:
                self._follow(waiting.pop(0))
            place = Place(turn)
            self._parents[place] = self.position
            self.position = place
        for mark in waiting:
            self._follow(mark)

    def parts(self, position: Position | None = None) -> list[Part]:
        """Return what is visible at a position, oldest first; None means the present one."""
        found: list[Part] = []
        at = self.position if position is None else position
        while not isinstance(at, Root):
            if isinstance(at, Place):
                found.append(Part(turn=at.turn, through=at.step))
                at = self._parents[Place(at.turn)]
            else:
                found.append(Part(mark=self._marks[at.mark]))
                at = Root()
        return found[::-1]

    def visible_turns(self) -> dict[int, int | None]:
        """Return the visible turns, each with the index of its last visible step; None for all of them."""
        return {part.turn: part.through for part in self.parts() if part.turn is not None}

    def turn_follows(self, turn: int) -> Position | None:
        """Return the place at which a turn began; None if there is no such turn."""
        return self._parents.get(Place(turn))

    def position_before(self, mark: int) -> Position | None:
        """Return the position that an undo of a mark restores; None if the mark has no effect to take back."""
        return self._before.get(mark)

    def undoable(self) -> Mark | None:
        """Return the newest rewind, compaction or clearing that was not taken back; None if there is none."""
        undone: set[int] = set()
        # From the newest on, an undo is met before the mark that it takes back, also if that is an undo.
        for number in sorted(self._before, reverse=True):
            mark = self._marks[number]
            if number in undone:
                continue
            if mark.kind == MarkKind.UNDO:
                undone.add(mark.undoes or 0)
            else:
                return mark
        return None

    def _follow(self, mark: Mark) -> None:
        """Move the position as a mark says."""
        if mark.kind == MarkKind.TAKEOVER:
            return
        target = self._target(mark)
        if target is None:
            self.ignored.append(mark)
            return
        if isinstance(target, Marked):
            self._parents[target] = self.position
        if mark.kind != MarkKind.FORK:
            self._before[mark.id] = self._position_before(mark)
        self.position = target

    def _position_before(self, mark: Mark) -> Position:
        """Return the position that a mark leaves; of a compaction or a clearing the one before its own turn.

        That turn belongs to the mark: behind its end, the agent's conversation has the summary, or nothing.
        """
        own = Place(mark.turn or 0)
        if mark.kind in (MarkKind.COMPACT, MarkKind.CLEAR) and self.position == own:
            return self._parents[own]
        return self.position

    def _target(self, mark: Mark) -> Position | None:
        """Return the position behind a mark; None if it names what is not there."""
        match mark.kind:
            case MarkKind.REWIND if mark.turn is None:
                return self._parents.get(Place(1), self.position)
            case MarkKind.REWIND if Place(mark.turn or 0) in self._parents and (mark.step or 0) >= 0:
                return Place(mark.turn or 0, mark.step)
            case MarkKind.UNDO:
                return self._before.get(mark.undoes or 0)
            case MarkKind.COMPACT | MarkKind.CLEAR if Place(mark.turn or 0) in self._parents:
                return Marked(mark.id)
            case MarkKind.FORK if isinstance(self.position, Root) and not self._parents:
                return Marked(mark.id)
        return None


def step_is_visible(visible: Mapping[int, int | None], turn: int, step: int) -> bool:
    """Return whether a step is in what :meth:`History.visible_turns` returned."""
    if turn not in visible:
        return False
    through = visible[turn]
    return through is None or step <= through


ASIDE = frozenset({StepKind.START, StepKind.NOTICE, StepKind.USAGE, StepKind.REASONING, StepKind.ERROR})
"""The kinds of steps that add nothing to the text that the model is given in the next turn."""

_ADDRESS = re.compile(r"(0|[1-9][0-9]{0,8})(?:\.(0|[1-9][0-9]{0,8}))?")


def parsed_place(text: str) -> Place:
    """Read ``TURN`` or ``TURN.STEP``; turn 0 is the beginning.

    Raises:
        UsageError: it is neither.
    """
    match = _ADDRESS.fullmatch(text.strip())
    if match is None or (match[1] == "0" and match[2] is not None):
        raise UsageError(f"{text!r} is not a valid place. Write TURN or TURN.STEP, for example 2 or 2.4.")
    return Place(int(match[1]), int(match[2]) if match[2] is not None else None)


def place_text(turn: int | None, step: int | None = None) -> str:
    """Return a place as :func:`parsed_place` reads it; turn None is the beginning."""
    if turn is None:
        return "0"
    return f"{turn}" if step is None else f"{turn}.{step}"


def place_words(turn: int | None, step: int | None = None) -> str:
    """Return a place in words: ``the end of turn 2``, ``step 2.4``, ``the beginning``."""
    if turn is None:
        return "the beginning"
    return f"the end of turn {turn}" if step is None else f"step {place_text(turn, step)}"


def is_aside(step: Step) -> bool:
    """Return whether a step adds nothing to the text that the model is given in the next turn."""
    return step.kind in ASIDE or step.parent is not None


def ends_turn(steps: Iterable[Step], last: int) -> bool:
    """Return whether the steps of a turn behind the one with number ``last`` add nothing to the conversation."""
    return all(step.index <= last or is_aside(step) for step in steps)
