"""The log of the dashboard's messages, to be read again, and its file, which has the details of a crash."""

import faulthandler
import os
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.text.sanitize import clean

MOST = 500
"""The maximum number of entries."""

TAIL_BYTES = 16_384
TAIL_LINES = 100


class Entry(Struct, frozen=True):
    """A message of the dashboard."""

    at: int
    """UTC ms."""
    severity: str
    """``error``, ``warning`` or ``information``."""
    text: str


class MessageLog:
    """The last messages, in the order in which they were shown."""

    def __init__(self, clock: Callable[[], int] = now_ms) -> None:
        self._clock = clock
        self._entries: deque[Entry] = deque(maxlen=MOST)

    def add(self, text: str, severity: str = "information") -> None:
        """Record a message with the present time."""
        self._entries.append(Entry(self._clock(), severity, clean(text)))

    def newest_first(self) -> list[Entry]:
        """Return all entries, newest first."""
        return list(reversed(self._entries))


_BEGAN = datetime.now(UTC).replace(microsecond=0)
"""Start of this dashboard, in whole seconds as :func:`record` writes them."""


def crash_lines(home: Path, since: datetime = _BEGAN) -> list[str]:
    """Return the last lines of the dashboard's own log file since a time, by default since this dashboard's start.

    Raises:
        OSError: the file cannot be read.
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
    """Return the index of the first entry since a time; ``len(lines)`` if all are older, 0 if no line begins one."""
    times = [(number, at) for number, line in enumerate(lines) if (at := _stamp(line)) is not None]
    return next((number for number, at in times if at >= since), len(lines) if times else 0)


def _stamp(line: str) -> datetime | None:
    """Return the time if the line begins an entry; None for its other lines."""
    try:
        at = datetime.fromisoformat(line)
    except ValueError:
        return None
    return at if at.tzinfo is not None else None


def record_stacks(home: Path, why: str) -> str:
    """Append what each thread does now to the dashboard's log; return its path, or why it could not be written."""
    where = record(home, why)
    with suppress(OSError), open(where, "ab") as file:
        faulthandler.dump_traceback(file)
    return where


def record(home: Path, details: str) -> str:
    """Append details to the dashboard's log; return its path, or the reason why it could not be written."""
    path = home / "dashboard.log"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        with open(descriptor, "a", encoding="utf-8", errors="replace") as file:
            file.write(f"{datetime.now(UTC).isoformat(timespec='seconds')}\n{details}\n")
    except OSError as error:
        return f"no log ({error})"
    return str(path)
