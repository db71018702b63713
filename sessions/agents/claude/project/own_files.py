"""claude's own files about a conversation: its transcript, and which one an open interface shows.

Seen with 2.1.197 and 2.1.330 (docs/protocols/claude.md, "Own interface"):
``$CLAUDE_CONFIG_DIR/projects/<folder>/<conversation>.jsonl``, and for each open interface
``$CLAUDE_CONFIG_DIR/sessions/<pid>.json``, which follows ``/clear`` to the next conversation.
"""

from pathlib import Path

import msgspec
from msgspec import Struct

from ...names import UUID
from ...parsing.json_lines import UNREADABLE

_MOST_BYTES = 64 * 1024
"""The most that is read of a file about an interface; it has some hundred bytes."""


class _Interface(Struct, rename="camel"):
    session_id: str = ""


class _Line(Struct):
    uuid: str = ""


def uuid_of(line: bytes) -> str | None:
    """Return the id of a line of a transcript, in small letters; None if it has none."""
    try:
        return msgspec.json.decode(line, type=_Line).uuid.lower() or None
    except UNREADABLE:
        return None


def transcript_of(home: Path, conversation: str) -> Path | None:
    """Return the transcript of a conversation, the newest of several; None if there is none that can be read.

    Args:
        home: claude's own folder.
        conversation: claude's id.
    """
    if UUID.fullmatch(conversation) is None:
        return None
    try:
        found = [path for path in home.glob(f"projects/*/{conversation}.jsonl") if path.is_file()]
        return max(found, key=lambda path: path.stat().st_mtime_ns, default=None)
    except OSError:
        return None


def shown_by(home: Path, pid: int) -> str | None:
    """Return the conversation that the interface with this process shows; None if it is not known."""
    try:
        with (home / "sessions" / f"{pid}.json").open("rb") as file:
            shown = msgspec.json.decode(file.read(_MOST_BYTES), type=_Interface).session_id
    except (OSError, *UNREADABLE):
        return None
    return shown if UUID.fullmatch(shown) else None
