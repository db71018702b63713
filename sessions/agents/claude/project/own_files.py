"""claude's own files about a conversation: its transcript with its prompts, and which one an open interface shows.

Seen with 2.1.197 and 2.1.330 (docs/protocols/claude.md, "Own interface"):
``$CLAUDE_CONFIG_DIR/projects/<folder>/<conversation>.jsonl``, and for each open interface
``$CLAUDE_CONFIG_DIR/sessions/<pid>.json``, which follows ``/clear`` to the next conversation.
"""

from pathlib import Path

import msgspec
from msgspec import Struct

from agentdash.sessions.agents.names import UUID
from agentdash.sessions.agents.parsing.json_lines import UNREADABLE, decoded
from agentdash.sessions.agents.parsing.sent_prompt import SentPrompt, has_prompt, is_readable, marked_parts
from agentdash.sessions.model import typed

_MOST_BYTES = 64 * 1024
"""The most that is read of a file about an interface; it has some hundred bytes."""


class _Interface(Struct, rename="camel"):
    session_id: str = ""


class _Named(Struct):
    uuid: str = ""


def uuid_of(line: bytes) -> str | None:
    """Return the id of a line of a transcript, in small letters; None if it has none."""
    named = decoded(line, _Named)
    return named.uuid.lower() or None if named is not None else None


def transcript_of(home: Path, conversation: str) -> Path | None:
    """Return the transcript of a conversation, the newest of several; None if there is none that can be read."""
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
            shown = typed.decode(file.read(_MOST_BYTES), _Interface).session_id
    except (OSError, *UNREADABLE):
        return None
    return shown if UUID.fullmatch(shown) else None


class _Block(Struct):
    type: str = ""
    text: str = ""


class _Message(Struct):
    content: str | list[_Block] = ""


class _Attachment(Struct):
    source_uuid: str | None = None


class _Line(Struct):
    type: str = ""
    uuid: str = ""
    attachment: _Attachment | None = None
    message: _Message = msgspec.field(default_factory=_Message)
    timestamp: str = ""


def transcript_has(home: Path, sent: SentPrompt) -> bool | None:
    """Return whether the transcript of a prompt's conversation has the prompt; None if that cannot be told.

    claude writes the prompt as a line ``user`` before it calls the model (docs/protocols/claude.md, "Transcripts"); a
    line ``queue-operation`` before that only announces it.
    """
    conversation = sent.agent_session or _named_in(sent.launch.argv)
    projects = home / "projects"
    if conversation is None or not is_readable(home) or UUID.fullmatch(conversation) is None:
        return None
    try:
        paths = list(projects.glob(f"*/{conversation}.jsonl"))
        if sent.key:
            return any(_has_key(path, sent.key) for path in paths)
        return any(has_prompt(path, sent, (b'"user"', b'"message"'), _read) for path in paths)
    except OSError:
        return None


def _has_key(path: Path, key: str) -> bool:
    """Return whether a transcript has the prompt that a live agent was sent with a key.

    One that began a turn is a line ``user`` with the key; one that was written into a turn is an attachment that names
    it.
    """
    mark = key.encode()
    return any(_names(part, key) for part in marked_parts(path, lambda line: mark in line))


def _names(line: bytes, key: str) -> bool:
    event = decoded(line, _Line)
    if event is None:
        return False
    steered = event.attachment is not None and event.attachment.source_uuid == key
    return steered or (event.type == "user" and event.uuid == key)


def _named_in(argv: tuple[str, ...]) -> str | None:
    """Return the conversation that a start of claude names."""
    for option in ("--resume", "--session-id"):
        if option in argv[:-1]:
            return argv[argv.index(option) + 1]
    return None


def _read(line: bytes) -> tuple[str, str] | None:
    event = decoded(line, _Line)
    if event is None or event.type != "user":
        return None
    content = event.message.content
    text = content if isinstance(content, str) else "\n".join(block.text for block in content if block.type == "text")
    return text, event.timestamp
