"""A range of bytes of a file: one process of an agent can write the output of several turns into one file."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

PIECE = 1 << 16
"""Bytes per read."""


class FilePart(Struct, frozen=True):
    """A range of a file, which need not exist yet and may grow."""

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
