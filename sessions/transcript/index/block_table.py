"""The blocks of a turn file: the offset of each, the parser's state there, and the steps of those parsed last."""

from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock

from msgspec import Struct, structs

from agentdash.sessions.agents.parsing.parser import TurnParser
from agentdash.sessions.model.session import Step
from agentdash.sessions.storage.files.line_reader import ArrivalTimes, LineReader

BEGINNING = 4_096
"""Bytes that are kept of a line over the limit."""


class Stretch(Struct, frozen=True):
    """A block to parse again: its offsets in the file, and the parser's state at its beginning."""

    start: int
    stop: int
    state: bytes
    giant: bool
    """The block is one line over the limit, of which only the beginning is read."""

    def lines(self, output: Path, *, cap: int, chunk_bytes: int) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of the block, each with the offset after it; ``cap`` is the limit of a line, in bytes.

        Raises:
            OSError: the file can no longer be read.
        """
        if self.giant:
            with output.open("rb") as file:
                file.seek(self.start)
                yield self.stop, file.read(BEGINNING)
            return
        with LineReader(output, self.start, cap=cap) as reader:
            while reader.offset < self.stop and (chunk := reader.read(min(chunk_bytes, self.stop - reader.offset))):
                yield from reader.split(chunk)
            rest = reader.rest()
            if rest is not None:
                yield self.stop, rest


class BlockTable:
    """Offset and parser state of each block; the newest block grows until it is ended.

    Args:
        starts: the offset of each block.
        states: the parser's state at each offset.
        giants: the numbers of the blocks that are one line over the limit.
    """

    def __init__(self, starts: Sequence[int], states: list[bytes], giants: set[int]) -> None:
        self._starts = array("Q", starts)
        self.states = states
        self.giants = giants
        self.newest = len(self._starts) - 1
        """The number of the newest block."""
        self.newest_start = self._starts[-1]

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def starts(self) -> bytes:
        """The offsets of all blocks, to be saved."""
        return self._starts.tobytes()

    def end(self, offset: int, state: bytes) -> None:
        """End the newest block at an offset, where the next one begins with this state of the parser."""
        self._starts.append(offset)
        self.states.append(state)
        self.newest, self.newest_start = self.newest + 1, offset

    def at(self, offset: int) -> int:
        """Return the number of the block that contains an offset."""
        return bisect_right(self._starts, offset) - 1

    def stretch(self, number: int, position: int) -> Stretch:
        """Return a block to parse again; ``position`` is the end of the newest one."""
        stop = position if number >= self.newest else self._starts[number + 1]
        return Stretch(self._starts[number], stop, self.states[number], number in self.giants)


KEPT_BLOCKS = 12

KEPT_BYTES = 16 << 20
"""The most bytes of lines that the kept blocks come from: a line can hold a million files or tasks."""


class Placed(Struct, frozen=True):
    """A step, and the position of the line that gave it its last form."""

    step: Step
    offset: int
    size: int
    """Bytes of the line, its newline included; 0 for a step that is in no file."""


Block = dict[int, Placed]
"""Steps by their place in the turn: those that got their last form in one block of a file."""


class BlockCache:
    """The most recently used blocks; several turns and threads share one cache."""

    def __init__(self, room: int = KEPT_BLOCKS) -> None:
        self._room = room
        self._lock = Lock()
        self._blocks: OrderedDict[tuple[object, int], Block] = OrderedDict()

    def get(self, owner: object, number: int) -> Block | None:
        """Return a block; None if it is no longer kept."""
        with self._lock:
            block = self._blocks.get((owner, number))
            if block is not None:
                self._blocks.move_to_end((owner, number))
            return block

    def keep(self, owner: object, number: int, block: Block) -> None:
        """Keep a block, and drop the least recently used ones if there are too many."""
        with self._lock:
            self._blocks[owner, number] = block
            while len(self._blocks) > self._room or (len(self._blocks) > 1 and self._bytes() > KEPT_BYTES):
                self._blocks.popitem(last=False)

    def _bytes(self) -> int:
        return sum(placed.size for block in self._blocks.values() for placed in block.values())


def steps_of(parser: TurnParser, line: bytes, size: int, at: int | None, *, cap: int) -> list[Step]:
    """Return the steps of one line, which takes ``size`` bytes in the file; ``cap`` is the limit of a line."""
    if size > cap + 1:
        return parser.too_long(line, size - 1, at)
    return parser.feed(line, at)


def parsed_again(
    stretch: Stretch, parser: TurnParser, output: Path, times: Path, *, cap: int, chunk_bytes: int
) -> Iterator[tuple[Step, int, int]]:
    """Yield the steps of a block, each with the offsets at which its line begins and ends.

    Raises:
        OSError: the file can no longer be read.
    """
    parser.resume(stretch.state)
    begin, arrivals = stretch.start, ArrivalTimes(times, stretch.start)
    for end, line in stretch.lines(output, cap=cap, chunk_bytes=chunk_bytes):
        for step in steps_of(parser, line, end - begin, arrivals.at(end), cap=cap):
            yield step, begin, end
        begin = end


def latest(step: Step | None, ended: Step) -> Step:
    """Return a step with its whole texts, and with the ending of ``ended``, which no line gives."""
    if step is None:
        return ended
    return structs.replace(step, index=ended.index, status=ended.status, ended_at=ended.ended_at)
