"""The blocks of a turn file: the offset of each, and the parser's state there."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from ...storage.files.line_reader import LineReader

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
