"""The use in claude's own transcripts (Claude Code 2.1.197 and 2.1.330).

Each line ``assistant`` has the final use of its message, which the stream has only at the message's start.  The lines
of one message repeat it (docs/protocols/claude.md, "Transcripts").  A sub-agent's messages are in a file of their own.
2.1.330 also writes the running total of the conversation (``cost-state``) when its process ends.
"""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from msgspec import Struct, field

from agentdash.sessions.agents.claude import events
from agentdash.sessions.agents.claude.project.own_files import transcript_of
from agentdash.sessions.agents.claude.use.reports import running_totals
from agentdash.sessions.agents.parsing.json_lines import milliseconds
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder
from agentdash.sessions.rules.costs.reports import TRANSCRIPT, Report
from agentdash.sessions.storage.files.line_reader import LineReader

LINE_CAP = 1 << 20
"""Bytes; a longer line is cut, and is not read."""

SEARCHED_BYTES = 64 << 20
"""Bytes at the end of a transcript that are read."""

_RESUME = ("--resume", "-r")
_CONTINUE = ("--continue", "-c")


class _Message(Struct):
    id: str = ""
    model: str | None = None
    stop_reason: str | None = None
    usage: events.ApiUsage | None = None


class _Line(Struct):
    type: str = ""
    timestamp: str | None = None
    message: _Message | None = None
    model_usage: dict[str, events.ModelUsage] = field(default_factory=dict, name="modelUsage")


_DECODER: TolerantDecoder[_Line] = TolerantDecoder(_Line)


def calls(home: Path, conversation: str, began: int) -> list[Report] | None:
    """Return the finished model calls of a turn, also those of its sub-agents; None if there is no transcript.

    Args:
        began: the start of the turn, UTC ms.
    """
    path = transcript_of(home, conversation)
    if path is None:
        return None
    found: dict[str, Report | None] = {}
    try:
        helpers = path.with_suffix("").glob("subagents/**/*.jsonl")
        for file in (path, *sorted(one for one in helpers if one.stat().st_mtime_ns >= began * 1_000_000)):
            for line in _lines(file, b'"assistant"'):
                _note(line, began, found)
    except OSError:
        return None
    return [report for report in found.values() if report is not None]


def total_before(home: Path, argv: tuple[str, ...], began: int) -> list[Report] | None:
    """Return the running total of the conversation that a process goes on with; None if it cannot be known.

    Args:
        began: its time, UTC ms.
    """
    if not any(word.partition("=")[0] in (*_RESUME, *_CONTINUE) for word in argv):
        return []  # it begins a conversation
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
            yield from _DECODER.every(line) if any(mark in line for mark in marks) else ()


def _note(line: _Line, began: int, found: dict[str, Report | None]) -> None:
    """Keep the report of a message; None for one that was not finished when its line was written."""
    message, at = line.message, milliseconds(line.timestamp)
    if line.type != "assistant" or message is None or not message.id or message.usage is None:
        return
    if at is None or at < began or message.model == events.SYNTHETIC:
        return
    found[message.id] = None
    if message.stop_reason is not None:
        found[message.id] = Report(
            source=TRANSCRIPT,
            key=message.id,
            kind="call",
            model=message.model,
            usage=message.usage.counted(),
            written_1h=message.usage.written_1h,
            at=at,
        )
