"""claude's transcripts: the files below ``~/.claude/projects``."""

from collections.abc import Mapping
from typing import Any

from ..base import TranscriptFormat, TurnParser


class ClaudeProject(TranscriptFormat):
    """All turns of one session."""

    name = "claude-project"

    def recognizes(self, kind: str | None, event: Mapping[str, Any]) -> bool:
        """Any line with ``sessionId``: the stream writes ``session_id``."""
        if kind is None:
            return False
        return "sessionId" in event or (kind == "summary" and "leafUuid" in event) or kind == "file-history-snapshot"

    def parser(self, turn: int = 1) -> TurnParser:
        """A fresh parser, beginning with this turn."""
        from .project import ClaudeProjectParser

        return ClaudeProjectParser(turn)
