"""Additions to a turn's steps that are not in its file: diffs from other files, and the turn's share of tokens.

codex's stream only names the changed files; its own transcript has the diffs, in the order of the stream.  So a diff
is found by the files of a step, and by the number of earlier steps of the turn with the same files.  Both are known
after the turn file was read once, and are saved with its index.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Protocol

from msgspec import Struct, structs

from agentdash.sessions.model.session import Change, Step, StepKind, Turn, Usage


class Diffs(Protocol):
    """Finds the diffs that a stream lacks; several threads call it."""

    def know(self, turns: Sequence[Turn]) -> None:
        """Take over the turns of the session as they are now."""

    def fill(self, step: Step, conversation: str | None, key: int, number: int) -> Step:
        """Return the step with its diffs, or with the reason why it has none."""


_MOST_BEGINNINGS = 100
"""Start steps of a turn that are recorded: a turn of a real agent has few."""


def files_key(files: Iterable[Change]) -> int:
    """Return a number of 63 bits for an edit's files and their kinds of change, the same in every process."""
    named = "\0".join(sorted({f"{file.kind}\0{file.path}" for file in files}))
    return int.from_bytes(blake2b(named.encode("utf-8", "surrogatepass"), digest_size=8).digest()) >> 1


class SavedAdditions(Struct, frozen=True):
    """The records of one reading of a turn file."""

    lacking: list[tuple[int, int]]
    """Place and key of each step that lacks its diffs."""
    conversation: str | None
    beginnings: list[tuple[int, str | None, str | None]]
    """Place, conversation and model of the start steps."""


class _Share(Struct, frozen=True):
    """The use of the turn by its record."""

    thread: Usage
    """The tokens of the whole conversation as the agent counts them."""
    own: Usage
    """The turn's tokens."""
    cost_usd: float | None
    ended: bool


class Additions:
    """The additions to the steps of one turn, by the places of the steps.

    Args:
        diffs: finds the diffs; None searches for none.
    """

    def __init__(self, diffs: Diffs | None) -> None:
        self.conversation: str | None = None
        """The agent's id of the conversation, from the steps of the turn."""
        self.beginnings: dict[int, tuple[str | None, str | None]] = {}
        """Conversation and model of the first start steps, by their places."""
        self._diffs = diffs
        self._keys: dict[int, int] = {}
        self._places: dict[int, list[int]] = {}
        """The places of steps that lack their diffs, by their files, in ascending order."""
        self._filled: dict[int, tuple[Change, ...]] = {}
        self._share: _Share | None = None

    def note(self, place: int, step: Step) -> None:
        """Record a step; to be called each time that it changes."""
        if step.kind is StepKind.START:
            self.conversation = step.agent_session or self.conversation
            if len(self.beginnings) < _MOST_BEGINNINGS:
                self.beginnings[place] = step.agent_session, step.model
        elif step.lacks_diffs and place not in self._keys:
            self._add(place, files_key(step.changes))

    def know_share(self, turn: Turn) -> bool:
        """Take over the use of the turn; return True if it changed."""
        share = _Share(turn.thread_usage, turn.usage, turn.cost_usd, ended=turn.status.ended)
        former, self._share = self._share, share
        return share != former

    def added(self, place: int, step: Step, *, sums: bool = False) -> Step:
        """Return a step with the additions known so far.

        Args:
            sums: it is the turn's only report of its use, which can lack a call that was stopped, and sub-agents.
        """
        if step.changes:
            changes = self._filled.get(place)
            return step if changes is None else structs.replace(step, changes=changes)
        share = self._share
        if share is None:
            return step
        if step.whole_thread:
            known = share.thread.known and share.thread == step.usage
            return structs.replace(step, turn_usage=share.own) if known else step
        if sums and share.ended and share.own.known:
            cost = share.cost_usd if step.cost_usd is None else step.cost_usd
            return structs.replace(step, turn_usage=share.own, cost_usd=cost)
        return step

    def sought(self, place: int, step: Step) -> Step:
        """Return a step with its diffs, or with the reason why it has none.  Reads files if it lacks any."""
        key = self._keys.get(place)
        if self._diffs is None or key is None or not step.lacks_diffs:
            return step
        filled = self._diffs.fill(step, self.conversation, key, bisect_left(self._places[key], place))
        if not filled.lacks_diffs:
            self._filled[place] = filled.changes
        return filled

    def saved(self, lead: int) -> SavedAdditions:
        """Return the records of this reading; ``lead`` steps come before those of the agent."""
        lacking = [(place - lead, key) for place, key in self._keys.items()]
        beginnings = [(place - lead, *begun) for place, begun in self.beginnings.items()]
        return SavedAdditions(lacking, self.conversation, beginnings)

    def take_up(self, saved: SavedAdditions, lead: int) -> None:
        """Take over the records of an earlier reading."""
        self.conversation = saved.conversation
        self.beginnings.update({place + lead: (conversation, model) for place, conversation, model in saved.beginnings})
        for place, key in saved.lacking:
            self._add(place + lead, key)

    def _add(self, place: int, key: int) -> None:
        self._keys[place] = key
        insort(self._places.setdefault(key, []), place)
