"""What the dashboard said, to be read again: toasts are gone after some seconds."""

import os
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from ...sessions.clock import now_ms
from ...sessions.text.sanitize import clean

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


_BEGAN = datetime.now(UTC).replace(microsecond=0)
"""When this dashboard began, in whole seconds as :func:`.crash_log.record` writes them."""


def crash_lines(home: Path, since: datetime = _BEGAN) -> list[str]:
    """The last lines that were written to the dashboard's own log file since a time, usually since it began.

    Raises:
        OSError: it cannot be read.
    """
    path = home / "dashboard.log"
    if not path.is_file() or path.stat().st_mtime < since.timestamp():
        return []
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL_BYTES))
        lines = clean(file.read().decode("utf-8", "replace")).splitlines()
    whole = lines if size <= TAIL_BYTES else lines[1:]
    return whole[_first_since(whole, since) :][-TAIL_LINES:]


def _first_since(lines: Sequence[str], since: datetime) -> int:
    """Where the first entry since a time begins; all lines where none of them begins an entry."""
    times = [(number, at) for number, line in enumerate(lines) if (at := _stamp(line)) is not None]
    return next((number for number, at in times if at >= since), len(lines) if times else 0)


def _stamp(line: str) -> datetime | None:
    """The time with which an entry begins; None for its other lines."""
    try:
        at = datetime.fromisoformat(line)
    except ValueError:
        return None
    return at if at.tzinfo is not None else None
