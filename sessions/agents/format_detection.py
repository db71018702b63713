"""Detection of a file's format from its first lines: the agent that wrote it, and if it is a stream or a transcript."""

from collections.abc import Iterable
from typing import Any

from .json_repair import parsed

LOOKED_AT = 50
"""Lines; a warning may stand before the first event."""
_CODEX = ("thread.", "turn.", "item.")
_CLAUDE = frozenset({"system", "assistant", "user", "result", "stream_event", "rate_limit_event"})
_DEMO = frozenset({"started", "command.started", "command.ended"})
_ROLLOUT = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state", "token_usage_record"}
)
_ROLLOUT_ITEMS = frozenset({"message", "reasoning", "function_call", "function_call_output", "local_shell_call"})
"""Items of a rollout of the first versions of codex, which wrote them as they are."""

_GEMINI = frozenset({"user", "gemini", "info", "warning", "error"})


def guess_format(lines: Iterable[bytes]) -> str | None:
    """The name of the format; None if no line tells."""
    for line in lines:
        if name := _by_event(line):
            return name
    return None


def guess_agent(lines: Iterable[bytes]) -> str:
    """The name of the agent that printed these lines; ``command``, which prints any text, if no line tells."""
    name = next(filter(None, map(_by_stream, lines)), None)
    return name or "command"


def _by_event(line: bytes) -> str | None:
    event = _event(line)
    return _of_transcript(event) or _of_stream(event)


def _by_stream(line: bytes) -> str | None:
    return _of_stream(_event(line))


def _event(line: bytes) -> dict[str, Any]:
    try:
        event = parsed(line)
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}


def _of_transcript(event: dict[str, Any]) -> str | None:
    kind = event.get("type")
    if not isinstance(kind, str):
        if {"sessionId", "projectHash"} <= event.keys() or isinstance(event.get("$set"), dict):
            return "gemini-session"
        # The heading of a rollout of the first versions.
        return "codex-rollout" if {"id", "timestamp", "instructions"} <= event.keys() else None
    if kind in _ROLLOUT and isinstance(event.get("payload"), dict):
        return "codex-rollout"
    if kind in _ROLLOUT_ITEMS and {"role", "call_id", "summary"} & event.keys():
        # What gemini prints has messages too, but theirs are text: it has no reader, and is not known.
        return None if isinstance(event.get("content"), str) else "codex-rollout"
    # The stream of claude writes session_id.
    if "sessionId" in event or (kind == "summary" and "leafUuid" in event) or kind == "file-history-snapshot":
        return "claude-project"
    return "gemini-session" if kind in _GEMINI and {"id", "timestamp", "content"} <= event.keys() else None


def _of_stream(event: dict[str, Any]) -> str | None:
    kind = event.get("type")
    if not isinstance(kind, str):
        return None
    if kind.startswith(_CODEX):
        return "codex"
    if kind in _CLAUDE and "session_id" in event:
        return "claude"
    return "demo" if kind in _DEMO and ("conversation" in event or "id" in event) else None
