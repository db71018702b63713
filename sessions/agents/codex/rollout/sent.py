"""The prompts in codex's own transcripts (protocols 2.5; codex-cli 0.169.0).

codex writes the prompt as a message of the user before it calls the model.
"""

from pathlib import Path

import msgspec
from msgspec import Struct

from ...json_lines import UNREADABLE
from ...sent_prompt import SentPrompt, has_prompt, is_readable
from .edits import find_rollout


class _Part(Struct):
    text: str = ""


class _Payload(Struct):
    type: str = ""
    role: str = ""
    content: list[_Part] = msgspec.field(default_factory=list)


class _Line(Struct):
    type: str = ""
    timestamp: str = ""
    payload: _Payload = msgspec.field(default_factory=_Payload)


_DECODER = msgspec.json.Decoder(_Line)


def transcript_has(home: Path, sent: SentPrompt) -> bool | None:
    """Return whether the transcript of a prompt's thread has the prompt; None if that cannot be told.

    Args:
        home: codex's own folder.
        sent: the prompt.
    """
    if "--ephemeral" in sent.launch.argv or not is_readable(home):
        return None
    if sent.agent_session is None:
        return None  # the thread has no name yet, and copies of a session have the same first prompt
    path = find_rollout(home, sent.agent_session, sent.at)
    try:
        return path is not None and has_prompt(path, sent, (b'"response_item"', b'"user"'), _read)
    except OSError:
        return None


def _read(line: bytes) -> tuple[str, str] | None:
    try:
        event = _DECODER.decode(line)
    except UNREADABLE:
        return None
    if event.type != "response_item" or event.payload.type != "message" or event.payload.role != "user":
        return None
    return "\n".join(part.text for part in event.payload.content), event.timestamp
