"""What the dashboard said, to be read again: toasts are gone after some seconds."""

import os
from collections import deque
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from ..sessions.clock import now_ms
from ..sessions.text import clean

MOST = 500
"""Entries that are kept."""

TAIL_BYTES = 16_384
TAIL_LINES = 100


class Entry(Struct, frozen=True):
    """Something that was said."""

    at: int
    """UTC ms."""
    severity: str
    """``error`` or ``information``."""
    text: str


class Log:
    """The last entries, in the order in which they were said."""

    def __init__(self, clock: Callable[[], int] = now_ms) -> None:
        self._clock = clock
        self._entries: deque[Entry] = deque(maxlen=MOST)

    def add(self, text: str, severity: str = "information") -> None:
        """Remember what is said now."""
        self._entries.append(Entry(self._clock(), severity, clean(text)))

    def newest_first(self) -> list[Entry]:
        """All entries, the last one first."""
        return list(reversed(self._entries))


def crash_lines(home: Path) -> list[str]:
    """The last lines of the dashboard's own log file; none where there is no such file.

    Raises:
        OSError: it cannot be read.
    """
    path = home / "dashboard.log"
    if not path.is_file():
        return []
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL_BYTES))
        lines = clean(file.read().decode("utf-8", "replace")).splitlines()
    return lines[-TAIL_LINES:] if size <= TAIL_BYTES else lines[1:][-TAIL_LINES:]
