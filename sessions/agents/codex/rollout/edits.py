"""codex's own transcripts: the diffs that its stream lacks (seen with codex-cli 0.169.0).

A thread's transcript is ``$CODEX_HOME/sessions/YYYY/MM/DD/rollout-<local time>-<thread id>.jsonl``.  Later turns are
appended to it, and ``codex archive`` moves it to ``$CODEX_HOME/archived_sessions/``.  It may have gigabytes, and almost
none of its lines are about files (docs/protocols/codex.md, "Rollouts").  A sub-agent's edits are in its own transcript,
which is not searched.
"""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from pathlib import Path

from msgspec import Struct

from agentdash.sessions.agents.capabilities import RecordedEdit
from agentdash.sessions.agents.codex.item_steps import change_of
from agentdash.sessions.agents.names import UUID
from agentdash.sessions.agents.parsing.json_lines import UNREADABLE
from agentdash.sessions.agents.parsing.line_parts import parts
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder
from agentdash.sessions.model.session import Change
from agentdash.sessions.storage.files.line_reader import LineReader

MOST_FOLDERS = 5_000
"""Day folders that are searched if a thread is not found at its day: thirteen years."""

MOST_ENTRIES = 100_000
"""Entries of one folder that are checked."""

LINE_CAP = 64 << 20
"""Bytes; an edit on a longer line is not read."""


class _Change(Struct):
    """A patch's change of one file; ``type`` decides which fields are present."""

    type: str = ""
    content: str = ""
    unified_diff: str = ""
    move_path: str | None = None


class _FileChange(Struct, tag_field="type", tag="FileChange"):
    changes: dict[str, _Change]


class _ItemCompleted(Struct, tag_field="type", tag="item_completed"):
    item: _FileChange
    completed_at_ms: int


class _Line(Struct, tag_field="type", tag="event_msg"):
    payload: _ItemCompleted


_DECODER: TolerantDecoder[_Line] = TolerantDecoder(_Line)


def open_rollout(home: Path, thread: str, at: int) -> "Rollout | None":
    """Return the transcript of a thread; None if it cannot be found.

    Args:
        thread: the thread's id from the stream.
        at: the approximate start of the thread, UTC ms.
    """
    path = find_rollout(home, thread, at)
    return None if path is None else Rollout(path)


def find_rollout(home: Path, thread: str, at: int) -> Path | None:
    """Return a thread's transcript: search its day, then the archive, then all days; None if not found."""
    if not UUID.fullmatch(thread):
        return None
    sessions = home / "sessions"
    # A UUID of version 7 begins with the time at which the thread was made, UTC ms.
    near = (sessions / day for day in _days(int(thread[:8] + thread[9:13], 16) if thread[14] == "7" else at))
    months = (month for year in _subfolders(sessions) for month in _subfolders(year))
    days = (day for month in months for day in _subfolders(month))
    folders = chain(near, [home / "archived_sessions"], islice(days, MOST_FOLDERS))
    return next(filter(None, (_in_folder(folder, thread) for folder in folders)), None)


class Rollout:
    """Reads the edits of a growing transcript; the file is closed between two calls."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def read_on(self) -> Iterator[RecordedEdit]:
        """Yield the edits since the last call; skip an unfinished last line and lines that cannot be read."""
        try:
            with LineReader(self._path, self._offset, cap=LINE_CAP) as reader:
                for end, line in reader.lines():
                    self._offset = end
                    # Nearly every line is about something else and may be huge, so only a matching line is decoded.
                    if b'"FileChange"' in line:
                        yield from filter(None, map(_edit, parts(line)))
        except OSError:
            return


def _edit(line: bytes) -> RecordedEdit | None:
    try:
        read: _Line | None = _DECODER.decode(line)
    except UNREADABLE:
        reading = _DECODER.read(line)
        read = None if reading.unread else reading.event  # half of a diff is useless
    if read is None:
        return None
    done = read.payload
    changes = (_recorded(path, change) for path, change in done.item.changes.items())
    return RecordedEdit(at=done.completed_at_ms, changes=tuple(changes))


def _recorded(path: str, change: _Change) -> Change:
    text = change.content if change.type in ("add", "delete") else change.unified_diff
    return change_of(path, change.type, text, change.move_path)


def _days(at: int) -> Iterator[str]:
    """Yield the folders of a day and of the days next to it: codex names them by an unknown local time."""
    try:
        day = datetime.fromtimestamp(at / 1000, UTC)
        yield from (f"{day + timedelta(days=n):%Y/%m/%d}" for n in (0, -1, 1))
    except (OverflowError, ValueError, OSError):  # a time outside the calendar
        return


def _subfolders(folder: Path) -> list[Path]:
    """Return the folders of a year, a month or a day, newest first."""
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in islice(entries, MOST_ENTRIES) if e.name.isdigit() and e.is_dir()]
    except OSError:
        return []
    return [folder / name for name in sorted(names, reverse=True)]


def _in_folder(folder: Path, thread: str) -> Path | None:
    """Return the thread's transcript in this folder; only a plain file, because any other could block a reader."""
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, MOST_ENTRIES):
                name = entry.name
                if name.startswith("rollout-") and name.endswith(f"-{thread}.jsonl"):
                    return folder / name if entry.is_file(follow_symlinks=False) else None
    except OSError:
        return None
    return None
