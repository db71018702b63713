"""The output of a turn on disk: its part of the files of a stream.

A stream is the output of one process of an agent: its stdout, its stderr and the arrival times.  Its files have the
number of its first turn.  Later turns of the same process are the following parts of these files, without gaps: each
byte belongs to exactly one turn.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from agentdash.sessions.model.session import Turn
from agentdash.sessions.storage.files.line_reader import FilePart
from agentdash.sessions.storage.paths import Layout, SessionFolder


class TurnOutput(Struct, frozen=True):
    """The parts of a stream's files that belong to one turn."""

    stream: int
    """The number of the turn that has the same number as the files."""
    stdout: FilePart
    stderr: FilePart
    times: Path
    """The arrival times of the bytes of the whole stream, by their offsets in its file."""
    transport: str = ""
    """The protocol in which a live agent wrote it; empty for a process of one turn."""


def own_output(folder: SessionFolder, n: int) -> TurnOutput:
    """Return the output of a turn that has all of a stream: files with its number, from their beginnings."""
    return TurnOutput(n, FilePart(folder.output(n)), FilePart(folder.errors(n)), folder.times(n))


def output_of(folder: SessionFolder, turn: Turn, next_turn: Turn | None = None) -> TurnOutput:
    """Return the output of a turn.

    Args:
        turn: the turn; if its own end is not recorded, it ends where ``next_turn`` begins.
        next_turn: the next turn of the same stream; None if there is none.
    """
    return _part(own_output(folder, turn.stream_number), turn, next_turn)


def outputs_of(folder: SessionFolder, turns: Sequence[Turn]) -> list[TurnOutput]:
    """Return the output of each turn of a session; ``turns`` are all of them, first to last."""
    outputs: list[TurnOutput] = []
    streams: dict[int, tuple[TurnOutput, Turn]] = {}
    """The files of each stream, and its turn that comes after the current one."""
    for turn in reversed(turns):
        number = turn.stream_number
        stream, next_turn = streams.get(number) or (own_output(folder, number), None)
        outputs.append(_part(stream, turn, next_turn))
        streams[number] = stream, turn
    return outputs[::-1]


def output_in(folder: SessionFolder, turns: Iterable[Turn], n: int) -> TurnOutput:
    """Return the output of turn ``n``; if it is not among the turns, that of files with its number.

    ``turns`` are the turns from ``n`` on, in order.
    """
    later = (turn for turn in turns if turn.n >= n)
    turn = next(later, None)
    if turn is None or turn.n != n:
        return own_output(folder, n)
    return output_of(folder, turn, next((one for one in later if one.stream_number == turn.stream_number), None))


def remove_output(layout: Layout, session_id: str, n: int) -> None:
    """Remove the files of a turn that came to nothing: it is started again with the same number."""
    folder = layout.session(session_id)
    for path in (folder.output(n), folder.errors(n), folder.prompt(n), folder.times(n)):
        path.unlink(missing_ok=True)
    layout.live_name(session_id, n).unlink(missing_ok=True)


def _part(stream: TurnOutput, turn: Turn, next_turn: Turn | None) -> TurnOutput:
    """Return the turn's part of all of a stream."""
    end, end_error = turn.end_byte, None
    if next_turn is not None:
        end = next_turn.begin_byte if end is None else end
        end_error = next_turn.begin_error_byte
    return TurnOutput(
        stream.stream,
        FilePart(stream.stdout.path, max(0, turn.begin_byte), end),  # a damaged record can have any number
        FilePart(stream.stderr.path, max(0, turn.begin_error_byte), end_error),
        stream.times,
        turn.transport,
    )
