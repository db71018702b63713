"""claude's transcripts: the files below ``~/.claude/projects``."""

from collections.abc import Mapping
from typing import Any

from agentdash.sessions.agents.base import TranscriptFormat
from agentdash.sessions.agents.parsing.parser import TurnParser


class ClaudeProject(TranscriptFormat):
    """The project format: all turns of one session."""

    name = "claude-project"

    def recognizes(self, kind: str | None, event: Mapping[str, Any]) -> bool:
        """Return whether this is a line of a transcript: most have ``sessionId``; the stream has ``session_id``."""
        if kind is None:
            return False
        return "sessionId" in event or (kind == "summary" and "leafUuid" in event) or kind == "file-history-snapshot"

    def parser(self, turn: int = 1) -> TurnParser:
        """Return a new parser that begins with this turn."""
        from agentdash.sessions.agents.claude.project.project import ClaudeProjectParser

        return ClaudeProjectParser(turn)
