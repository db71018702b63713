"""codex's own files about a thread: its transcript with prompts, and with the diffs that the stream lacks (0.169.0).

A thread's transcript is ``$CODEX_HOME/sessions/YYYY/MM/DD/rollout-<local time>-<thread id>.jsonl``.  Later turns are
appended to it, and ``codex archive`` moves it to ``$CODEX_HOME/archived_sessions/``.  It may have gigabytes, and almost
none of its lines are about files (docs/protocols/codex.md, "Rollouts").  A sub-agent's edits are in its own transcript,
which is not searched.

codex writes a prompt as a message of the user before it calls the model.  A moment later a live codex writes the id
with which it was sent the prompt.
"""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from pathlib import Path

from msgspec import Struct, field

from agentdash.sessions.agents.capabilities import RecordedEdit
from agentdash.sessions.agents.codex.item_steps import change_of
from agentdash.sessions.agents.names import UUID
from agentdash.sessions.agents.parsing.json_lines import UNREADABLE, decoded
from agentdash.sessions.agents.parsing.line_parts import parts
from agentdash.sessions.agents.parsing.sent_prompt import SentPrompt, has_prompt, is_readable, is_since, marked_parts
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder
from agentdash.sessions.model.session import Change
from agentdash.sessions.storage.files.line_reader import LINE_CAP, LineReader

MOST_FOLDERS = 5_000
"""Day folders that are searched if a thread is not found at its day: thirteen years."""

MOST_ENTRIES = 100_000
"""Entries of one folder that are checked."""


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


class _Text(Struct):
    text: str = ""


class _Receipt(Struct):
    type: str = ""
    client_id: str | None = None


class _Said(Struct):
    type: str = ""
    role: str = ""
    item: _Receipt | None = None
    content: list[_Text] = field(default_factory=list)


class _SaidLine(Struct):
    type: str = ""
    timestamp: str = ""
    payload: _Said = field(default_factory=_Said)


_BOUNDS = frozenset({"task_started", "task_complete", "turn_aborted"})
"""The events with which turns begin and end."""

_LIVE_MARKS = (b'"user"', b'"UserMessage"', *(f'"{bound}"'.encode() for bound in _BOUNDS))
"""Bytes of which each line about a live prompt has one."""


def transcript_has(home: Path, sent: SentPrompt) -> bool | None:
    """Return whether the transcript of a prompt's thread has the prompt; None if that cannot be told."""
    if "--ephemeral" in sent.launch.argv or not is_readable(home):
        return None
    if sent.agent_session is None:
        return None  # the thread has no name yet, and copies of a session have the same first prompt
    path = find_rollout(home, sent.agent_session, sent.at)
    try:
        if path is not None and sent.key:
            return _has_live_prompt(path, sent)
        return path is not None and has_prompt(path, sent, (b'"response_item"', b'"user"'), _read)
    except OSError:
        return None


def _has_live_prompt(path: Path, sent: SentPrompt) -> bool:
    """Return whether a transcript has the id of a prompt, or its text as the last message of a turn that never ended.

    codex may be killed between the text and the id.

    Raises:
        OSError: the transcript cannot be read.
    """
    last: str | None = None
    for line in marked_parts(path, lambda line: any(mark in line for mark in _LIVE_MARKS)):
        if (prompt := _read(line)) is not None:
            last = prompt[0] if is_since(prompt[1], sent.at) else None
            continue
        event = decoded(line, _SaidLine)
        if event is None or event.type != "event_msg":
            continue
        payload = event.payload
        if payload.item is not None and payload.item.type == "UserMessage":
            if payload.item.client_id == sent.key:
                return True
            last = None
        elif payload.type in _BOUNDS:
            last = None
    return last is not None and last.strip() == sent.text.strip()


def _read(line: bytes) -> tuple[str, str] | None:
    event = decoded(line, _SaidLine)
    if event is None or (event.type, event.payload.type, event.payload.role) != ("response_item", "message", "user"):
        return None
    return "\n".join(part.text for part in event.payload.content), event.timestamp
