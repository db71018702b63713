"""codex's transcripts: the rollouts below ``~/.codex/sessions``."""

from collections.abc import Mapping
from typing import Any

from ..base import TranscriptFormat, TurnParser

_LINES = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state", "token_usage_record"}
)
_ITEMS = frozenset({"message", "reasoning", "function_call", "function_call_output", "local_shell_call"})
"""Items of a rollout of the first versions of codex, which wrote them as they are."""


class CodexRollout(TranscriptFormat):
    """All turns of one thread."""

    name = "codex-rollout"

    def recognizes(self, kind: str | None, event: Mapping[str, Any]) -> bool:
        """Also the heading and the items of the first versions, which wrote them as they are."""
        if kind is None:
            return {"id", "timestamp", "instructions"} <= event.keys()
        if kind in _LINES:
            return isinstance(event.get("payload"), dict)
        if kind in _ITEMS and {"role", "call_id", "summary"} & event.keys():
            # What gemini prints has messages too, but theirs are text: it has no reader, and is not known.
            return not isinstance(event.get("content"), str)
        return False

    def parser(self, turn: int = 1) -> TurnParser:
        """A fresh parser, beginning with this turn."""
        from .rollout import CodexRolloutParser

        return CodexRolloutParser(turn)
