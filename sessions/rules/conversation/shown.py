"""The steps as they are shown: those that went on, those that going back cut, and calls without a result.  Pure.

A front end shows everything that was recorded.  Turns for which a summary stands went on too: only the agent no longer
reads them word by word.

A call that never got its result is closed at its own place, each open one, and only in what is shown or retold.
Nothing is written: the turn may still run in another process, and its result may still come."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field, structs

from agentdash.sessions.model.steps import Step, StepKind, StepStatus
from agentdash.sessions.rules.conversation.history import History, Position, step_is_visible
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind

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


FOR_THE_MODEL = "interrupted: its result is not known, and it may have had effects; check before you repeat it"
"""The result of such a call in a conversation that is retold to an agent."""

FOR_PEOPLE = "no result was recorded; it may have had effects"
"""The result of such a call on the screen, in printed messages and in exports, after the word ``interrupted``."""

CALLS = frozenset({
    StepKind.COMMAND, StepKind.TOOL_CALL, StepKind.FILE_CHANGE, StepKind.WEB_SEARCH, StepKind.SUBAGENT,
})  # fmt: skip
"""The kinds of steps that have a result."""

SAID = frozenset({StepKind.PROMPT, StepKind.MESSAGE})


def is_interrupted(step: Step) -> bool:
    """Return whether a step is a call whose result never came."""
    return step.status is StepStatus.INTERRUPTED and step.kind in CALLS


def is_conversation(step: Step) -> bool:
    """Return whether a step belongs to the conversation: a prompt, a message, or an interrupted call."""
    return step.kind in SAID or is_interrupted(step)


def closed(step: Step) -> Step:
    """Return an open call as an interrupted one, and any other step as it is: for turns that have ended."""
    is_open = step.is_open and step.kind in CALLS
    return structs.replace(step, status=StepStatus.INTERRUPTED) if is_open else step
