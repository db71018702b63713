"""codex's transcripts: the rollouts below ``~/.codex/sessions``."""

from collections.abc import Mapping
from typing import Any

from agentdash.sessions.agents.base import TranscriptFormat
from agentdash.sessions.agents.parsing.parser import TurnParser

_LINES = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state", "token_usage_record"}
)
_ITEMS = frozenset({"message", "reasoning", "function_call", "function_call_output", "local_shell_call"})
"""Types of unwrapped items, which the first versions of codex wrote."""


class CodexRollout(TranscriptFormat):
    """The rollout format: all turns of one thread."""

    name = "codex-rollout"

    def recognizes(self, kind: str | None, event: Mapping[str, Any]) -> bool:
        """Return whether this is a line of a rollout, or an unwrapped heading or item of the first versions."""
        if kind is None:
            return {"id", "timestamp", "instructions"} <= event.keys()
        if kind in _LINES:
            return isinstance(event.get("payload"), dict)
        if kind in _ITEMS and {"role", "call_id", "summary"} & event.keys():
            # gemini's stream has messages too, but with text as content.  It has no reader, so it is not recognized.
            return not isinstance(event.get("content"), str)
        return False

    def parser(self, turn: int = 1) -> TurnParser:
        """Return a new parser that begins with this turn."""
        from agentdash.sessions.agents.codex.rollout.reader import CodexRolloutParser

        return CodexRolloutParser(turn)
