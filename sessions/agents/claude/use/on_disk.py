"""The use in claude's own transcripts (Claude Code 2.1.197 and 2.1.330, protocols 3.4).

2.1.330 writes the running total of the conversation (``cost-state``) when its process ends.
"""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from msgspec import Struct, field

from ....costs.reports import Report
from ....storage.files.line_reader import LineReader
from ...parsing.tolerant_decoder import TolerantDecoder
from ...transcript_parser import milliseconds
from .. import events
from ..project.own_files import transcript_of
from .reports import running_totals

LINE_CAP = 1 << 20
"""Bytes; a longer line is cut, and is not read."""

SEARCHED_BYTES = 64 << 20
"""Bytes at the end of a transcript that are read."""

_RESUME = ("--resume", "-r")
_CONTINUE = ("--continue", "-c")


class _Line(Struct):
    type: str = ""
    timestamp: str | None = None
    model_usage: dict[str, events.ModelUsage] = field(default_factory=dict, name="modelUsage")


_DECODER: TolerantDecoder[_Line] = TolerantDecoder(_Line)


def total_before(home: Path, argv: tuple[str, ...], began: int) -> list[Report] | None:
    """Return the running total of the conversation that a process goes on with; None if it cannot be known.

    Args:
        home: claude's own folder.
        argv: the start of the process.
        began: its time, UTC ms.
    """
    if not _goes_on(argv):
        return []
    path = transcript_of(home, _resumed(argv))
    if path is None:
        return None
    total: list[Report] = []
    try:
        if path.stat().st_size > SEARCHED_BYTES:
            return None
        for line in _lines(path, b'"cost-state"', b'"timestamp"'):
            if (milliseconds(line.timestamp) or 0) >= began:
                break
            if line.type == "cost-state":
                total = running_totals(line.model_usage)
    except OSError:
        return None
    return total


def _goes_on(argv: tuple[str, ...]) -> bool:
    """Return whether a start resumes a conversation."""
    return any(word.partition("=")[0] in (*_RESUME, *_CONTINUE) for word in argv)


def _resumed(argv: tuple[str, ...]) -> str:
    """Return the conversation that a start names; empty if claude chooses it."""
    for word, following in pairwise((*argv, "")):
        name, _, value = word.partition("=")
        if name in _RESUME:
            return value or following
    return ""


def _lines(path: Path, *marks: bytes) -> Iterator[_Line]:
    """Yield the lines that have one of the marks, as far as they can be read."""
    with LineReader(path, cap=LINE_CAP) as reader:
        reader.skip_to_tail(SEARCHED_BYTES)
        for line in reader.all_lines():
            event = _DECODER.best(line) if any(mark in line for mark in marks) else None
            if event is not None:
                yield event
