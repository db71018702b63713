"""Additions to the steps of a turn that no line of its file holds: diffs from elsewhere, this turn's share of tokens.

codex's stream names files only; its own transcript has the diffs, in the order of the stream.  So a diff is found by
the files of a step and by the number of steps of the turn before it with the same files.  Both are known after one
reading of the turn file, and are kept with its index.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Protocol

from msgspec import structs

from ..model import Change, Step, StepKind, Turn, Usage


class File(Protocol):
    """One file of an edit, as a stream or a transcript names it."""

    @property
    def path(self) -> str:
        """The path, as the agent writes it."""

    @property
    def kind(self) -> str:
        """``add``, ``update`` or ``delete``."""


class Diffs(Protocol):
    """Finds the diffs that a stream lacks; it is called in several threads."""

    def know(self, turns: Sequence[Turn]) -> None:
        """Take over the turns of the session as they are now."""

    def fill(self, step: Step, conversation: str | None, key: int, number: int) -> Step:
        """The step with its diffs, or with the reason for which it has none."""


def files_key(files: Iterable[File]) -> int:
    """A number of 63 bits for the files of an edit and the kind of each change, the same in every process."""
    named = "\0".join(sorted({f"{file.kind}\0{file.path}" for file in files}))
    return int.from_bytes(blake2b(named.encode("utf-8", "surrogatepass"), digest_size=8).digest()) >> 1


class Additions:
    """The additions to the steps of one turn, which are known by their places.

    Args:
        diffs: finds the diffs; None seeks none.
    """

    def __init__(self, diffs: Diffs | None) -> None:
        self.conversation: str | None = None
        """The agent's id of the conversation, as the steps of the turn name it."""
        self._diffs = diffs
        self._keys: dict[int, int] = {}
        self._places: dict[int, list[int]] = {}
        """Of the steps that lack their diffs, by their files, rising."""
        self._filled: dict[int, tuple[Change, ...]] = {}
        self._share: tuple[Usage, Usage] | None = None
        """The tokens of the whole conversation as the agent counts them, and this turn's share."""

    def note(self, place: int, step: Step) -> None:
        """Take a step into account, each time that it changes."""
        if step.kind is StepKind.START:
            self.conversation = step.agent_session or self.conversation
        elif step.lacks_diffs and place not in self._keys:
            self._add(place, files_key(step.changes))

    def know_share(self, turn: Turn) -> bool:
        """Take over the tokens of the turn; return True if they changed."""
        share = (turn.thread_usage, turn.usage) if turn.thread_usage.known else None
        former, self._share = self._share, share
        return share != former

    def added(self, place: int, step: Step) -> Step:
        """A step with all that is known by now."""
        if step.changes:
            changes = self._filled.get(place)
            return step if changes is None else structs.replace(step, changes=changes)
        share = self._share
        if step.whole_thread and share is not None and share[0] == step.usage:
            return structs.replace(step, turn_usage=share[1])
        return step

    def sought(self, place: int, step: Step) -> Step:
        """A step with its diffs, or with the reason for which it has none, if it lacks any.  Reads files."""
        key = self._keys.get(place)
        if self._diffs is None or key is None or not step.lacks_diffs:
            return step
        filled = self._diffs.fill(step, self.conversation, key, bisect_left(self._places[key], place))
        if not filled.lacks_diffs:
            self._filled[place] = filled.changes
        return filled

    def saved(self, lead: int) -> list[tuple[int, int]]:
        """Places and keys of the steps that lack diffs; ``lead`` steps come before those of the agent."""
        return [(place - lead, key) for place, key in self._keys.items()]

    def take_up(self, saved: Iterable[tuple[int, int]], lead: int, conversation: str | None) -> None:
        """Begin with what an earlier reading noted."""
        self.conversation = conversation
        for place, key in saved:
            self._add(place + lead, key)

    def _add(self, place: int, key: int) -> None:
        self._keys[place] = key
        insort(self._places.setdefault(key, []), place)
