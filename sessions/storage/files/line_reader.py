"""Read turn files by byte offset: bytes in, bytes of a range or whole lines out, memory bounded.

Lines are split on ``\\n`` only (agents print U+2028 raw inside JSON strings) and may exceed a megabyte
(docs/protocols/codex.md, "Stream").  A half-written last line is held back until its newline arrives.
"""

import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

from msgspec import Struct

from agentdash.sessions.model.clock import monotonic

CHUNK = 1 << 20
"""Bytes per read."""

READ_SECONDS = 5.0
"""Time limit for reading a file of any size from its beginning; after that, the rest is skipped up to the tail."""

TAIL_BYTES = 1 << 20

LINE_CAP = 64 << 20
"""Bytes after which a line is cut; the rest up to the newline is dropped, so that memory stays bounded."""


class LineReader:
    """Follows one growing file from an offset, to its end or to another offset.

    The file need not exist yet.  It is opened once and kept open: a deleted or moved file can be read to its end.

    Args:
        offset: the start, in bytes.
        end: the offset at which reading stops, which may be set later; None for the end of the file.
        cap: maximum bytes of a line; a longer one is cut.
        kept: bytes kept of a line that is cut; by default ``cap``.
    """

    def __init__(
        self, path: Path, offset: int = 0, *, end: int | None = None, cap: int = LINE_CAP, kept: int | None = None
    ) -> None:
        self.path = path
        self.end = end
        self._cap = cap
        self._kept = cap if kept is None else kept
        self.offset = offset
        """The start of the next read, in bytes."""
        self._descriptor: int | None = None
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._dropping = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines completed since the last call, each with the offset just after it.

        Bytes written during this call are left to the next one: a faster writer must not keep the reader here.
        """
        end = self.size
        while self.offset < end and (chunk := self.read()):
            yield from self.split(chunk)

    def all_lines(self) -> Iterator[bytes]:
        """Yield every line of a file that is no longer written, an unfinished last line included."""
        for _, line in self.lines():
            yield line
        rest = self.rest()
        if rest is not None:
            yield rest

    def most_lines(self) -> Iterator[bytes]:
        """Yield :meth:`all_lines`, but after :data:`READ_SECONDS` only those in the file's tail."""
        deadline = monotonic() + READ_SECONDS
        for line in self.all_lines():
            yield line
            if self.ahead > TAIL_BYTES and monotonic() > deadline:
                break
        self.skip_to_tail(TAIL_BYTES)
        yield from self.all_lines()

    def read(self, size: int = CHUNK) -> bytes:
        """Return the next bytes; empty at the end."""
        size = size if self.end is None else min(size, self.end - self.offset)
        descriptor = self._opened() if size > 0 else None
        if descriptor is None:
            return b""
        chunk = os.pread(descriptor, size, self.offset)
        self.offset += len(chunk)
        return chunk

    def _opened(self) -> int | None:
        if self._descriptor is None:
            with suppress(FileNotFoundError):
                self._descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        return self._descriptor

    @property
    def size(self) -> int:
        """Present size in bytes of the file up to ``end``; 0 if there is no file yet.  This does not open the file."""
        try:
            stat = self.path.stat() if self._descriptor is None else os.fstat(self._descriptor)
        except FileNotFoundError:
            return 0
        return stat.st_size if self.end is None else min(stat.st_size, self.end)

    @property
    def ahead(self) -> int:
        """Bytes written but not read yet."""
        return max(0, self.size - self.offset)

    def skip_to_tail(self, size: int) -> None:
        """Skip everything except the whole lines in the last ``size`` bytes; a longer last line is kept."""
        descriptor = self._opened()
        if descriptor is None:
            return
        while (start := self.size - size) > self.offset:
            # The first line of the window is cut: start with the next one, if there is one.
            begin = os.pread(descriptor, size - 1, start).find(b"\n") + 1
            if begin or size >= LINE_CAP:
                self.offset = start + begin
                self._take()  # drop the line begun before the gap: what follows the gap is not its rest
                return
            size *= 4

    def split(self, chunk: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that a chunk, just read, completes, each with the offset just after it."""
        base = self.offset - len(chunk)
        start = 0
        # The first part ends the line that earlier chunks began, which can be any number of chunks long.
        while (newline := chunk.find(b"\n", start)) >= 0:
            self._keep(chunk[start:newline])
            yield base + newline + 1, self._take()
            start = newline + 1
        if start < len(chunk):
            self._keep(chunk[start:])

    def rest(self) -> bytes | None:
        """Return the unfinished last line; to be called when nothing more can be written."""
        return self._take() if self._pending else None

    def _keep(self, part: bytes) -> None:
        if self._dropping:
            return
        room = self._cap - self._pending_size
        if len(part) > room:
            part, self._dropping = part[:room], True
        self._pending.append(part)
        self._pending_size += len(part)
        if self._dropping and self._kept < self._cap:
            self._pending = [_beginning(self._pending, self._kept)]

    def _take(self) -> bytes:
        line = b"".join(self._pending)
        self._pending.clear()
        self._pending_size = 0
        self._dropping = False
        return line


def _beginning(parts: list[bytes], size: int) -> bytes:
    """The first bytes of a line in parts, without joining all of it."""
    beginning = b""
    for part in parts:
        beginning += part[: size - len(beginning)]
        if len(beginning) >= size:
            break
    return beginning


_STAMP = struct.Struct("<QQ")


def stamp(offset: int, at_ms: int) -> bytes:
    """One record of a ``turn_N.times`` file: everything up to ``offset`` had arrived by ``at_ms``."""
    return _STAMP.pack(offset, at_ms)


_RECORDS_READ = 4_096
"""Number of records of a ``.times`` file that are read at once."""


class ArrivalTimes:
    """Arrival times of a turn file's bytes, from its ``.times`` file; records that were passed are dropped."""

    def __init__(self, path: Path, begin: int = 0) -> None:
        """``begin`` is the lowest offset of the turn file that will be asked for."""
        self._path = path
        self._loaded = _first_record(path, begin) * _STAMP.size if begin else 0
        """Bytes of the file that were read or skipped."""
        self._data = b""
        self._at = 0
        """Position in ``_data`` of the record that was checked last."""
        self._may_load = True

    def refresh(self) -> None:
        """Read the file again when the records run out: once, not for every line without a record."""
        self._may_load = True

    def upto(self) -> int:
        """Return the offset up to which arrivals are recorded; 0 if none is."""
        try:
            records = self._path.stat().st_size // _STAMP.size
        except OSError:
            return 0
        last = _piece(self._path, (records - 1) * _STAMP.size, _STAMP.size) if records else b""
        return int(_STAMP.unpack(last)[0]) if len(last) == _STAMP.size else 0

    def at(self, offset: int) -> int | None:
        """Return the arrival of the byte before ``offset``, UTC ms; None if it was not recorded.

        Callers must ask for offsets in rising order.
        """
        while True:
            # Offsets are asked for in rising order, so a record that was passed is never needed again.
            while self._at + _STAMP.size <= len(self._data):
                upto, at_ms = _STAMP.unpack_from(self._data, self._at)
                if offset <= upto:
                    return int(at_ms)
                self._at += _STAMP.size
            if not self._load_more():
                return None

    def _load_more(self) -> bool:
        if not self._may_load:
            return False
        data = _piece(self._path, self._loaded, _RECORDS_READ * _STAMP.size)
        self._may_load = len(data) == _RECORDS_READ * _STAMP.size
        self._loaded += len(data)
        self._data, self._at = self._data[self._at :] + data, 0
        return bool(data)


def _piece(path: Path, offset: int, size: int) -> bytes:
    """Bytes of a file; empty if there is no such file."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(size)
    except OSError:
        return b""


def _first_record(path: Path, offset: int) -> int:
    """The number of the record that holds this offset of the turn file: a binary search, as offsets rise."""
    try:
        low, high = 0, path.stat().st_size // _STAMP.size
    except OSError:
        return 0
    while low < high:
        middle = (low + high) // 2
        record = _piece(path, middle * _STAMP.size, _STAMP.size)
        if len(record) == _STAMP.size and _STAMP.unpack(record)[0] < offset:
            low = middle + 1
        else:
            high = middle
    return low


PIECE = 1 << 16
"""Bytes of a range per read."""


class FilePart(Struct, frozen=True):
    """A range of a file, which need not exist yet and may grow: one process can write several turns into one file."""

    path: Path
    begin: int = 0
    end: int | None = None
    """The offset behind the last byte; None for the end of the file."""

    @property
    def size(self) -> int:
        """Bytes of the range that are on disk; 0 if there is no file.

        Raises:
            OSError: the file cannot be inspected.
        """
        with suppress(FileNotFoundError):
            return max(0, self.upto(self.path.stat().st_size) - self.begin)
        return 0

    def upto(self, size: int) -> int:
        """Return the offset behind the last byte of the range that a file of ``size`` bytes has."""
        return size if self.end is None else min(size, self.end)

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes of the range, a piece at a time.

        Raises:
            OSError: the file exists and cannot be read.
        """
        at = self.begin
        with suppress(FileNotFoundError), self.path.open("rb") as file:
            file.seek(at)
            while piece := file.read(self._room(at, PIECE)):
                at += len(piece)
                yield piece

    def read(self) -> bytes:
        """Return the bytes of the range; raises the error of :meth:`pieces`."""
        return b"".join(self.pieces())

    def last(self, most: int) -> tuple[bytes, int]:
        """Return at most ``most`` bytes from its end, and the number of bytes before them.

        Raises the error of :meth:`pieces`.
        """
        left_out = max(0, self.size - most)
        with suppress(FileNotFoundError), self.path.open("rb") as file:
            file.seek(self.begin + left_out)
            return file.read(self._room(self.begin + left_out, most)), left_out
        return b"", 0

    def _room(self, at: int, most: int) -> int:
        """Return the bytes to read at an offset, at most ``most``."""
        return most if self.end is None else max(0, min(most, self.end - at))
