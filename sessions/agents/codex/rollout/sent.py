"""The prompts in codex's own transcripts (codex-cli 0.169.0).

codex writes the prompt as a message of the user before it calls the model.  A moment later a live codex writes the id
with which it was sent the prompt (docs/protocols/codex.md, "Rollouts").
"""

from pathlib import Path

from msgspec import Struct, field

from agentdash.sessions.agents.codex.rollout.edits import find_rollout
from agentdash.sessions.agents.parsing.json_lines import decoded
from agentdash.sessions.agents.parsing.line_parts import each_part
from agentdash.sessions.agents.parsing.sent_prompt import (
    LINE_CAP,
    SEARCHED_BYTES,
    SentPrompt,
    has_prompt,
    is_readable,
    is_since,
)
from agentdash.sessions.storage.files.line_reader import LineReader


class _Part(Struct):
    text: str = ""


class _Item(Struct):
    type: str = ""
    client_id: str | None = None


class _Payload(Struct):
    type: str = ""
    role: str = ""
    item: _Item | None = None
    content: list[_Part] = field(default_factory=list)


class _Line(Struct):
    type: str = ""
    timestamp: str = ""
    payload: _Payload = field(default_factory=_Payload)


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
    with LineReader(path, cap=LINE_CAP) as reader:
        reader.skip_to_tail(SEARCHED_BYTES)
        marked = (line for line in reader.all_lines() if any(mark in line for mark in _LIVE_MARKS))
        for line in each_part(marked):
            if (prompt := _read(line)) is not None:
                last = prompt[0] if is_since(prompt[1], sent.at) else None
                continue
            event = decoded(line, _Line)
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
    event = decoded(line, _Line)
    if (
        event is None
        or event.type != "response_item"
        or event.payload.type != "message"
        or event.payload.role != "user"
    ):
        return None
    return "\n".join(part.text for part in event.payload.content), event.timestamp
