"""The steps of lines: of one that is read for the first time, and of a block that is parsed again."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from ...agents.parsing.parser import TurnParser
from ...model import Step
from ...storage.files.line_reader import ArrivalTimes
from .block_table import Stretch


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
