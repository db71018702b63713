"""The diffs of an agent's own transcripts, dealt out to the steps of its stream.

A stream without diffs (codex) names for each step the files and what was done to them; the transcript names the same,
with diffs.  They are matched by turn, by files and kinds, and by order.  The turn of a recorded edit follows from its
time, so that what somebody did in the same conversation between two turns comes after all that the first one did.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from msgspec import Struct, structs

from ..model import Change, Step, StepStatus, Turn
from .diffs import Diff

MOST_EDITS = 100_000
"""Recorded edits that are looked at."""

TEXT_CHARACTERS = 32 << 20
"""Diff text that is kept of one transcript; of later edits only the counts are."""


class RecordedChange(Struct, frozen=True, kw_only=True):
    """What one recorded edit did to one file."""

    path: str
    kind: str
    diff: Diff | None = None
    moved_to: str | None = None


class RecordedEdit(Struct, frozen=True, kw_only=True):
    """One edit of an agent's transcript."""

    at: int
    """When it was done, UTC ms."""
    changes: tuple[RecordedChange, ...]


Open = Callable[[str, int], Iterable[RecordedEdit] | None]
"""The recorded edits of the conversation with this id, begun about then (UTC ms); None where there is no transcript."""

_Key = tuple[int, frozenset[tuple[str, str]]]
_Queues = dict[_Key, deque[RecordedEdit]]


class Recorded:
    """Reads a transcript when the first step needs it, and gives each recorded edit to one step.

    Args:
        open_transcript: asks the agent's adapter.
        turns: all turns of the session, for their times and conversations.
        conversation: the agent's id of it, for turns in whose steps it is not named.
    """

    def __init__(self, open_transcript: Open, turns: Iterable[Turn], conversation: str | None) -> None:
        self._open = open_transcript
        self._begun = [(turn.started_at or turn.created_at, turn.n) for turn in turns]
        self._conversation = conversation
        self._named: dict[int, str] = {}
        self._queues: dict[str, _Queues] = {}
        self.sought_in_vain = False
        """A step needed a transcript and there was none."""

    def noting(self, steps: Iterable[Step]) -> Iterator[Step]:
        """The steps as they come; what they say about the conversation is remembered."""
        for step in steps:
            if step.agent_session:
                self._named[step.turn] = step.agent_session
            yield step

    def of(self, step: Step) -> Mapping[str, RecordedChange]:
        """What was recorded of this step, by path; empty where its own diffs are there, or nothing was recorded.

        A step is to be asked for once, when it has ended.
        """
        lacking = step.changes and not any(change.diff for change in step.changes)
        conversation = self._named.get(step.turn, self._conversation)
        if not lacking or conversation is None or step.status is StepStatus.RUNNING:
            return {}
        found = self._read(conversation, step.turn).get((step.turn, _files(step.changes)))
        return {change.path: change for change in found.popleft().changes} if found else {}

    def _read(self, conversation: str, turn: int) -> _Queues:
        if conversation not in self._queues:
            first = next((at for at, n in self._begun if n == turn), 0)
            edits = self._open(conversation, first)
            self.sought_in_vain = self.sought_in_vain or edits is None
            self._queues[conversation] = self._queued(edits or ())
        return self._queues[conversation]

    def _queued(self, edits: Iterable[RecordedEdit]) -> _Queues:
        queues: _Queues = {}
        room = TEXT_CHARACTERS
        for edit in islice(edits, MOST_EDITS):
            turn = self._turn_at(edit.at)
            if turn is None:
                continue
            fitting = edit if room > 0 else _without_text(edit)
            room -= sum(len(change.diff.text) for change in fitting.changes if change.diff)
            queues.setdefault((turn, _files(edit.changes)), deque()).append(fitting)
        return queues

    def _turn_at(self, at: int) -> int | None:
        """The turn that began last before this time; None before the first one."""
        place = bisect_right(self._begun, at, key=lambda begun: begun[0])
        return self._begun[place - 1][1] if place else None


def _files(changes: Iterable[RecordedChange | Change]) -> frozenset[tuple[str, str]]:
    return frozenset((change.path, change.kind) for change in changes)


def _without_text(edit: RecordedEdit) -> RecordedEdit:
    return structs.replace(edit, changes=tuple(map(_counts_only, edit.changes)))


def _counts_only(change: RecordedChange) -> RecordedChange:
    diff = change.diff
    return structs.replace(change, diff=diff and Diff("", diff.added, diff.removed, cut=True))
