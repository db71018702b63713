"""The steps of a session as one immutable sequence, which a widget shows until it gets the next one."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from types import MappingProxyType

from agentdash.sessions.model.session import Step
from agentdash.sessions.transcript.index.kind_codes import pattern, tally
from agentdash.sessions.transcript.index.turn_index import TurnIndex
from agentdash.sessions.transcript.mark_steps import Gap, MarkSection, Section


class View:
    """The current steps of the sections, numbered from 0; it does not change when they grow."""

    def __init__(self, sections: Sequence[Section] = ()) -> None:
        self.sections = tuple(sections)
        """Its sections, in order."""
        self._lengths = tuple(len(section.kinds) for section in sections)
        self._starts: list[int] = []
        total = 0
        for length in self._lengths:
            self._starts.append(total)
            total += length
        self._total = total

    def __len__(self) -> int:
        return self._total

    @property
    def complete(self) -> bool:
        """True if no steps are left out."""
        return not any(isinstance(section, Gap) for section in self.sections)

    def step(self, item: int) -> Step:
        """Return a step; very long texts lack their middle."""
        section, place = self.find(item)
        return section.step(place)

    def whole(self, item: int) -> Step:
        """Return a step with its whole texts.

        Raises:
            OSError: the file can no longer be read.
        """
        section, place = self.find(item)
        return section.whole(place)

    def fill(self, items: Iterable[int]) -> list[int]:
        """Search for the diffs of steps that lack them; return the items whose diffs were found.  Reads files."""
        filled = []
        for item in items:
            section, place = self.find(item)
            if section.fill(place):
                filled.append(item)
        return filled

    def filled(self, item: int) -> Step:
        """Return a step like :meth:`step`, but search for its diffs if it lacks them.  Reads files."""
        step = self.step(item)
        return self.step(item) if step.lacks_diffs and self.fill([item]) else step

    def where(self, item: int) -> tuple[int, int]:
        """Return offset and size in bytes of the line that gave a step its last form; (0, 0) if no line did."""
        section, place = self.find(item)
        return section.where(place)

    def turn(self, item: int) -> int:
        """Return the turn of a step."""
        return self.find(item)[0].turn

    def find(self, item: int) -> tuple[Section, int]:
        """Return the section of a step, and its place there."""
        number = bisect_right(self._starts, item) - 1
        return self.sections[number], item - self._starts[number]

    def shown(self, section: Section) -> int:
        """Return the number of steps of a section in this view."""
        return next((n for s, n in zip(self.sections, self._lengths, strict=True) if s is section), 0)

    def item(self, section: Section, place: int) -> int | None:
        """Return the item at a place of a section; None if the view does not have it."""
        for start, length, candidate in zip(self._starts, self._lengths, self.sections, strict=True):
            if candidate is section and place < length:
                return start + place
        return None

    def extends(self, earlier: "View") -> bool:
        """Return whether the view begins with all steps of an earlier view."""
        number = len(earlier.sections)
        if self.sections[:number] != earlier.sections:
            return False
        last = number - 1
        return not number or (
            self._lengths[:last] == earlier._lengths[:last] and self._lengths[last] >= earlier._lengths[last]
        )

    def moved(self, earlier: "View", item: int) -> int:
        """Return the item in this view of a step of an earlier view: the same step, or the nearest one."""
        if item >= len(earlier):
            return len(self)
        section, place = earlier.find(item)
        same = self.item(section, place)
        if same is not None:
            return same
        if isinstance(section, Gap):
            position = next((n for n, s in zip(self._starts, self.sections, strict=True) if isinstance(s, Gap)), None)
        else:
            position = self._same_line(section, place)
        # Both views end with the same steps.
        return max(0, item + len(self) - len(earlier)) if position is None else position

    def after(self, earlier: "View") -> int:
        """Return the first item that is new since an earlier view."""
        if self.extends(earlier) or not len(earlier):
            return len(earlier)
        return self.moved(earlier, len(earlier) - 1) + 1

    def number(self, turn: int, index: int) -> int | None:
        """Return the item of a turn's step, or of its last if it has fewer; None while the step is not read."""
        there = [
            (start, length, section)
            for start, length, section in zip(self._starts, self._lengths, self.sections, strict=True)
            if section.turn == turn and length and not isinstance(section, MarkSection)
        ]
        if not there:
            return None
        start, length, section = there[0]
        # The agent's steps are counted from 1, with or without a prompt before them.
        place = max(0, index - 1 + section.lead) if isinstance(section, TurnIndex) else max(0, index)
        return None if len(there) > 1 and place >= length else start + min(place, length - 1)

    def after_steps(self, count: int, recorded: Mapping[int, int] = MappingProxyType({})) -> int:
        """Return the item after ``count`` steps of agents; prompts and steps added at a turn's end do not count.

        ``recorded`` has the steps of ended turns as their runners counted them, which may be runners of other versions.
        """
        for start, length, section in zip(self._starts, self._lengths, self.sections, strict=True):
            if isinstance(section, MarkSection):
                continue
            lead, added = (section.lead, section.added) if isinstance(section, TurnIndex) else (0, 0)
            own = length - lead - added
            counted = recorded.get(section.turn, own)
            # A runner of another version may have counted more steps than this reader finds: stay within these.
            if count < counted:
                return start + lead + min(count, own)
            count -= counted
        return len(self)

    def turn_starts(self) -> list[int]:
        """Return the first item of each turn."""
        turns: dict[int, int] = {}
        for start, length, section in zip(self._starts, self._lengths, self.sections, strict=True):
            if length:
                turns.setdefault(section.turn, start)
        return list(turns.values())

    @cached_property
    def repeats(self) -> "array[int]":
        """The items of later turns that only repeat with which conversation and model the agent starts, in order."""
        items, last = array("I"), None
        for start, length, section in zip(self._starts, self._lengths, self.sections, strict=True):
            begun = section.beginnings.copy() if isinstance(section, TurnIndex) else {}
            # `last` outlives the section: the start of a turn is compared with the one before, in whatever turn.
            for place in sorted(place for place in begun if place < length):
                if begun[place] == last:
                    items.append(start + place)
                last = begun[place]
        return items

    def count(self, marked: bytes) -> int:
        """Count the steps that a table of ``kind_codes`` marks."""
        return sum(number for tallied in self._tallies for value, number in tallied.items() if marked[value])

    @cached_property
    def _tallies(self) -> list[dict[int, int]]:
        """The number of steps by kind, for each section; cached, because each key press needs it."""
        return [tally(kinds) for kinds in self._kinds()]

    def matching(self, marked: bytes) -> "array[int]":
        """Return the items that a table of ``kind_codes`` marks."""
        items = array("I")
        for start, kinds in zip(self._starts, self._kinds(), strict=True):
            items.extend(compress(range(start, start + len(kinds)), kinds.translate(marked)))
        return items

    def next_marked(self, marked: bytes, item: int, direction: int) -> int | None:
        """Return the nearest marked item after (1) or before (-1) an item."""
        wanted = pattern(marked)
        pieces = list(zip(self._starts, self._kinds(), strict=True))
        for start, kinds in pieces if direction > 0 else reversed(pieces):
            place = _after(wanted, kinds, item - start) if direction > 0 else _before(wanted, kinds, item - start)
            if place is not None:
                return start + place
        return None

    def _same_line(self, section: Section, place: int) -> int | None:
        """Return the item that comes from the same line of the same file, also of another turn."""
        if not isinstance(section, TurnIndex):
            return None
        if place < section.lead:
            return self.number(section.turn, 0)
        offset, size = section.where(place)
        others = (s for s in self.sections if isinstance(s, TurnIndex) and not s.is_tail and s.output == section.output)
        other = next((s for s in others if s.begin <= offset < s.position), None)
        if other is None or not size:
            return None
        # A line can give several steps: take the one with the same rank.
        here, there = section.places_at(offset), other.places_at(offset)
        rank = here.index(place) if place in here else 0
        return self.item(other, there[min(rank, len(there) - 1)]) if there else None

    def _kinds(self) -> Iterator[bytes]:
        for section, length in zip(self.sections, self._lengths, strict=True):
            yield bytes(section.kinds[:length])


def _after(wanted: re.Pattern[bytes], kinds: bytes, place: int) -> int | None:
    match = wanted.search(kinds, max(0, place + 1)) if place + 1 < len(kinds) else None
    return match.start() if match else None


def _before(wanted: re.Pattern[bytes], kinds: bytes, place: int) -> int | None:
    if place <= 0:
        return None
    # An expression searches forwards only, so the kinds before the place are reversed.
    backwards = kinds[: min(place, len(kinds))][::-1]
    match = wanted.search(backwards)
    return len(backwards) - 1 - match.start() if match else None
