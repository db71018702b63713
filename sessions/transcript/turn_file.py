"""A file of steps without a session around it: a turn file, or a transcript that an agent keeps for itself."""

import gzip
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from io import BufferedReader
from itertools import islice
from pathlib import Path

from msgspec import structs

from agentdash.sessions.agents.formats import (
    LOOKED_AT,
    Reader,
    TransportReader,
    guess_document,
    guess_format,
    guess_transport,
    reader_named,
)
from agentdash.sessions.agents.registry import agent_named, is_agent
from agentdash.sessions.model.errors import NotATranscriptError
from agentdash.sessions.model.session import Step
from agentdash.sessions.storage.scratch import scratch_parent
from agentdash.sessions.transcript.index.block_table import BlockCache
from agentdash.sessions.transcript.index.turn_index import LINE_CAP, TurnIndex

_BEGINNING = 64 << 10
"""Bytes in which the heading of a document is searched."""

_GZIP = b"\x1f\x8b\x08"


class StepFile:
    """The steps of a file of any size; their texts stay on disk until they are requested.

    Args:
        format_name: see :func:`..agents.formats.format_names`; if None, it is detected from the first lines.

    Raises:
        NotATranscriptError: no line of the file can be read.
        UsageError: the format does not exist.
        OSError: the file cannot be read.
    """

    def __init__(self, path: Path, format_name: str | None = None) -> None:
        name = format_name or _format_of(path)
        self.format = name
        self._index = TurnIndex(path, Path(os.devnull), _reader_of(path, name), 1, BlockCache())
        self._index.read_on(float("inf"))
        self._index.finish(None)
        facts = self._index.facts
        self.lines, self.unknown = facts.lines, facts.unknown
        """The number of lines that are not blank, and of those that the format does not know."""
        if not self.lines:
            raise NotATranscriptError("empty file")
        if format_name is None and self.unknown >= self.lines:
            raise NotATranscriptError(f"it looks like a {name} file, but has no known lines")

    def steps(self) -> Iterator[Step]:
        """Yield the steps in their order; their numbers begin at 0 in each turn.

        Raises:
            OSError: the file can no longer be read.
        """
        turn, number = 0, 0
        for step in self._index.every():
            turn, number = step.turn, (number + 1 if step.turn == turn else 0)
            yield structs.replace(step, index=number)


def _format_of(path: Path) -> str:
    """Return the name of the file's format, detected from its first lines."""
    with path.open("rb") as file:
        if name := guess_document(file.read(_BEGINNING)):
            return name
    blank = True
    for line in _first_lines(path):
        blank = blank and not line.strip()
        if name := guess_format([line]):
            return name
    words = "empty file" if blank else "not a known transcript format (--agent command shows any text)"
    raise NotATranscriptError(words)


def _reader_of(path: Path, name: str) -> Reader:
    """Return the reader of a format; that of an agent's stream depends on how its process was started."""
    if not is_agent(name):
        return reader_named(name)
    agent = agent_named(name)
    return TransportReader(agent, guess_transport(agent, _first_lines(path)))


def _first_lines(path: Path) -> Iterator[bytes]:
    """Yield the first lines of a file: only one is in memory at a time, because each may be huge."""
    with path.open("rb") as file:
        yield from islice(iter(partial(file.readline, LINE_CAP), b""), LOOKED_AT)


@contextmanager
def plain_file(path: Path | None, stream: BufferedReader) -> Iterator[Path]:
    """Provide a regular file with the bytes of a stream, unpacked if gzip packed them.

    A pipe can be read only once, and a packed file only from its beginning.  Both are copied to a temporary file,
    which is removed at the end.

    Args:
        path: the source of the stream, if it is a regular file.
        stream: a binary file at its beginning.

    Raises:
        OSError: the stream cannot be read or the copy cannot be written.
        NotATranscriptError: the packed bytes are damaged.
    """
    packed = stream.peek(len(_GZIP)).startswith(_GZIP)
    if path is not None and not packed:
        yield path
        return
    with tempfile.NamedTemporaryFile(dir=scratch_parent()) as copy:
        try:
            with gzip.GzipFile(fileobj=stream) if packed else nullcontext(stream) as plain:
                shutil.copyfileobj(plain, copy)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise NotATranscriptError(f"cannot be unpacked: {error}") from None
        copy.flush()
        yield Path(copy.name)
