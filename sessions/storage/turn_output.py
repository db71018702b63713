"""The output of a turn on disk: its part of the files of a stream.

A stream is the output of one process of an agent: its stdout, its stderr and the arrival times.  Its files have the
number of its first turn.  Later turns of the same process are the following parts of these files, without gaps: each
byte belongs to exactly one turn.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from ..model import Turn
from .file_part import FilePart
from .paths import SessionFolder


class TurnOutput(Struct, frozen=True):
    """The parts of a stream's files that belong to one turn."""

    stream: int
    """The number of the turn that has the same number as the files."""
    stdout: FilePart
    stderr: FilePart
    times: Path
    """The arrival times of the bytes of the whole stream, by their offsets in its file."""


def own_output(folder: SessionFolder, n: int) -> TurnOutput:
    """Return the output of a turn that has all of a stream: files with its number, from their beginnings."""
    return TurnOutput(n, FilePart(folder.output(n)), FilePart(folder.errors(n)), folder.times(n))


def output_of(folder: SessionFolder, turn: Turn, next_turn: Turn | None = None) -> TurnOutput:
    """Return the output of a turn.

    Args:
        folder: the session's folder.
        turn: the turn; if its own end is not recorded, it ends where ``next_turn`` begins.
        next_turn: the next turn of the same stream; None if there is none.
    """
    stream, end, end_error = turn.stream_number, turn.end_byte, None
    if next_turn is not None:
        end = next_turn.begin_byte if end is None else end
        end_error = next_turn.begin_error_byte
    return TurnOutput(
        stream,
        FilePart(folder.output(stream), turn.begin_byte, end),
        FilePart(folder.errors(stream), turn.begin_error_byte, end_error),
        folder.times(stream),
    )


def outputs_of(folder: SessionFolder, turns: Iterable[Turn]) -> list[TurnOutput]:
    """Return the output of each turn of a session; ``turns`` are all of them, first to last."""
    outputs: list[TurnOutput] = []
    newer: dict[int, Turn] = {}
    """The turn of each stream that comes after the current one."""
    for turn in reversed(list(turns)):
        outputs.append(output_of(folder, turn, newer.get(turn.stream_number)))
        newer[turn.stream_number] = turn
    return outputs[::-1]


def output_in(folder: SessionFolder, turns: Sequence[Turn], n: int) -> TurnOutput:
    """Return the output of turn ``n`` of these turns; if it is not among them, that of files with its number."""
    turn = next((turn for turn in turns if turn.n == n), None)
    if turn is None:
        return own_output(folder, n)
    later = (one for one in turns if one.n > n and one.stream_number == turn.stream_number)
    return output_of(folder, turn, next(later, None))
