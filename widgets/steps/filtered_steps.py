"""Sequences of steps: all, those that pass a filter, and the groups to filter by.  Needs no screen."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection
from typing import TYPE_CHECKING

from msgspec import Struct

from agentdash.sessions.model.session import Step, StepKind
from agentdash.sessions.transcript.index.kind_codes import FAILED, NESTED, table

if TYPE_CHECKING:
    from agentdash.sessions.transcript.snapshot import View


class Group(Struct, frozen=True):
    """Steps that are shown or hidden together."""

    key: str
    label: str
    kind: StepKind
    """The kind whose character represents the group."""
    marked: bytes
    """The steps of the group, as a table of ``kinds``."""
    one: str = ""
    """The word for one step of the group; "" for steps that are not worth a count."""
    many: str = ""
    rank: int = 0
    """The count with the highest rank is left out first if there is little room."""


_TOOLS = (StepKind.TOOL_CALL, StepKind.WEB_SEARCH, StepKind.SUBAGENT)
_OTHER = (StepKind.START, StepKind.PLAN, StepKind.NOTICE, StepKind.USAGE, StepKind.UNKNOWN)

GROUPS = (
    Group("1", "prompts", StepKind.PROMPT, table([StepKind.PROMPT]), "prompt", "prompts", 6),
    Group("2", "messages", StepKind.MESSAGE, table([StepKind.MESSAGE]), "message", "messages", 1),
    Group("3", "reasoning", StepKind.REASONING, table([StepKind.REASONING]), "thought", "thoughts", 5),
    Group("4", "commands", StepKind.COMMAND, table([StepKind.COMMAND]), "command", "commands", 2),
    Group("5", "tools", StepKind.TOOL_CALL, table(_TOOLS), "tool call", "tool calls", 4),
    Group("6", "files", StepKind.FILE_CHANGE, table([StepKind.FILE_CHANGE]), "edit", "edits", 3),
    Group("7", "failures", StepKind.ERROR, table(having=FAILED), "failed", "failed"),
    Group("8", "other", StepKind.NOTICE, table(_OTHER)),
)

LOG_LINES = table([StepKind.MESSAGE, StepKind.UNKNOWN])
"""The lines that a plain command printed."""

FAILURES = table(having=FAILED)
PROMPTS = table([StepKind.PROMPT], lacking=NESTED)


def union(keys: Collection[str]) -> bytes:
    """The steps of any of these groups, as a table of ``kinds``."""
    chosen = [group.marked for group in GROUPS if group.key in keys]
    return bytes(any(marked[value] for marked in chosen) for value in range(256))


class FilteredSteps:
    """A sequence of steps without those that only repeat an earlier one, or only its steps of some groups."""

    def __init__(self, steps: "View | None" = None, groups: frozenset[str] = frozenset()) -> None:
        self.steps = steps
        self.groups = groups
        """The keys of the shown groups; an empty set means all."""
        self._hidden = steps.repeats if steps is not None and not groups else array("I")
        self._shifts = array("I", (item - number for number, item in enumerate(self._hidden)))
        """The position of each hidden step, which is that of the next shown step."""
        self._chosen: array[int] | None = None
        if groups and steps is not None:
            self._chosen = steps.matching(union(groups))

    def __len__(self) -> int:
        if self._chosen is not None:
            return len(self._chosen)
        return 0 if self.steps is None else len(self.steps) - len(self._hidden)

    def continues(self, earlier: "FilteredSteps") -> bool:
        """Return whether it begins with all shown steps of ``earlier``, whose sequence this one extends."""
        if self._chosen is None or earlier._chosen is None:
            end = len(earlier.steps) if earlier.steps is not None else 0
            known = self._hidden[: bisect_left(self._hidden, end)]
            return self._chosen is earlier._chosen and known == earlier._hidden
        return self._chosen[: len(earlier._chosen)] == earlier._chosen

    def item(self, position: int) -> int:
        """The number of the step at a position, or at the nearest valid one."""
        if self._chosen is None:
            return max(0, position) + bisect_right(self._shifts, max(0, position))
        return self._chosen[max(0, min(position, len(self._chosen) - 1))] if self._chosen else 0

    def position(self, item: int) -> int:
        """The position of a step, or of the next shown step after it."""
        if self._chosen is None:
            position = item - bisect_left(self._hidden, item)
            return max(0, min(position, len(self) - 1)) if self._hidden else position
        return max(0, min(bisect_left(self._chosen, item), len(self._chosen) - 1))

    def shows(self, item: int) -> bool:
        """Return whether a step is shown."""
        return self.item(self.position(item)) == item

    def step(self, position: int) -> Step:
        """The step at a position."""
        return self._there.step(self.item(position))

    def turn(self, position: int) -> int:
        """The turn of the step at a position."""
        return self._there.turn(self.item(position))

    def begins_turn(self, position: int) -> bool:
        """Return whether the previous shown step is of another turn."""
        return position == 0 or self.turn(position - 1) != self.turn(position)

    def next_turn(self, item: int, direction: int) -> int | None:
        """The first shown step of the nearest turn after (1) or before (-1) a step; None if there is none."""
        starts = self.steps.turn_starts() if self.steps is not None else []
        shown = {self.item(self.position(start)) for start in starts}
        beyond = [start for start in shown if (start - item) * direction > 0]
        return min(beyond, key=lambda start: abs(start - item), default=None)

    @property
    def _there(self) -> "View":
        if self.steps is None:
            raise IndexError("there are no steps")
        return self.steps
