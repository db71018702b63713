"""Standard input and output of the MCP server: lines of bytes in, whole lines out."""

import os
import sys
from collections.abc import Iterator
from threading import Lock

LONGEST_LINE = 64_000_000
"""Bytes of the longest line that is read; a longer one is passed over."""

_PIECE = 1 << 16


class TooLong:
    """Takes the place of a line that is longer than :data:`LONGEST_LINE`."""


def own_streams() -> tuple[int, int]:
    """Return descriptors of stdin and stdout that no other code of this process can use, nor any child.

    Afterwards stdin is empty, and text that any module prints goes to stderr.
    """
    sys.stdout.flush()
    given, taken = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    for descriptor in (given, taken):
        os.set_blocking(descriptor, True)
    return given, taken


def lines(descriptor: int, longest: int = LONGEST_LINE) -> Iterator[bytes | type[TooLong]]:
    r"""Yield the lines up to the end of input, split at ``\n`` only; the last one need not end with it."""
    held: list[bytes] = []
    size, passing = 0, False
    while piece := _read(descriptor):
        first, *others = piece.split(b"\n")
        for following in (None, *others):
            if following is not None:
                yield TooLong if passing else b"".join(held)
                held, size, passing = [], 0, False
            part = first if following is None else following
            size += len(part)
            if size > longest:
                held, passing = [], True
            elif part:
                held.append(part)
    if held:
        yield b"".join(held)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _PIECE)
    except OSError:  # the other end is a terminal that was closed, or a socket that was reset
        return b""


class Output:
    """Writes lines from any thread, each as a whole; lines for a client that is gone are dropped."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = Lock()

    def send(self, line: bytes) -> bool:
        """Write one line; return whether the client took the whole of it."""
        with self._lock:
            rest = memoryview(line)
            try:
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError:
                return False  # the end of input follows
        return True
