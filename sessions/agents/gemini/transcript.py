"""Gemini CLI's transcripts: the chats (``session-*.jsonl``) below ``~/.gemini/tmp``."""

from collections.abc import Mapping
from typing import Any

from agentdash.sessions.agents.base import TranscriptFormat
from agentdash.sessions.agents.parsing.parser import TurnParser

_MESSAGES = frozenset({"user", "gemini", "info", "warning", "error"})


class GeminiSession(TranscriptFormat):
    """The chat format: all turns of one session."""

    name = "gemini-session"
    document_names = frozenset({b"sessionId", b"projectHash"})  # of an older chat

    def recognizes(self, kind: str | None, event: Mapping[str, Any]) -> bool:
        """Return whether this is a heading or a change of it, which have no type, or a message."""
        if kind is None:
            return {"sessionId", "projectHash"} <= event.keys() or isinstance(event.get("$set"), dict)
        return kind in _MESSAGES and {"id", "timestamp", "content"} <= event.keys()

    def parser(self, turn: int = 1) -> TurnParser:
        """Return a new parser that begins with this turn."""
        from agentdash.sessions.agents.gemini.session import GeminiSessionParser

        return GeminiSessionParser(turn)
